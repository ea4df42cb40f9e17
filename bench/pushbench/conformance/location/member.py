"""One simulated user of a group: the vocabulary of the rules, whatever the transport.

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
"""Seconds for what a healthy server does at once: a thousand times its usual time, so that no rule fails because of a
busy machine."""
QUIET = 0.15
"""Seconds in which an unwanted prompt message would arrive."""


class Member(ABC):
    tells_of_before: ClassVar[bool] = True
    """The first news has the earlier positions."""
    tells_of_all: ClassVar[bool] = True
    """Each position is delivered, even if a newer one of the same user has arrived."""

    def __init__(self, clients: Clients, group: str, user: str) -> None:
        self.clients, self.group, self.user = clients, group, user
        self.first = News(0, [])
        self._seq = 0
        self._received: deque[Position] = deque()

    @abstractmethod
    async def join(self, within: float) -> None:
        """Become a member: positions that others share from now on arrive. Sets `first`."""

    @abstractmethod
    async def put(self, body: str) -> None:
        """Share a body that may be no position. Raises Mismatch if the transport reports that it was not accepted."""

    @abstractmethod
    async def is_refused(self, body: str, what: str) -> None:
        """Share a body that is no position, and check its refusal."""

    @abstractmethod
    async def next_news(self, within: float) -> News | None:
        """The next news; None if none arrives in time."""

    @abstractmethod
    async def is_ended(self, within: float) -> None:
        """Raises Mismatch unless the server ends what the member waits for, as the transport requires."""

    @abstractmethod
    def reset(self) -> None:
        """End every connection with a TCP reset."""

    async def close(self) -> None:  # noqa: B027 - connections of HTTP are closed by the clients
        """Close connections that are not registered with the clients."""

    def next_position(self, **changes: object) -> Position:
        self._seq += 1
        place = {"lat": round(52.5 + self._seq / 1e6, 6), "lon": round(13.4 - self._seq / 1e6, 6)}
        return {"user": self.user, **place, "seq": self._seq, "sentAt": 1_764_000_000_000_000 + self._seq, **changes}

    async def share(self, **changes: object) -> Position:
        """Share a position, and return it as others receive it."""
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
        """Raises Mismatch unless these are the next positions, in this order."""
        for position in positions:
            if (seen := await self.receive(f"position {position['seq']} of {position['user']}")) != position:
                raise Mismatch(f"{position} at {self.user}", seen)

    async def receives_nothing(self) -> None:
        if not self._received and (news := await self.next_news(QUIET)):
            self._received.extend(news.positions)
        if self._received:
            raise Mismatch(f"nothing at {self.user}", self._received[0])


def body_of(position: Position) -> str:
    """The body that a client puts: a position without its user."""
    return json.dumps({name: value for name, value in position.items() if name != "user"})
