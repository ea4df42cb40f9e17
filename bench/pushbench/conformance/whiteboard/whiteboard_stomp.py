"""The protocol `whiteboard-stomp`: STOMP 1.2 over WebSocket on /stomp. With the rules that only it has.

A client is a member of a board once its own `join` body has returned through the board, because a simple broker
acknowledges no subscription. All others on the board also receive that body and ignore it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress

from websockets import Subprotocol
from websockets.exceptions import ConnectionClosed

from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.stomp import Frame
from pushbench.conformance.whiteboard.client import PROMPT, Client, parsed
from pushbench.conformance.whiteboard.clients import Clients
from pushbench.conformance.whiteboard.draws import draw_text
from pushbench.conformance.whiteboard.inbox import Drawn, Event, Joined, Refused, Strange

TOPIC = "/topic/board."
APP = "/app/board."
ERRORS = "/user/queue/errors"


async def send(client: Client, command: str, headers: Mapping[str, str], body: str = "") -> None:
    await client.connection.send(Frame(command, headers, body).encode())


class ProtocolClient(Client):
    path = "/stomp"
    subprotocols = (Subprotocol("v12.stomp"),)
    _subscribed: frozenset[str] = frozenset()

    async def greet(self, within: float) -> None:
        await send(self, "CONNECT", {"accept-version": "1.2", "host": "pushbench", "heart-beat": "0,0"})
        try:
            async with asyncio.timeout(within):
                answer = await self.connection.recv()
        except TimeoutError:
            raise Mismatch(f"a CONNECTED frame within {within:g} s", "none") from None
        if not isinstance(answer, str) or not answer.startswith("CONNECTED\n"):
            raise Mismatch("a CONNECTED frame", escaped(answer))
        await send(self, "SUBSCRIBE", {"id": "errors", "destination": ERRORS})

    def message(self, board: str, text: str) -> str:
        headers = {"destination": APP + board, "content-length": str(len(text.encode()))}
        return Frame("SEND", headers, text).encode()

    async def ask_to_join(self, board: str) -> None:
        if board not in self._subscribed:
            self._subscribed |= {board}
            await send(self, "SUBSCRIBE", {"id": board, "destination": TOPIC + board})
        await self.say(board, json.dumps({"type": "join", "boardId": board, "userId": self.user}))

    async def leave(self, board: str) -> None:
        self._subscribed -= {board}
        await send(self, "UNSUBSCRIBE", {"id": board})

    def event(self, message: str | bytes) -> Event | None:
        frame = Frame.decode(message) if isinstance(message, str) else None
        if not frame or frame.command != "MESSAGE":
            return Strange(message)
        match frame.headers.get("subscription"), parsed(frame.body):
            case "errors", {"type": "error", "reason": str(reason)} if reason:
                return Refused(reason)
            case _, {"type": "draw"}:
                return Drawn(frame.body)
            case _, {"type": "join", "boardId": str(board), "userId": str(user)}:
                return Joined(board, user) if user == self.user else None
        return Strange(message)


@rule("A body that names another board than its destination is an error and reaches neither.")
async def body_must_name_its_destination(clients: Clients) -> None:
    board, other = clients.board(), clients.board()
    witness, culprit = await clients.member(board, other), await clients.member(board, other)
    await culprit.say(board, draw_text(other, culprit.user, 1))
    await culprit.is_refused("a draw of another board than its destination")
    await witness.receives(await culprit.draw(board))


@rule("A SEND past the application's checks, to a topic or a queue, reaches nobody.")
async def topics_take_no_client_messages(clients: Clients) -> None:
    board = clients.board()
    witness, artist = await clients.members(board, 2)
    for destination in (TOPIC + board, "/topic/other", "/queue/errors", ERRORS, "/app/other"):
        culprit = await clients.member(board)
        with suppress(ConnectionClosed):  # a refusal may end the connection
            await send(culprit, "SEND", {"destination": destination}, draw_text(board, culprit.user, 1))
        await witness.receives_nothing(0.03)
        await witness.receives(await artist.draw(board))


@rule("A SUBSCRIBE to anything but a board or the client's own errors is refused.")
async def other_destinations_are_refused(clients: Clients) -> None:
    for destination in ("/topic/other", "/topic/**", "/queue/errors"):
        client = await clients.connect()
        await send(client, "SUBSCRIBE", {"id": "other", "destination": destination})
        try:
            await client.inbox.next(f"a refusal of {destination}", PROMPT)
        except Mismatch:
            if not client.inbox.closed:
                raise


@rule("A DISCONNECT that asks for a receipt gets it, and ends the deliveries.")
async def disconnect_is_acknowledged(clients: Clients) -> None:
    board = clients.board()
    leaver, witness, artist = await clients.members(board, 3)
    await send(leaver, "DISCONNECT", {"receipt": "bye"})
    event = await leaver.inbox.next("the RECEIPT of a DISCONNECT", PROMPT)
    frame = Frame.decode(str(event.message)) if isinstance(event, Strange) else None
    if not frame or not frame.acknowledges("bye"):
        raise Mismatch("the RECEIPT of a DISCONNECT", event)
    await witness.receives(await artist.draw(board))
    if leaver.inbox.has(Drawn):
        raise Mismatch("no draw after the RECEIPT of a DISCONNECT", leaver.inbox)


@rule("A message that is no STOMP frame, or a frame out of place, harms nobody but its sender.")
async def broken_frame_is_harmless(clients: Clients) -> None:
    board = clients.board()
    witness, artist = await clients.members(board, 2)
    nonsense = (
        "",
        "\0",
        "\n" * 1000,
        "NONSENSE\n\n\0",
        "SEND",
        "SEND\n\n\0",
        "SEND\ndestination\n\nx\0",
        "CONNECT\n\n\0",
    )
    for message in (*nonsense, b"\xff\x00"):
        culprit = await clients.member(board)
        with suppress(ConnectionClosed):
            await culprit.connection.send(message)
        await witness.receives(await artist.draw(board))
