"""The template of the bodies of requests, from several requests of one kind. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pushbench.authoring.leaves import CLIENT, SECRET, Leaves, id_among, leaves, rewritten, value_of
from pushbench.authoring.withholding import Secrets

LEAST_TEXT = 20
"""characters of a text in a template"""
ALL_ALIKE = "decide: all requests said the same; {id} and {text:200} make them differ"
_WORD = re.compile(r"([\w.-]+)")


@dataclass(frozen=True)
class Bodies:
    """The bodies of requests."""

    template: str
    """empty if the bodies are empty"""
    guesses: Sequence[str] = ()
    has: Sequence[Leaves] = ()
    """for each request, if all are JSON"""
    id_at: str | None = None
    """the pointer of the value that differs in each"""
    texts: Sequence[str] = ()
    """the pointers of other texts that differ"""
    ids: Sequence[str] = ()
    """the id of each, if it has one"""

    @property
    def as_json(self) -> bool:
        """Whether messages may be JSON."""
        return bool(self.has) or not self.template


def bodies(texts: Sequence[str], secrets: Secrets) -> Bodies:
    """The template of the bodies `texts`; all are empty if the requests have none."""
    if not any(texts):
        return Bodies("")
    found = [leaves(text) for text in texts]
    has = [each for each in found if each is not None]
    return _json(texts, has, secrets) if len(has) == len(texts) else _text(texts)


def _json(texts: Sequence[str], has: Sequence[Leaves], secrets: Secrets) -> Bodies:
    first = has[0]
    differ = [at for at, value in first.items() if any(each.get(at, has) != value for each in has)]
    id_at = id_among(has)
    guesses = [f"{id_at} is the id: it differs in each"] if id_at else []
    prose: list[str] = []

    def shown(at: str, value: Any) -> Any:
        if SECRET.search(at) and isinstance(value, str):
            return secrets.field(at)
        if at not in differ:
            return value
        if at == id_at:
            return value_of("id", value)
        if not isinstance(value, str):
            guesses.append(f"decide: {at} differs")
            return value
        if CLIENT.search(at):
            guesses.append(f"{at} is the client")
            return "user-{client}"
        prose.append(at)
        guesses.append(f"{at} is a text")
        return f"{{text:{max(LEAST_TEXT, len(value))}}}"

    template = rewritten(texts[0], shown)
    if not differ:
        guesses.append(ALL_ALIKE)
    return Bodies(template, guesses, has, id_at, prose, [str(each[id_at]) for each in has] if id_at else ())


def _text(texts: Sequence[str]) -> Bodies:
    """The template word by word if all texts have the same number of words, otherwise with the whole as one text."""
    rows = [_WORD.split(text) for text in texts]
    if len(set(texts)) == 1:
        return Bodies(texts[0], [ALL_ALIKE])
    if len({len(row) for row in rows}) > 1:
        return Bodies(f"{{text:{max(LEAST_TEXT, len(texts[0]))}}}", ["decide: the requests have little in common"])
    made: list[str] = []
    ids: list[str] = []
    for found in zip(*rows, strict=True):
        if len(set(found)) == 1:
            made.append(found[0])
        elif not ids and len(set(found)) == len(found) and all(each.isdecimal() for each in found):
            made.append("{id}")
            ids = list(found)
        else:
            made.append(f"{{text:{max(LEAST_TEXT, len(found[0]))}}}")
    return Bodies("".join(made), ["a number that differs is the id, other words that differ are texts"], ids=ids)
