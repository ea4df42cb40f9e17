"""The values in a JSON message by their pointers, and what their names suggest. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Leaves = Mapping[str, Any]
"""scalars by JSON pointers"""

KIND = re.compile(r"(type|event|action|kind|command|method)$|/(op|cmd|t)$", re.IGNORECASE)
GROUP = re.compile(r"(room|group|channel|topic|lobby|game|chat)(_?id|name)?$", re.IGNORECASE)
CLIENT = re.compile(r"(user|client|name|nick|from|sender|player|author)(_?id|name)?$", re.IGNORECASE)
ID = re.compile(r"(id|nr|no|seq|number|ref|reference|uuid|nonce|counter)$", re.IGNORECASE)
SECRET = re.compile(r"(token|secret|password|passwd|api_?key|auth|jwt|session)$", re.IGNORECASE)

BARE = "\ue010"
"""encloses a value that belongs outside of quotes"""


def leaves(text: str | None) -> Leaves | None:
    """The scalars of a JSON object or list; None for any other text."""
    try:
        value = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return dict(_walk(value, "")) if isinstance(value, dict | list) else None


def _walk(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    inner: Sequence[tuple[str, Any]] = ()
    if isinstance(value, dict):
        inner = [(escaped(key), each) for key, each in value.items()]
    elif isinstance(value, list):
        inner = [(str(place), each) for place, each in enumerate(value)]
    else:
        yield at, value
    for key, each in inner:
        yield from _walk(each, f"{at}/{key}")


def kind(message: Leaves) -> tuple[str, ...]:
    """The kind of a message: the value that names it, or else the pointers that it has."""
    named = [f"{at}={value}" for at, value in message.items() if KIND.search(at) and isinstance(value, str)]
    return tuple(named[:1] or sorted(message))


def alike(messages: Sequence[Leaves]) -> dict[str, Any]:
    """The values that are equal in all messages."""
    first = messages[0] if messages else {}
    return {at: value for at, value in first.items() if all(each.get(at, messages) == value for each in messages)}


def constants(messages: Sequence[Leaves]) -> dict[str, Any]:
    """The values that recognise messages of one kind: its name, or else all equal values; no secrets."""
    told = {at: value for at, value in alike(messages).items() if not SECRET.search(at)}
    named = {at: value for at, value in told.items() if KIND.search(at) and isinstance(value, str)}
    return named or told


def id_among(messages: Sequence[Leaves]) -> str | None:
    """The pointer of a value that differs in all messages: named like an id, or a number."""
    first = messages[0]
    differs = [
        at
        for at in first
        if len(messages) > 1 and len({json.dumps(each.get(at)) for each in messages}) == len(messages)
    ]
    named = [at for at in differs if ID.search(at)]
    numbers = [at for at in differs if isinstance(first[at], int)]
    return next(iter([*named, *numbers]), None)


def rewritten(text: str, shown: Callable[[str, Any], Any]) -> str:
    """The JSON with each scalar replaced by the result of `shown` for its pointer and its value."""
    made = json.dumps(_rewritten(json.loads(text), "", shown), ensure_ascii=False)
    return re.sub(f'"{BARE}(.*?){BARE}"', r"\1", made)


def _rewritten(value: Any, at: str, shown: Callable[[str, Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _rewritten(each, f"{at}/{escaped(key)}", shown) for key, each in value.items()}
    if isinstance(value, list):
        return [_rewritten(each, f"{at}/{place}", shown) for place, each in enumerate(value)]
    return shown(at, value)


def value_of(name: str, like: Any) -> str:
    """A placeholder, such as {id}, quoted like a value of the same type."""
    return f"{{{name}}}" if isinstance(like, str) else f"{BARE}{{{name}}}{BARE}"


def escaped(key: str) -> str:
    """A key as a part of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")
