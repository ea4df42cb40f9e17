"""Secrets of clients: their values, so that no draft contains them, and their names in a draft. Pure."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from pushbench.authoring.leaves import SECRET, leaves
from pushbench.authoring.overheard import Conversation
from pushbench.foundation.text import one_line

Place = tuple[Literal["header", "query", "field"], str]
"""The place of a secret: the header, the query parameter, or the pointer into a message or field of a form"""
LONGEST = 36
"""characters of a place's name: with its kind and a number, the name of a secret may have 50"""
_FORM = re.compile(r"[^\s=&]+=[^\s&]*(&[^\s=&]+=[^\s&]*)*")
"""a body of the type application/x-www-form-urlencoded"""


class Secrets:
    """The secrets of several conversations. Each place has a unique name."""

    def __init__(self, talks: Sequence[Conversation]) -> None:
        found = [each for talk in talks for each in _found(talk)]
        self.values = {value for _, value in found if value}
        """secret values that clients sent, as far as they were recorded; headers are not"""
        self._names = _named(list(dict.fromkeys(place for place, _ in found)))

    def header(self, name: str) -> str:
        """The placeholder for the value of a header in a template."""
        return self._shown(("header", name.lower()))

    def query(self, name: str) -> str:
        """The placeholder for the value of a query parameter."""
        return self._shown(("query", name))

    def field(self, pointer: str) -> str:
        """The placeholder for the text at a pointer of a message."""
        return self._shown(("field", pointer))

    def in_form(self, text: str) -> str:
        """The body that a client sent; in a form, placeholders replace the values of secret fields."""
        fields = _fields(text)
        shown = (value if plain is None else self.field(plain) for _, plain, value in fields)
        return "&".join(f"{name}={value}" for (name, _, _), value in zip(fields, shown, strict=True)) or text

    def lines(self, draft: Sequence[str]) -> Iterator[str]:
        """The section `secrets` of a draft, with the secrets that its lines use."""
        used = {name: place for place, name in self._names.items() if any(_value(name) in line for line in draft)}
        if used:
            yield "secrets: # set their variables for every command"
        for name, (kind, at) in used.items():
            variable = f"PUSHBENCH_SECRET_{name.upper().replace('-', '_')}"
            yield f"  {name}: {{env: {variable}}} # the {kind} {one_line(at)}"

    def _shown(self, place: Place) -> str:
        return _value(self._names[place])


def _found(talk: Conversation) -> Iterator[tuple[Place, str]]:
    yield from ((("header", name.lower()), "") for name in talk.secret_headers)
    query = parse_qsl(urlsplit(talk.path).query, keep_blank_values=True)
    yield from ((("query", name), value) for name, value in query if SECRET.search(name))
    for each in talk.sent():
        for at, value in (leaves(each.text) or {}).items():
            if SECRET.search(at) and isinstance(value, str):
                yield ("field", at), value
        for _, plain, value in _fields(each.text or ""):
            if plain is not None:
                yield from ((("field", plain), form) for form in {value, unquote_plus(value)})


def _fields(text: str) -> list[tuple[str, str | None, str]]:
    """The fields of a form: the name; the decoded name if the field is secret, else None; and the value."""
    if not _FORM.fullmatch(text) or leaves(text) is not None:
        return []
    parts = (part.partition("=") for part in text.split("&"))
    fields = ((name, unquote_plus(name), value) for name, _, value in parts)
    return [(name, plain if SECRET.search(plain) else None, value) for name, plain, value in fields]


def _named(places: Sequence[Place]) -> Mapping[Place, str]:
    """A name for each place: its own, prefixed with its kind if two kinds share a name."""
    called = {place: _slug(place[1]) for place in places}
    often = Counter(called.values())
    names: dict[Place, str] = {}
    for place, short in called.items():
        name = full = short if often[short] == 1 else f"{place[0]}-{short}"
        numbers = itertools.count(2)
        while name in names.values():
            name = f"{full}-{next(numbers)}"
        names[place] = name
    return names


def _slug(name: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST].strip("-")
    return slug if re.match("[a-z]", slug) else f"secret-{slug}".strip("-")


def _value(name: str) -> str:
    return f"{{secret:{name}}}"
