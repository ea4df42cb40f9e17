"""The text of draws: well-formed ones of any size, and the table of bad messages."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping

POINT = [512, 384]


def draw_text(board: str, user: str, number: int, **changes: object) -> str:
    """The draw with a sequence number; `changes` replace fields or add unknown ones."""
    fields = {"type": "draw", "boardId": board, "userId": user, "seq": number, "sentAt": time.time_ns() // 1000}
    return compact(fields | {"stroke": [POINT, [514, 390]]} | changes)


def compact(fields: Mapping[str, object]) -> str:
    """The fields as JSON, without those that are None."""
    kept = {key: value for key, value in fields.items() if value is not None}
    return json.dumps(kept, separators=(",", ":"), ensure_ascii=False)


Draw = Callable[..., str]


def bad_messages(board: str, user: str) -> dict[str, str]:
    """JSON that a server must answer with an error, each under the name of its fault."""

    def draw(**changes: object) -> str:
        return draw_text(board, user, 7, **changes)

    return _no_messages(draw()) | _bad_fields(board, user, draw) | _bad_strokes(draw)


def broken_texts(board: str, user: str) -> dict[str, str]:
    """Texts that are not JSON, each under the name of its fault."""
    good = draw_text(board, user, 7)
    return {
        "nothing": "",
        "blanks": "  \n",
        "not JSON": "draw me a sheep",
        "cut off": good[:-1],
        "trailing comma": good[:-1] + ",}",
        "trailing text": good + "x",
        "two objects": good + good,
        "single quotes": good.replace('"', "'"),
        "comment": "/* hello */" + good,
        "raw control character": good.replace('"draw"', '"draw","note":"\x01"'),
        "bad escape": good.replace('"draw"', '"draw","note":"\\q"'),
        "leading zero": good.replace('"seq":7', '"seq":07'),
        "stroke with NaN": draw_text(board, user, 7, stroke=[POINT, [float("nan"), 2]]),
        "NaN in an unknown field": draw_text(board, user, 7, note=float("nan")),
        "stroke with Infinity": draw_text(board, user, 7, stroke=[POINT, [float("inf"), 2]]),
    }


def extreme_texts() -> dict[str, str]:
    """Texts that are not JSON, and deeply nested."""
    return {"20,000 opening brackets": "[" * 20_000, "10,000 opening objects": '{"a":' * 10_000}


def extreme_draws(draw: str) -> dict[str, str]:
    """JSON at the limits of parsers, made from the draw whose seq is 1."""
    return {
        "a field 10,000 arrays deep": draw.replace('"draw"', '"draw","note":' + "[" * 10_000 + "]" * 10_000),
        "a number of 20,000 digits": draw.replace('"draw"', '"draw","note":' + "9" * 20_000),
        "a seq of 5,000 digits": draw.replace('"seq":1', '"seq":' + "9" * 5_000),
        "a coordinate of 1e999": draw.replace("[514,390]", "[1e999,390]"),
        "5,000 fields": draw.replace('"draw"', '"draw",' + ",".join(f'"f{i}":0' for i in range(5_000))),
        "a lone surrogate": draw.replace('"draw"', r'"draw","note":"\ud83d"'),
    }


def _no_messages(good: str) -> dict[str, str]:
    """JSON without the fields of a message."""
    return {
        "null": "null",
        "true": "true",
        "number": "42",
        "string": '"draw"',
        "array": f"[{good}]",
        "empty object": "{}",
    }


def _bad_fields(board: str, user: str, draw: Draw) -> dict[str, str]:
    """Messages with a field that is missing or has a wrong value, except for strokes."""

    def join(**changes: object) -> str:
        return compact({"type": "join", "boardId": board, "userId": user} | changes)

    good = draw()
    return {
        "no type": draw(type=None),
        "unknown type": draw(type="erase"),
        "type of the server": join(type="joined"),
        "type in capitals": draw(type="DRAW"),
        "type is a number": draw(type=1),
        "type is an array": draw(type=["draw"]),
        "inherited type": draw(type="constructor"),
        "join without boardId": join(boardId=None),
        "join with a number as boardId": join(boardId=7),
        "join with an empty boardId": join(boardId=""),
        "join with a boardId of 65 characters": join(boardId="b" * 65),
        "join without userId": join(userId=None),
        "join with an object as userId": join(userId={"id": user}),
        "join with an empty userId": join(userId=""),
        "join with a userId of 65 characters": join(userId="u" * 65),
        "draw without boardId": draw(boardId=None),
        "draw with boardId null": good.replace(f'"boardId":"{board}"', '"boardId":null'),
        "draw without userId": draw(userId=None),
        "draw with true as userId": draw(userId=True),
        "draw without seq": draw(seq=None),
        "seq is a string": draw(seq="7"),
        "seq is true": draw(seq=True),
        "seq is negative": draw(seq=-1),
        "seq is a fraction": draw(seq=1.5),
        "draw without sentAt": draw(sentAt=None),
        "sentAt is a string": draw(sentAt="now"),
        "sentAt is negative": draw(sentAt=-1),
    }


def _bad_strokes(draw: Draw) -> dict[str, str]:
    """Draws with a bad stroke."""
    return {
        "draw without stroke": draw(stroke=None),
        "stroke is a string": draw(stroke="[[1,2]]"),
        "stroke is an object": draw(stroke={"0": POINT}),
        "stroke is empty": draw(stroke=[]),
        "stroke of numbers": draw(stroke=[1, 2]),
        "stroke with an empty point": draw(stroke=[POINT, []]),
        "stroke with a point of one number": draw(stroke=[POINT, [1]]),
        "stroke with a point of three numbers": draw(stroke=[POINT, [1, 2, 3]]),
        "stroke with a string in a point": draw(stroke=[POINT, [1, "2"]]),
        "stroke with null in a point": draw(stroke=[POINT, [None, 2]]),
        "stroke with true in a point": draw(stroke=[POINT, [True, 2]]),
    }
