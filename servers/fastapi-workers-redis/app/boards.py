"""The members of each board among this worker's clients; sends to one of them."""

from collections import defaultdict
from collections.abc import Collection
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

    def members(self, board_id: str) -> Collection[WebSocket]:
        return tuple(self._members.get(board_id, ()))

    def joined(self, client: WebSocket) -> Collection[str]:
        return tuple(self._joined.get(client, ()))

    def leave(self, board_id: str, client: WebSocket) -> None:
        members, joined = self._members[board_id], self._joined[client]
        members.remove(client)
        joined.remove(board_id)
        if not members:
            del self._members[board_id]
        if not joined:
            del self._joined[client]


async def send(client: WebSocket, text: str) -> None:
    """Queues a text without waiting for a slow reader (see `Connection`). A client that has gone is skipped."""
    # uvicorn raises RuntimeError after a close frame. Either way the client's own `receive` ends its membership.
    with suppress(WebSocketDisconnect, RuntimeError):
        await client.send_text(text)
