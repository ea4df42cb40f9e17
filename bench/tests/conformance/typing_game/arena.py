"""The rooms of a server of typing games, as the tests have them: kept rightly, or with faults."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from pushbench.conformance.typing_game.text import TEXT

ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
MOST = 2**53 - 1


@dataclass
class Times:
    """Seconds, shorter than those of a real server."""

    seat: float
    gathering: float
    countdown: float


class Bad(Exception):
    """What a client has said wrong."""


@dataclass
class Player:
    tell: Callable[[str, object], None]
    typed: int = 0
    mistakes: int = 0
    seq: int = -1


@dataclass
class Room:
    id: str
    text: str
    phase: str = "waiting"
    seats: dict[str, float] = field(default_factory=dict)
    players: dict[str, Player] = field(default_factory=dict)
    places: list[str] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None


class Arena:
    def __init__(self, faults: Collection[str], times: Times) -> None:
        self.faults, self.times = faults, times
        self.rooms: dict[str, Room] = {}
        self.everybody: set[Callable[[str, object], None]] = set()
        self._told = 0
        self._loop = asyncio.get_running_loop()

    def match(self, said: Any) -> str:
        """The room of a user. Raises Bad where the request is none."""
        user, length = said["userId"], said.get("characters", 150 - ("means-100" in self.faults))
        good_length = type(length) is int and 1 <= length <= len(TEXT) - ("has-a-shorter-text" in self.faults)
        if "forgives-requests" not in self.faults and not (is_id(user) and good_length):
            raise Bad
        length = length if good_length else 20
        now = self._loop.time()
        for room in self.rooms.values():
            same = len(room.text) == length or "mixes-lengths" in self.faults
            if room.phase == "waiting" and same and user not in room.players and self._has_seat(room, user):
                break
        else:
            name = f"room-{len(self.rooms)}-{now:.6f}".replace(".", "-")
            room = self.rooms[name] = Room(name, TEXT[:length])
        room.seats[user] = now + (0 if "frees-seats-at-once" in self.faults else self.times.seat)
        if not room.players and "keeps-rooms" not in self.faults:
            self._after(room, self.times.seat, self._forget)
        return room.id

    def _has_seat(self, room: Room, user: str) -> bool:
        if "keeps-seats" not in self.faults:
            room.seats = {name: until for name, until in room.seats.items() if until > self._loop.time()}
        seats = 7 if "has-seven-seats" in self.faults else 6
        return user in room.seats or len(room.seats) + len(room.players) < seats

    def join(self, name: str, user: str, tell: Callable[[str, object], None]) -> Room:
        room = self.rooms.get(name)
        if not room:
            raise Bad
        if room.phase != "waiting" and "stays-open" not in self.faults:
            raise Bad
        if user in room.players and "users-may-double" not in self.faults:
            raise Bad
        if not self._has_seat(room, user) and "stays-open" not in self.faults:
            raise Bad
        room.seats.pop(user, None)
        room.players[user] = Player(tell)
        if len(room.players) == 1:
            gathering = self.times.gathering * (0.5 if "gathers-half" in self.faults else 1)
            self._after(room, gathering, self._count_down)
        return room

    def begin_if_full(self, room: Room) -> None:
        if room.phase == "waiting" and len(room.players) == 6 and "waits-when-full" not in self.faults:
            self._count_down(room)

    def type(self, room: Room, user: str, said: dict[str, Any]) -> None:
        player = room.players[user]
        if room.phase != "playing" and "types-early" not in self.faults:
            raise Bad
        if player.typed == len(room.text) and "types-on" not in self.faults:
            raise Bad
        if said["seq"] <= player.seq and "forgives-seq" not in self.faults:
            raise Bad
        player.seq = said["seq"]
        for key in said["keys"][:1] if "counts-one-key" in self.faults else said["keys"]:
            if player.typed == len(room.text):
                player.mistakes += "counts-beyond-the-end" in self.faults
            elif key == room.text[player.typed]:
                player.typed += 1
            else:
                player.mistakes += 1
                player.typed += "wrong-keys-move-on" in self.faults
        state = {name: said[name] for name in ("roomId", "userId", "seq", "sentAt")}
        self._tell_state(room, user, {**state, "typed": player.typed, "mistakes": player.mistakes})
        if player.typed == len(room.text) and user not in room.places:
            room.places.append(user)
            self._end_if_finished(room)

    def leave(self, room: Room, user: str) -> None:
        if "keeps-leavers" in self.faults:
            return
        if "waits-for-leavers" in self.faults and room.phase == "playing":
            room.players[user].tell = lambda name, message: None
            return
        del room.players[user]
        if "reset-ends-the-room" in self.faults:
            self._end(room)
        elif room.players and room.phase == "playing":
            self._end_if_finished(room)
        elif not room.players and "forgets-no-room" not in self.faults:
            self._after(room, self.times.seat if room.phase == "waiting" else 0, self._forget)

    def _tell_state(self, room: Room, user: str, state: dict[str, Any]) -> None:
        if "tells-everybody" in self.faults:
            for tell in self.everybody:
                tell("pvp:state", state)
            return
        for member, player in room.players.items():
            self._told += 1
            if "skips-the-sender" in self.faults and member == user:
                continue
            if "loses-some" in self.faults and self._told % 40 == 0:
                continue
            if "alters-some" in self.faults and self._told % 40 == 0:
                player.tell("pvp:state", {**state, "typed": state["typed"] + 1})
            elif "joins-states" in self.faults and state["seq"] % 10 == 3:
                continue
            else:
                player.tell("pvp:state", state)

    def _tell(self, room: Room, name: str, message: object) -> None:
        for player in room.players.values():
            player.tell(name, message)

    def _count_down(self, room: Room) -> None:
        room.phase = "countdown"
        users = list(room.players)[:: -1 if "reverses-players" in self.faults else 1]
        self._tell(room, "pvp:countdown", {"roomId": room.id, "milliseconds": 1000, "players": users})
        self._after(room, 0 if "starts-at-once" in self.faults else self.times.countdown, self._start)

    def _start(self, room: Room) -> None:
        room.phase = "playing"
        self._tell(room, "pvp:start", {"roomId": room.id})

    def _end_if_finished(self, room: Room) -> None:
        finished = [player.typed == len(room.text) for player in room.players.values()]
        if "never-ends" not in self.faults and (all(finished) or "ends-with-the-first" in self.faults):
            self._end(room)

    def _end(self, room: Room) -> None:
        places = sorted(room.places) if "sorts-places" in self.faults else room.places
        self._tell(room, "pvp:over", {"roomId": room.id, "places": places})
        if "keeps-finished-rooms" not in self.faults:
            self._forget(room)
        room.phase = "over"

    def _forget(self, room: Room) -> None:
        if room.timer:
            room.timer.cancel()
        room.phase = "over"
        self.rooms.pop(room.id, None)

    def _after(self, room: Room, seconds: float, step: Callable[[Room], None]) -> None:
        if room.timer:
            room.timer.cancel()
        room.timer = self._loop.call_later(seconds, step, room)


def is_id(value: object) -> bool:
    return isinstance(value, str) and ID.fullmatch(value) is not None


def is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST
