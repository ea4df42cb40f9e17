"""The messages that a client of a declared protocol sends and recognises, from the generator's own declaration.

`k6/internal/declared` does the same for the load; `docs/own-server.md` describes it. Nothing here waits or connects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Any

from pushbench.catalog.declaration import Condition, Declaration, Part, Pattern, Receipt, Template
from pushbench.catalog.templates import dumps

PER_CLIENT = 1_000_000_000
"""client 42 sends the ids 42000000000, 42000000001 and so on: `perClient` in k6/internal/declared"""
NUMBER = "0|[1-9][0-9]{0,17}"


class Kind(Enum):
    """The kind of a message."""

    FOREIGN = "foreign"
    """not in the declaration"""
    DELIVERED = "delivered"
    OPENED = "opened"
    JOINED = "joined"
    ASKED = "asked"
    """a client answers it to keep the connection alive"""
    REFUSED = "refused"
    IGNORED = "ignored"


@dataclass(frozen=True)
class Meaning:
    """The meaning of a message."""

    kind: Kind
    id: int = -1
    """of a delivery"""
    time: int | None = None
    """of a delivery that contains it"""
    altered: str = ""
    """how the content of a delivery differs from what was sent with its id; empty if it does not differ"""


@dataclass(frozen=True)
class Values:
    """The values for the templates of a client."""

    group: str
    client: int
    id: int = -1
    time: int = -1


Escape = Callable[[str], str]


class Reader:
    """Writes the messages of one client, and interprets the messages to it."""

    def __init__(self, declaration: Declaration, secrets: Mapping[str, str], own: Values) -> None:
        self._declaration, self._secrets, self._own = declaration, secrets, own
        self._in_messages: Escape = str if declaration.format == "text" else _inside_json

    def filled(self, template: Template, values: Values | None = None, escape: Escape | None = None) -> str:
        """The text of a template; secrets are escaped as in messages, or by `escape`."""
        said, escape = values or self._own, escape or self._in_messages
        texts = {"group": said.group, "client": said.client, "id": said.id, "time": said.time, "any": ""}

        def text(part: Part) -> str:
            if part.secret:
                return escape(self._secrets[part.secret])
            if part.row:
                return escape(self._row(part.row, said.client))
            return str(texts[part.value]) if part.value else part.literal

        return "".join(map(text, template))

    def _row(self, column: str, client: int) -> str:
        """The value for a client; after the last row, the first one follows."""
        values = self._declaration.rows[column]
        return values[client % len(values)]

    def read(self, text: str, steps: int | None = None) -> Meaning:
        """The meaning of a message for a client after that many steps of the opening; after all steps by default."""
        declaration = self._declaration
        try:
            document = parsed(text) if declaration.format != "text" else None
        except (ValueError, RecursionError):
            return Meaning(Kind.FOREIGN)
        message = _Message(text, document)
        receipt = declaration.message.received
        if (found := self._matches(receipt, message, replace(self._own, client=-1))) is not None:
            return self._delivered(receipt, message, found)
        opening = [step.acknowledged for step in declaration.open]
        done = len(opening) if steps is None else steps
        joined = declaration.join.acknowledged if declaration.join else None
        asked = declaration.keep_alive.received if declaration.keep_alive else None
        kinds: list[tuple[Pattern | None, Kind]] = [
            *((each, Kind.OPENED) for each in opening[done : done + 1]),
            (joined, Kind.JOINED),
            (asked, Kind.ASKED),
            (declaration.error, Kind.REFUSED),
            *((each, Kind.IGNORED) for each in opening[:done]),
            *((each, Kind.IGNORED) for each in declaration.ignore),
        ]
        fits = (kind for pattern, kind in kinds if pattern and self._matches(pattern, message, self._own) is not None)
        return Meaning(next(fits, Kind.FOREIGN))

    def answer(self, text: str, asked: Values) -> Meaning:
        """The meaning of an answer, or of one of its events, for the client that sent the request."""
        declaration = self._declaration
        receipt = declaration.message.received
        looked_at = (receipt.where, receipt.id, receipt.time, receipt.same, declaration.error, declaration.ignore)
        try:
            document = parsed(text) if declaration.format != "text" and any(looked_at) else None
        except (ValueError, RecursionError):
            return Meaning(Kind.FOREIGN)
        message = _Message(text, document)
        known: Found = {"client": asked.client, "id": asked.id, "time": asked.time}
        if any(self._matches(each, message, self._own) is not None for each in declaration.ignore):
            return Meaning(Kind.IGNORED)
        if self._matches(receipt, message, asked, known) is not None:
            return Meaning(Kind.DELIVERED, asked.id, altered=self._differs(receipt, message, asked, known))
        if declaration.error and self._matches(declaration.error, message, self._own) is not None:
            return Meaning(Kind.REFUSED)
        return Meaning(Kind.FOREIGN)

    def number(self, text: str, event_id: str | None) -> int | None:
        """The number of a token at its declared place; None if there is no number."""
        stream = self._declaration.request and self._declaration.request.stream
        if stream and stream.number.startswith("/"):
            value = _Message(text, parsed(text)).at(stream.number)
            event_id = None if value is _NOTHING else _content(value)
        return int(event_id) if event_id and re.fullmatch(NUMBER, event_id) else None

    def _differs(self, receipt: Receipt, message: _Message, asked: Values, known: Found) -> str:
        """The part of an answer that differs from its request; empty if none does."""
        for place, name in ((receipt.id, "its id"), (receipt.time, "its time")):
            if place and not self._content(place, message, dict(known)):
                return name
        return next((each.at for each in receipt.same if not self._is_same(each, message, asked)), "")

    def _delivered(self, receipt: Receipt, message: _Message, found: Found) -> Meaning:
        if receipt.id and not self._content(receipt.id, message, found):
            return Meaning(Kind.FOREIGN)
        number = found["id"]
        if receipt.time and not self._content(receipt.time, message, found):
            return Meaning(Kind.DELIVERED, number, altered="its time")
        sender = number // PER_CLIENT
        meaning = Meaning(Kind.DELIVERED, number, found.get("time"))
        if found.get("client", sender) != sender:
            return replace(meaning, altered="its sender")
        sent = replace(self._own, client=sender, id=number, time=found.get("time", -1))
        wrong = (each.at for each in receipt.same if not self._is_same(each, message, sent))
        return replace(meaning, altered=next(wrong, ""))

    def _matches(self, pattern: Pattern, message: _Message, known: Values, before: Found | None = None) -> Found | None:
        """The values in a message that matches the pattern; None if it does not match. A client of -1 matches any
        client.

        Numbers that were found `before` have to be equal.
        """
        found: Found = dict(before or {})
        if pattern.like:
            return self._take(pattern.like, message.text, known, found)
        for condition in pattern.where:
            if (value := message.at(condition.at)) is _NOTHING:
                return None
            if [part.value for part in condition.json_is] != ["any"] and (
                self._take(condition.json_sorted, canonical(value), known, found) is None
            ):
                return None
        return found

    def _content(self, place: Condition, message: _Message, found: Found) -> bool:
        """Add the number at a place, in a string or a number, to `found`; return whether it is there."""
        value = message.at(place.at)
        if value is _NOTHING:
            return False
        return self._take(place.like, _content(value), replace(self._own, client=-1), found) is not None

    def _is_same(self, condition: Condition, message: _Message, sent: Values) -> bool:
        value = message.at(condition.at)
        return value is not _NOTHING and canonical(value) == self.filled(condition.json_sorted, sent)

    def _take(self, template: Template, text: str, known: Values, found: Found) -> Found | None:
        """Add the numbers in a text that matches the template; None if it does not, or if they differ from earlier
        ones.
        """
        matched = _compiled(self._pieces(template, known)).fullmatch(text)
        if not matched:
            return None
        for group, digits in matched.groupdict().items():
            name = group.rstrip("_0123456789")
            if found.setdefault(name, int(digits)) != int(digits):
                return None
        return found

    def _pieces(self, template: Template, known: Values) -> Pieces:
        def piece(part: Part) -> tuple[str, str]:
            if part.secret:
                return "", self._in_messages(self._secrets[part.secret])
            if part.row:
                return "", self._in_messages(self._row(part.row, self._own.client))
            if part.value == "group" or (part.value == "client" and known.client >= 0):
                return "", str(known.group if part.value == "group" else known.client)
            return part.value, part.literal

        return tuple(map(piece, template))


Found = dict[str, int]
_NOTHING = object()
Pieces = tuple[tuple[str, str], ...]
"""of a template: the name of a value, or a literal"""


@lru_cache(maxsize=1000)
def _compiled(pieces: Pieces) -> re.Pattern[str]:
    """The pattern, with numbers in groups that have their names; an {any} matches as little as possible."""

    def expression(place: int, name: str, literal: str) -> str:
        if name == "any":
            return ".*?"
        return f"(?P<{name}_{place}>{NUMBER})" if name else re.escape(literal)

    return re.compile("".join(expression(place, *piece) for place, piece in enumerate(pieces)), re.DOTALL)


class _Number(str):
    """A number as it is written, between marks."""


_MARKED = re.compile('"\ue000([^"\ue001]*)\ue001"')


def parsed(text: str) -> Any:
    """JSON whose numbers stay as they are written. Raises ValueError, or RecursionError if it is nested too deeply."""

    def number(digits: str) -> _Number:
        return _Number(f"\ue000{digits}\ue001")

    def constant(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    return json.loads(text, parse_int=number, parse_float=number, parse_constant=constant)


def canonical(value: Any) -> str:
    """A parsed value without blanks, with the fewest possible escapes, and with members sorted by name."""
    return _MARKED.sub(r"\1", dumps(value, in_order=True))


def _content(value: Any) -> str:
    """The content of a string, or the JSON of another value."""
    return value if isinstance(value, str) and not isinstance(value, _Number) else canonical(value)


def _inside_json(text: str) -> str:
    return dumps(text)[1:-1]


class _Message:
    def __init__(self, text: str, document: Any) -> None:
        self.text, self._document = text, document

    def at(self, pointer: str) -> Any:
        """The value at a JSON pointer (RFC 6901), or _NOTHING."""
        found = self._document
        for escaped in pointer.split("/")[1:]:
            name = escaped.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and name.isdecimal() and str(int(name)) == name and int(name) < len(found):
                found = found[int(name)]
            elif isinstance(found, dict) and name in found:
                found = found[name]
            else:
                return _NOTHING
        return found
