"""The members of each board."""

from collections import defaultdict

from app.client import Client


class Boards:
    def __init__(self) -> None:
        self._members: defaultdict[str, set[Client]] = defaultdict(set)
        self._joined: defaultdict[Client, set[str]] = defaultdict(set)

    def join(self, board_id: str, client: Client) -> None:
        self._members[board_id].add(client)
        self._joined[client].add(board_id)

    def has(self, board_id: str, client: Client) -> bool:
        return client in self._members.get(board_id, ())

    def leave(self, board_id: str, client: Client) -> None:
        self._joined[client].remove(board_id)
        self._remove(board_id, client)

    def leave_all(self, client: Client) -> None:
        for board_id in self._joined.pop(client, ()):
            self._remove(board_id, client)

    def broadcast(self, board_id: str, text: str) -> None:
        for client in self._members[board_id]:
            client.send(text)

    def _remove(self, board_id: str, client: Client) -> None:
        members = self._members[board_id]
        members.remove(client)
        if not members:
            del self._members[board_id]
