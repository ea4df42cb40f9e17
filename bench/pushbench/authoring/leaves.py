"""The values in a JSON message by their pointers, and what their names suggest. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Leaves = Mapping[str, Any]
"""scalars by JSON pointers"""

KIND = re.compile(r"(type|event|action|op|kind|cmd|command|method|t)$", re.IGNORECASE)
GROUP = re.compile(r"(room|group|channel|topic|lobby|game|chat)(_?id|name)?$", re.IGNORECASE)
CLIENT = re.compile(r"(user|client|name|nick|from|sender|player|author)(_?id|name)?$", re.IGNORECASE)
ID = re.compile(r"(id|nr|no|seq|number|ref|uuid|nonce|counter)$", re.IGNORECASE)
SECRET = re.compile(r"(token|secret|password|passwd|api_?key|auth|jwt|session)$", re.IGNORECASE)


def leaves(text: str | None) -> Leaves | None:
    """The scalars of a JSON object or list; None for what is neither."""
    try:
        value = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return dict(_walk(value, "")) if isinstance(value, dict | list) else None


def _walk(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    inner: Sequence[tuple[str, Any]] = ()
    if isinstance(value, dict):
        inner = [(key.replace("~", "~0").replace("/", "~1"), each) for key, each in value.items()]
    elif isinstance(value, list):
        inner = [(str(place), each) for place, each in enumerate(value)]
    else:
        yield at, value
    for key, each in inner:
        yield from _walk(each, f"{at}/{key}")


def kind(message: Leaves) -> tuple[str, ...]:
    """What tells one sort of message from another: the values that name it, or which values it has."""
    named = [f"{at}={value}" for at, value in message.items() if KIND.search(at) and isinstance(value, str)]
    return tuple(named[:1] or sorted(message))


def constants(messages: Sequence[Leaves]) -> dict[str, Any]:
    """The values that recognise messages of one kind: what names it, else what all of them have alike."""
    first = messages[0]
    alike = {at: value for at, value in first.items() if all(each.get(at, messages) == value for each in messages)}
    named = {at: value for at, value in alike.items() if KIND.search(at) and isinstance(value, str)}
    return named or alike
