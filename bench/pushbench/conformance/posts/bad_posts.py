"""The table of bodies that are not posts."""

from __future__ import annotations

import json


def bad_posts() -> dict[str, bytes]:
    """Bodies that a server must refuse with 400, each under the name of its fault."""
    return {case: text if isinstance(text, bytes) else text.encode() for case, text in (_texts() | _fields()).items()}


def _texts() -> dict[str, str | bytes]:
    """Bodies that are not JSON objects."""
    good = _post()
    return {
        "nothing": "",
        "blanks": "  \n",
        "not JSON": "dear diary",
        "cut off": good[:-1],
        "a trailing comma": good[:-1] + ",}",
        "trailing text": good + "x",
        "two objects": good + good,
        "single quotes": good.replace('"', "'"),
        "a comment": "/* hello */" + good,
        "a raw control character": good.replace("the title", "the\x01title"),
        "a raw line break": good.replace("the title", "the\ntitle"),
        "a bad escape": good.replace("the title", "the\\qtitle"),
        "half of a surrogate pair": good.replace("the title", "the \\ud83d title"),
        "bytes that are no UTF-8": good.encode().replace(b"the title", b"the \xff title"),
        "null": "null",
        "a number": "42",
        "a string": '"post"',
        "an array": f"[{good}]",
        "an empty object": "{}",
        "NaN in an unknown field": good[:-1] + ',"note":NaN}',
    }


def _fields() -> dict[str, str | bytes]:
    """Objects with a field that is missing or wrong."""
    wrong: dict[str, str | bytes] = {}
    for name, most in (("title", 200), ("content", 10_000)):
        wrong |= {
            f"no {name}": _post(**{name: ...}),
            f"an empty {name}": _post(**{name: ""}),
            f"null as {name}": _post(**{name: None}),
            f"a number as {name}": _post(**{name: 7}),
            f"a fraction as {name}": _post(**{name: 0.5}),
            f"true as {name}": _post(**{name: True}),
            f"an array as {name}": _post(**{name: ["text"]}),
            f"an object as {name}": _post(**{name: {"text": "x"}}),
            f"a {name} of {most + 1} characters": _post(**{name: "x" * (most + 1)}),
        }
    return wrong | {
        "a title of 201 characters outside the BMP": _post(title="\U0001f680" * 201),
        "names in capitals": _post().replace('"title"', '"TITLE"').replace('"content"', '"CONTENT"'),
    }


def _post(**changes: object) -> str:
    """A good post with changes; an ellipsis removes a field."""
    fields = {"title": "the title", "content": "the content"} | changes
    return json.dumps({name: value for name, value in fields.items() if value is not ...}, ensure_ascii=False)
