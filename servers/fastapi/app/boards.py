"""The members of each board; sends one text to all members of a board."""

from collections import defaultdict
from contextlib import suppress

from fastapi import WebSocket, WebSocketDisconnect


class Boards:
    def __init__(self) -> None:
        self._members: defaultdict[str, set[WebSocket]] = defaultdict(set)
        self._joined: defaultdict[WebSocket, set[str]] = defaultdict(set)

    def join(self, board_id: str, client: WebSocket) -> None:
        self._members[board_id].add(client)
        self._joined[client].add(board_id)

    def has(self, board_id: str, client: WebSocket) -> bool:
        return client in self._members.get(board_id, ())

    def leave(self, board_id: str, client: WebSocket) -> None:
        self._joined[client].remove(board_id)
        self._remove(board_id, client)

    def leave_all(self, client: WebSocket) -> None:
        for board_id in self._joined.pop(client, ()):
            self._remove(board_id, client)

    async def broadcast(self, board_id: str, text: str) -> None:
        for client in tuple(self._members[board_id]):
            await send(client, text)

    def _remove(self, board_id: str, client: WebSocket) -> None:
        members = self._members[board_id]
        members.remove(client)
        if not members:
            del self._members[board_id]


async def send(client: WebSocket, text: str) -> None:
    """Queues a text without waiting for a slow reader (see `Connection`). A client that has gone is skipped."""
    # uvicorn raises RuntimeError after a close frame. Either way the client's own `receive` ends its membership.
    with suppress(WebSocketDisconnect, RuntimeError):
        await client.send_text(text)
