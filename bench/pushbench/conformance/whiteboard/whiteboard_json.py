"""The protocol `whiteboard-json`: JSON text frames on GET /ws. With the rules that only it has."""

from __future__ import annotations

import json

from pushbench.conformance.rule import escaped, rule
from pushbench.conformance.whiteboard.client import Client, parsed
from pushbench.conformance.whiteboard.clients import Clients
from pushbench.conformance.whiteboard.inbox import Drawn, Event, Joined, Refused, Strange


class ProtocolClient(Client):
    path = "/ws"

    def message(self, board: str, text: str) -> str:
        return text

    async def ask_to_join(self, board: str) -> None:
        await self._command("join", board)

    async def leave(self, board: str) -> None:
        await self._command("leave", board)

    async def _command(self, command: str, board: str) -> None:
        await self.connection.send(json.dumps({"type": command, "boardId": board, "userId": self.user}))

    def event(self, message: str | bytes) -> Event:
        match parsed(message):
            case {"type": "draw"}:
                return Drawn(str(message))
            case {"type": "joined", "boardId": str(board), "userId": str(user)}:
                return Joined(board, user)
            case {"type": "error", "reason": str(reason)} if reason:
                return Refused(reason)
        return Strange(message)


@rule("Leaving a board that was not joined is an error, and the connection stays.")
async def leaving_needs_membership(clients: Clients) -> None:
    board = clients.board()
    client = await clients.connect()
    await client.leave(board)
    await client.is_refused("leaving a board that was not joined")
    await client.join(board)


@rule("A binary frame is an error, and the connection stays.")
async def binary_frame_is_an_error(clients: Clients) -> None:
    board = clients.board()
    witness, client = await clients.members(board, 2)
    for octets in (client.next_draw(board).encode(), b"", b"\x00\xff\xfe"):
        await client.connection.send(octets)
        await client.is_refused(f"the binary frame {escaped(octets)}")
    await witness.receives(await client.draw(board))
