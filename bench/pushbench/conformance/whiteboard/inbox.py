"""What a client has received and the rule has not read yet, in order of arrival."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from pushbench.conformance.rule import Mismatch, escaped


@dataclass(frozen=True)
class Joined:
    """The server acknowledged a join."""

    board: str
    user: str


@dataclass(frozen=True)
class Drawn:
    """A delivery: a draw, as its text arrived."""

    text: str

    def __str__(self) -> str:
        return f"draw {escaped(self.text)}"


@dataclass(frozen=True)
class Refused:
    """The server's `error` for one message."""

    reason: str

    def __str__(self) -> str:
        return f"error {escaped(self.reason)}"


@dataclass(frozen=True)
class Strange:
    """A message that is not in the protocol."""

    message: str | bytes

    def __str__(self) -> str:
        return f"strange message {escaped(self.message)}"


@dataclass(frozen=True)
class Closed:
    """The end of the connection; 1006 if there was no closing handshake."""

    code: int
    reason: str

    def __str__(self) -> str:
        return f"connection closed with {self.code} {escaped(self.reason)}"


Event = Joined | Drawn | Refused | Strange
E = TypeVar("E", Joined, Drawn, Refused)


class Inbox:
    def __init__(self) -> None:
        self.closed: Closed | None = None
        self._events: deque[Event] = deque()
        self._news = asyncio.Event()

    def put(self, event: Event) -> None:
        self._events.append(event)
        self._news.set()

    def close(self, closed: Closed) -> None:
        self.closed = closed
        self._news.set()

    async def take(self, kind: type[E], expected: str, within: float) -> E:
        """Remove and return the oldest event of a kind; others stay. Raises Mismatch if none arrives in time."""
        event = await self._first(kind, expected, within)
        assert isinstance(event, kind)
        return event

    async def next(self, expected: str, within: float) -> Event:
        """Remove and return the oldest event. Raises Mismatch if none arrives in time."""
        return await self._first(object, expected, within)

    async def some(self, expected: str, within: float) -> list[Event]:
        """Remove and return all events, at least one. Raises Mismatch if none arrives in time."""
        return [await self.next(expected, within), *self.drain()]

    def drain(self) -> list[Event]:
        """Remove and return all events."""
        events, self._events = self._events, deque()
        return list(events)

    async def _first(self, kind: type, expected: str, within: float) -> Event:
        try:
            async with asyncio.timeout(within):
                while True:
                    for index, event in enumerate(self._events):
                        if isinstance(event, kind):
                            del self._events[index]
                            return event
                    if self.closed:
                        raise Mismatch(expected, self.closed)
                    await self._changed()
        except TimeoutError:
            raise Mismatch(f"{expected} within {within:g} s", self) from None

    async def wait_closed(self, expected: str, within: float) -> Closed:
        try:
            async with asyncio.timeout(within):
                while not self.closed:
                    await self._changed()
        except TimeoutError:
            raise Mismatch(f"{expected} within {within:g} s", f"an open connection and {self}") from None
        return self.closed

    async def _changed(self) -> None:
        self._news.clear()
        await self._news.wait()

    def count(self, kind: type[Event]) -> int:
        return sum(isinstance(event, kind) for event in self._events)

    def has(self, kind: type[Event]) -> bool:
        return self.count(kind) > 0

    def __bool__(self) -> bool:
        return bool(self._events)

    def __str__(self) -> str:
        """The first unread events, for messages."""
        shown = "; ".join(str(event) for event in islice(self._events, 3))
        return shown or "nothing"
