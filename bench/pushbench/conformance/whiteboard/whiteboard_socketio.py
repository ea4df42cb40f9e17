"""The protocol `whiteboard-socketio`: events of Socket.IO on /socket.io/, over WebSocket.

The rules that only it has are here, too. A client uses only the part of Engine.IO and Socket.IO that the protocol
needs: text packets of one namespace.
"""

from __future__ import annotations

import itertools
import json
import math
from contextlib import suppress

from websockets.exceptions import ConnectionClosed

from pushbench.conformance import http, socketio
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.whiteboard.client import Client, parsed
from pushbench.conformance.whiteboard.clients import Clients
from pushbench.conformance.whiteboard.draws import broken_texts, compact, draw_text, extreme_texts
from pushbench.conformance.whiteboard.inbox import Drawn, Event, Joined, Refused, Strange
from pushbench.conformance.whiteboard.whiteboard_json import leaving_needs_membership  # noqa: F401 - a rule of both

VERBS = ("join", "draw", "leave")
DRAW = '42["draw",'
MESSAGE_LIMIT = 65_536


class ProtocolClient(Client):
    path = socketio.PATH
    carries_any_text = False
    opened: object = None
    """The content of the open packet."""

    async def greet(self, within: float) -> None:
        self._ids = itertools.count()
        self._asked: dict[int, str] = {}
        """The boards of joins that wait for an acknowledgement, by its id."""
        self.opened = await socketio.greet(self.connection, within)

    def message(self, board: str, text: str) -> str:
        """The event has the type in the text as its name. If that is no valid event name, it is sent as a draw."""
        fields = parsed(text)
        verb = fields.get("type") if isinstance(fields, dict) else None
        if verb == "join":
            return socketio.event_of(verb, text, next(self._ids))
        return socketio.event_of(verb if verb in VERBS else "draw", text)

    async def ask_to_join(self, board: str) -> None:
        number = next(self._ids)
        self._asked[number] = board
        await self.connection.send(socketio.event_of("join", self._membership("join", board), number))

    async def leave(self, board: str) -> None:
        await self.connection.send(socketio.event_of("leave", self._membership("leave", board)))

    def _membership(self, verb: str, board: str) -> str:
        return compact({"type": verb, "boardId": board, "userId": self.user})

    def answer(self, message: str | bytes) -> str | None:
        return socketio.PONG if message == socketio.PING else None

    def event(self, message: str | bytes) -> Event | None:
        if not isinstance(message, str):
            return Strange(message)
        if message == socketio.PING:
            return None
        if message.startswith(DRAW):
            return Drawn(message[len(DRAW) : -1])
        if acknowledged := socketio.ACKNOWLEDGEMENT.fullmatch(message):
            return self._joined(int(acknowledged[1]), acknowledged[2]) or Strange(message)
        match parsed(message.removeprefix("42")):
            case ["error", {"type": "error", "reason": str(reason)}] if reason:
                return Refused(reason)
        return Strange(message)

    def _joined(self, number: int, arguments: str) -> Joined | None:
        """The membership in an acknowledgement; None unless it acknowledges a pending join."""
        asked = self._asked.pop(number, None)
        match parsed(arguments):
            case [{"type": "joined", "boardId": str(board), "userId": str(user)}] if board == asked:
                return Joined(board, user)
        return None

    def same(self, sent: str, arrived: str) -> bool:
        try:
            return sent == arrived or canonical(sent) == canonical(arrived)
        except (ValueError, RecursionError):
            return False


def canonical(text: str) -> str:
    """The same text for all JSON that JavaScript treats as equal: numbers are doubles, and null beyond their range."""

    def number(digits: str) -> float | None:
        value = float(digits)
        return value + 0.0 if math.isfinite(value) else None  # the sum turns -0.0 into 0.0

    return json.dumps(json.loads(text, parse_int=number, parse_float=number), sort_keys=True)


@rule("An unknown event, a body of another type than its event, two bodies or none, and a join without id are errors.")
async def event_and_body_belong_together(clients: Clients) -> None:
    board = clients.board()
    witness, culprit = await clients.members(board, 2)
    draw = draw_text(board, culprit.user, 1)
    join = compact({"type": "join", "boardId": board, "userId": culprit.user})
    for case, packet in {
        "an unknown event": f'42["erase",{draw}]',
        "an event that has a meaning in Node.js": f'42["error",{draw}]',
        "an event that is a number": f"42[7,{draw}]",
        "a draw in a join": f'421000["join",{draw}]',
        "a join in a draw": f'42["draw",{join}]',
        "a draw without a body": '42["draw"]',
        "a draw with two bodies": f'42["draw",{draw},{draw}]',
        "a join that asks for no acknowledgement": f'42["join",{join}]',
    }.items():
        await culprit.connection.send(packet)
        await culprit.is_refused(case)
    await witness.receives(await culprit.draw(board))


@rule("A packet that is malformed or out of place harms nobody but its sender.", limit_seconds=30)
async def broken_packet_is_harmless(clients: Clients) -> None:
    board = clients.board()
    witness, artist = await clients.members(board, 2)
    draw = draw_text(board, "nobody", 1)
    broken = [f'42["draw",{text}]' for text in (broken_texts(board, "nobody") | extreme_texts()).values()]
    reserved = [f'42["{name}",{draw}]' for name in ("connect", "disconnect", "newListener")]
    nonsense = ["", "4", "5", "9", "47", "42", "42[", "42{}", '42"draw"', "43[]", "430[]", "4399999999999999999999[]"]
    order = ["0{}", "2", "2probe", "3", "6", "40", "44{}", "41", "41,{}", '42/other,["draw"]', '42/other,7["draw"]']
    for packet in (*broken, *reserved, *nonsense, *order):
        culprit = await clients.member(board)
        with suppress(ConnectionClosed):
            await culprit.connection.send(packet)
        await witness.receives(await artist.draw(board))


@rule("Binary, as a message, in Base64 or attached to an event, ends the connection of its sender and reaches nobody.")
async def binary_ends_its_connection(clients: Clients) -> None:
    board = clients.board()
    witness, artist = await clients.members(board, 2)
    attached = draw_text(board, "nobody", 1, note={"_placeholder": True, "num": 0})
    cases: dict[str, tuple[str | bytes, ...]] = {
        "a binary message": (b"\x00\xff\xfe",),
        "a binary message of no bytes": (b"",),
        "binary in Base64": ("bAQID",),
        "an event with an attachment": (f'451-["draw",{attached}]', b"\x00\xff\xfe"),
    }
    for what, messages in cases.items():
        culprit = await clients.member(board)
        with suppress(ConnectionClosed):
            for message in messages:
                await culprit.connection.send(message)
        await culprit.is_closed(what)
        await witness.receives(await artist.draw(board))
        await witness.receives_nothing(0.02)


@rule("The open packet offers no other transport and tells the limit of messages, and HTTP long-polling is refused.")
async def only_web_sockets_are_spoken(clients: Clients) -> None:
    client = await clients.connect()
    assert isinstance(client, ProtocolClient)
    match client.opened:
        case {"upgrades": [], "maxPayload": limit, "pingInterval": int(), "pingTimeout": int()} if (
            limit == MESSAGE_LIMIT
        ):
            pass
        case other:
            raise Mismatch(f"an open packet with no upgrades, a maxPayload of {MESSAGE_LIMIT} and pings", other)
    answer = await http.get(clients.target.url, "/socket.io/?EIO=4&transport=polling")
    if not 400 <= answer.status < 500:
        raise Mismatch("a 4xx answer to long-polling", answer.status)
