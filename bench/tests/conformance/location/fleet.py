"""The positions of groups, as a server of the tests keeps them: rightly, or with faults."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

Position = dict[str, Any]
Tell = Callable[[int, list[Position]], None]
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
MOST = 2**53 - 1


class Refused(Exception):
    def __init__(self, status: int, fields: str = "") -> None:
        super().__init__(status)
        self.status, self.fields = status, fields


@dataclass
class Group:
    version: int = 0
    newest: dict[str, tuple[int, Position]] = field(default_factory=dict)
    log: list[tuple[int, Position]] = field(default_factory=list)
    listeners: dict[object, tuple[str, Tell]] = field(default_factory=dict)


class Fleet:
    def __init__(self, faults: Collection[str]) -> None:
        self.faults = faults
        self.groups: dict[str, Group] = {}
        self._puts = 0

    def group(self, name: str) -> Group:
        if "forgives-ids" not in self.faults and not ID.fullmatch(name):
            raise Refused(400)
        if "has-one-group" in self.faults:
            name = "one"
        return self.groups.setdefault(name, Group())

    @property
    def listeners(self) -> int:
        return sum(len(group.listeners) for group in self.groups.values())

    def put(self, name: str, user: str, body: str | bytes) -> None:
        group, position = self.group(name), self._parsed(body)
        if "forgives-ids" not in self.faults and not ID.fullmatch(user):
            raise Refused(400)
        if user not in group.newest and len(group.newest) == 64 and "has-room" not in self.faults:
            raise Refused(409)
        position["user"] = user
        self._puts += 1
        if "rounds" in self.faults:
            position["lat"], position["lon"] = round(position["lat"], 6), round(position["lon"], 6)
        group.version += 1
        group.newest[user] = (group.version, position)
        group.log.append((group.version, position))
        if "loses" in self.faults and self._puts % 3 == 0:
            del group.newest[user], group.log[-1]
            return
        if "skips-bursts" in self.faults and self._puts % 10 == 0:
            return
        for listening, tell in list(group.listeners.values()):
            if listening != user or "tells-the-sender" in self.faults:
                tell(group.version, [position])

    def since(self, name: str, user: str, version: int) -> tuple[int, list[Position]]:
        """The version of a group, and the positions that others have put after the one before."""
        group = self.group(name)
        known = 0 if version > group.version and "keeps-old-versions" not in self.faults else version
        if "tells-all" in self.faults:
            found = [each for each in group.log if each[0] > known]
        else:
            found = [each for each in group.newest.values() if each[0] > known or "tells-twice" in self.faults]
        sender_too = "tells-the-sender" in self.faults
        told = [position for _, position in found if position["user"] != user or sender_too]
        if "forgets-before" in self.faults and not version:
            told = []
        return group.version + ("counts-from-2" in self.faults), told

    def _parsed(self, body: str | bytes) -> Position:
        try:
            said = json.loads(body, parse_constant=lambda _: None)
            numbers = {name: said[name] for name in ("lat", "lon", "seq", "sentAt")}
        except (ValueError, TypeError, KeyError, RecursionError):
            raise Refused(400) from None
        real = all(type(numbers[name]) in (int, float) for name in ("lat", "lon"))
        whole = all(type(numbers[name]) is int and 0 <= numbers[name] <= MOST for name in ("seq", "sentAt"))
        within = real and abs(numbers["lat"]) <= 90 and abs(numbers["lon"]) <= 180
        if not (within and whole) and "forgives-numbers" not in self.faults:
            raise Refused(400)
        return said if "tells-everything" in self.faults else numbers


def version_of(text: str, faults: Collection[str]) -> int:
    if not re.fullmatch("0|[1-9][0-9]{0,15}", text) or int(text) > MOST:
        if "forgives-since" in faults:
            return 0
        raise Refused(400)
    return int(text)


def news(version: int, positions: list[Position]) -> str:
    return json.dumps({"version": version, "positions": positions})
