"""One connection of Socket.IO to the server of typing games of the tests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from typing import Any

from tests.conformance.typing_game.arena import Arena, Bad, Room, is_count, is_id

MESSAGE_LIMIT = 65_536
EVENT = re.compile(r"42(\d*)(\[.*\])", re.DOTALL)


class Violation(Exception):
    """A packet that ends the connection."""


class Session:
    """Takes packets in `receive`, and gives them to `send`. Knows no WebSockets."""

    def __init__(self, arena: Arena, send: Callable[[str], None], faults: Collection[str]) -> None:
        self.arena, self.send, self.faults = arena, send, faults
        self.room: Room | None = None
        self.user = ""
        self._connected = False
        upgrades = ["polling"] if "offers-upgrades" in faults else []
        limits = {"pingInterval": 25_000, "pingTimeout": 20_000, "maxPayload": MESSAGE_LIMIT}
        send("0" + json.dumps({"sid": "s", "upgrades": upgrades} | limits))
        arena.everybody.add(self.tell)

    def receive(self, packet: str | bytes) -> None:
        """Raises Violation where the connection has to end."""
        if isinstance(packet, bytes) or packet.startswith(("b", "45")):
            if "passes-over-binary" not in self.faults:
                raise Violation
        elif packet == "40" and not self._connected:
            self._connected = True
            self.send('40{"sid":"s"}')
        elif found := EVENT.fullmatch(packet):
            self._happened(found[1], _json(found[2]))
        elif packet != "3":
            raise Violation

    def leave(self) -> None:
        self.arena.everybody.discard(self.tell)
        if self.playing:
            assert self.room
            self.arena.leave(self.room, self.user)

    def tell(self, name: str, message: object) -> None:
        self.send(f"42{json.dumps([name, message])}")

    @property
    def playing(self) -> bool:
        return self.room is not None and self.room.phase != "over"

    def _happened(self, number: str, said: Any) -> None:
        try:
            match said:
                case ["pvp:join", {"roomId": room, "userId": user}] if is_id(room) and is_id(user) and number:
                    self._join(number, room, user)
                case ["ping", {"sentAt": at}] if is_count(at) and (number or "needs-no-ids" in self.faults):
                    told = [{"sentAt": at + ("pings-lie" in self.faults)}]
                    self.send(f"43{number or 0}{json.dumps(told)}")
                case ["pvp:keystrokes", dict() as message]:
                    self._type(message)
                case _:
                    if "forgives-events" not in self.faults:
                        raise Bad
        except Bad:
            self.tell("pvp:error", {} if "gives-no-reason" in self.faults else {"reason": "bad"})

    def _join(self, number: str, name: str, user: str) -> None:
        try:
            if self.playing and "plays-twice" not in self.faults:
                raise Bad
            room = self.arena.join(name, user, self.tell)
        except Bad:
            self.send(f'43{number}[{{"error":"no"}}]')
            return
        self.room, self.user = room, user
        text = room.text.upper() if "shouts" in self.faults else room.text
        self.send(f"43{number}{json.dumps([{'roomId': name, 'userId': user, 'text': text}])}")
        self.arena.begin_if_full(room)

    def _type(self, said: dict[str, Any]) -> None:
        checks = {"roomId": is_id, "userId": is_id, "seq": is_count, "sentAt": is_count, "keys": _are_keys}
        wrong = [name for name, check in checks.items() if not check(said.get(name))]
        if wrong == ["sentAt"] and "forgives-times" in self.faults:
            said["sentAt"] = 0
        elif wrong:
            raise Bad
        if not self.playing:
            raise Bad
        assert self.room
        if (said["roomId"], said["userId"]) != (self.room.id, self.user) and "believes-messages" not in self.faults:
            raise Bad
        self.arena.type(self.room, self.user, said)
        if self.room.phase == "over" and "ends-connections" in self.faults:
            raise Violation


def _are_keys(value: object) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= 16


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Violation from None
