"""One simulated user of a group: the language of the rules, whatever the transport.

A protocol is a module of this package, named after it, whose class `ProtocolMember` derives from `Member`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, ClassVar

from pushbench.conformance.location.news import News, Position
from pushbench.conformance.rule import Mismatch

if TYPE_CHECKING:
    from pushbench.conformance.location.clients import Clients

PROMPT = 2.0
"""Seconds for what a healthy server does at once: a thousand times what it takes, so that a busy machine breaks no
rule."""
QUIET = 0.15
"""Seconds in which nothing may come that would come at once."""


class Member(ABC):
    tells_of_before: ClassVar[bool] = True
    """The first news has the positions from before."""
    tells_of_all: ClassVar[bool] = True
    """Each position is told of, also where a newer one of the same user has come."""

    def __init__(self, clients: Clients, group: str, user: str) -> None:
        self.clients, self.group, self.user = clients, group, user
        self.first = News(0, [])
        self._seq = 0
        self._received: deque[Position] = deque()

    @abstractmethod
    async def join(self, within: float) -> None:
        """Become a member: whatever others share from now on comes. Sets `first`."""

    @abstractmethod
    async def put(self, body: str) -> None:
        """Share what may be no position. Raises Mismatch where the transport says that it was not accepted."""

    @abstractmethod
    async def is_refused(self, body: str, what: str) -> None:
        """Share what is no position, and see the refusal."""

    @abstractmethod
    async def next_news(self, within: float) -> News | None:
        """The next news; None where none comes in time."""

    @abstractmethod
    async def is_ended(self, within: float) -> None:
        """The server ends what the member waits for, as the transport says. Raises Mismatch where it does not."""

    @abstractmethod
    def reset(self) -> None:
        """End every connection with a TCP reset."""

    async def close(self) -> None:  # noqa: B027 - connections of HTTP are closed by the clients
        """Close what the clients do not know of."""

    def next_position(self, **changes: object) -> Position:
        self._seq += 1
        place = {"lat": round(52.5 + self._seq / 1e6, 6), "lon": round(13.4 - self._seq / 1e6, 6)}
        return {"user": self.user, **place, "seq": self._seq, "sentAt": 1_764_000_000_000_000 + self._seq, **changes}

    async def share(self, **changes: object) -> Position:
        """Share a position, and return what others are told of it."""
        position = self.next_position(**changes)
        await self.put(body_of(position))
        return position

    async def receive(self, expected: str = "a position", within: float = PROMPT) -> Position:
        """The next position of another user."""
        while not self._received:
            news = await self.next_news(within)
            if news is None:
                raise Mismatch(f"{expected} at {self.user} within {within:g} s", "none")
            self._received.extend(news.positions)
        return self._received.popleft()

    async def receives(self, *positions: Position) -> None:
        """The next positions are these, in this order."""
        for position in positions:
            if (seen := await self.receive(f"position {position['seq']} of {position['user']}")) != position:
                raise Mismatch(f"{position} at {self.user}", seen)

    async def receives_nothing(self) -> None:
        if not self._received and (news := await self.next_news(QUIET)):
            self._received.extend(news.positions)
        if self._received:
            raise Mismatch(f"nothing at {self.user}", self._received[0])


def body_of(position: Position) -> str:
    """What a client puts: a position without its user."""
    return json.dumps({name: value for name, value in position.items() if name != "user"})
