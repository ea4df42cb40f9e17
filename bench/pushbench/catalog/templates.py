"""Templates of messages: text with values such as `{group}` in it, and the meaning of a text that is JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from pushbench.catalog.declaration import Part, Template
from pushbench.foundation.yamlfile import nearest

MOST_TEXT = 32_768
"""characters; a server takes messages of 64 KiB"""
PROSE = "The quick brown fox jumps over the lazy dog, and then it rests in the shade of an oak until the evening. "
"""the content of a message: the same in every message, so that an alteration is noticed"""

_VALUE = re.compile(r"\{([a-z]+)(?::([^{}]*))?\}")
_MARK = re.compile("\ue000(\\d+)\ue001")
_BARE = re.compile('"\ue000(\\d+)\ue002"')

Known = Collection[str]
"""the names of values that a template may have; `secret` stands for all secrets, `row` for all columns"""


def parse(text: str, known: Known, secrets: Known = (), columns: Known = (), length: int | None = None) -> Template:
    """The parts of a template. Raises ValueError for a value that it may not have.

    Plain prose has `length` characters, unless that is None.
    """
    parts: Template = []
    at = 0
    for found in _VALUE.finditer(text):
        parts += literal(text[at : found.start()])
        argument = found[2] if length is None or found[1] != "text" else str(length)
        parts.append(_part(found[1], argument, known, secrets, columns))
        at = found.end()
    return [*parts, *literal(text[at:])]


def literal(text: str) -> Template:
    return [Part(literal=text)] if text else []


def values(template: Template) -> list[str]:
    """The names of the values in a template."""
    return [part.value for part in template if part.value]


def _part(name: str, argument: str | None, known: Known, secrets: Known, columns: Known) -> Part:
    if name not in known:
        guess = nearest(name, known)
        meant = f"did you mean {{{guess}}}? " if guess else ""
        raise ValueError(f"no value {{{name}}} here; {meant}known: {_names(known)}")
    match name:
        case "text":
            return Part(literal=_prose(argument))
        case "secret" if argument not in secrets:
            raise ValueError(f"no secret {argument!r}; known under `secrets`: {', '.join(secrets) or 'none'}")
        case "secret":
            return Part(secret=argument or "")
        case "row" if argument not in columns:
            raise ValueError(f"no column {argument!r}; known in the file of `rows`: {', '.join(columns) or 'none'}")
        case "row":
            return Part(row=argument or "")
    if argument is not None:
        raise ValueError(f"{{{name}}} takes nothing after a colon, found {argument!r}")
    return Part(value=name)


def _names(known: Known) -> str:
    shown = {"text": "{text:200}", "secret": "{secret:name}", "row": "{row:name}"}
    return ", ".join(shown.get(name, f"{{{name}}}") for name in known)


def _prose(length: str | None) -> str:
    if not (length or "").isdecimal() or not 1 <= int(length or 0) <= MOST_TEXT:
        raise ValueError(f"{{text:N}} needs a number of characters from 1 to {MOST_TEXT:,}, found {length!r}")
    wanted = int(length or 0)
    return (PROSE * (wanted // len(PROSE) + 1))[: wanted - 1] + "."


class JsonTemplate:
    """The JSON that a template makes, whatever its values are. Raises ValueError if that is not JSON."""

    def __init__(self, template: Template) -> None:
        self._parts: Template = []
        marked = "".join(self._marked(template))
        try:
            self._value = json.loads(marked, parse_float=self._number)
        except ValueError as error:
            raise ValueError(f"not JSON with values filled in: {error}") from None

    @property
    def whole(self) -> Template:
        """The template of this JSON without blanks."""
        return self.template(self._value)

    def at(self, pointer: str) -> Any:
        """The value at a JSON pointer (RFC 6901). Raises LookupError if there is none."""
        found = self._value
        for escaped in pointer.split("/")[1:]:
            name = escaped.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            elif isinstance(found, dict) and name in found:
                found = found[name]
            else:
                raise LookupError(pointer)
        return found

    def template(self, value: Any, *, in_order: bool = False) -> Template:
        """A value of this JSON as the template of its JSON, without blanks."""
        return _unmarked(dumps(value, in_order=in_order), self._parts)

    def _marked(self, template: Template) -> Iterator[str]:
        """The text with marks in the place of values. A mark outside of strings is a string of its own."""
        quoted = False
        for part in template:
            if part.literal:
                if re.search("[\ue000-\ue002]", part.literal):
                    raise ValueError("the characters U+E000 to U+E002 cannot be used")
                quoted ^= len(re.findall(r'(?<!\\)(?:\\\\)*"', part.literal)) % 2 == 1
                yield part.literal
            elif part.row and not quoted:
                raise ValueError(f"{{row:{part.row}}} is outside of a string; put quotes around it")
            else:
                yield self._mark(part) if quoted else f'"{self._mark(part, bare=True)}"'

    def _number(self, text: str) -> str:
        """Keep a number as it is written."""
        return self._mark(Part(literal=text), bare=True)

    def _mark(self, part: Part, *, bare: bool = False) -> str:
        self._parts.append(part)
        return f"\ue000{len(self._parts) - 1}{chr(0xE002) if bare else chr(0xE001)}"


def dumps(value: Any, *, in_order: bool = False) -> str:
    """JSON without blanks and with the least escaping: the form that the generator writes to compare."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=in_order)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def json_string(template: Template) -> Template:
    """The template of a JSON string with this content."""
    inside = [Part(literal=dumps(part.literal)[1:-1]) if part.literal else part for part in template]
    return joined([*literal('"'), *inside, *literal('"')])


def joined(template: Template) -> Template:
    """The template with adjacent literals joined."""
    made: Template = []
    for part in template:
        if part.literal and made and made[-1].literal:
            made[-1] = Part(literal=made[-1].literal + part.literal)
        else:
            made.append(part)
    return made


def _unmarked(text: str, parts: Template) -> Template:
    def split(pattern: re.Pattern[str], text: str, rest: Callable[[str], Template]) -> Template:
        pieces = pattern.split(text)
        return [
            each for place, piece in enumerate(pieces) for each in ([parts[int(piece)]] if place % 2 else rest(piece))
        ]

    return joined(split(_BARE, text, lambda piece: split(_MARK, piece, literal)))
