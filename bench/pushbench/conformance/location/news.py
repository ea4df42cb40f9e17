"""Positions and the news that contain them, as in the contract. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pushbench.conformance.rule import Mismatch, escaped

Position = dict[str, Any]
"""`user`, `lat`, `lon`, `seq` and `sentAt`"""
FIELDS = {"user": str, "lat": float, "lon": float, "seq": int, "sentAt": int}


@dataclass(frozen=True)
class News:
    version: int
    positions: Sequence[Position]

    @property
    def users(self) -> list[str]:
        return [position["user"] for position in self.positions]


def by_user(positions: Sequence[Position]) -> list[Position]:
    """The positions sorted by user: news may have them in any order."""
    return sorted(positions, key=lambda position: str(position["user"]))


def news_of(text: str | bytes) -> News:
    """A server's news. Raises Mismatch for invalid news, or two positions of one user."""
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    match said:
        case {"version": int(version), "positions": list(positions), **rest} if version >= 0 and not rest:
            news = News(version, [_position_of(each) for each in positions])
        case _:
            raise Mismatch('{"version": 1, "positions": [...]}', escaped(text))
    if len(set(news.users)) < len(news.users):
        raise Mismatch("at most one position of each user", ", ".join(map(escaped, news.users)))
    return news


def _position_of(told: object) -> Position:
    if not isinstance(told, dict) or told.keys() != FIELDS.keys():
        raise Mismatch(f"a position of {', '.join(FIELDS)}", escaped(str(told)))
    for name, kind in FIELDS.items():
        wanted = (int, float) if kind is float else (kind,)
        if type(told[name]) not in wanted:
            raise Mismatch(f"a position whose {name} is {kind.__name__}", escaped(str(told[name])))
    return told
