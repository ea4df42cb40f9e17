"""How long seats and rooms are kept for absent players."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.typing_game.clients import SEATS, Clients

SEAT_SECONDS = 10.0
"""How long a seat is kept, and a room without players."""
EARLY, LATE = 0.9, 0.6
"""Seconds before the end of that time, when a seat is still kept, and after it, when it is free."""
PREPARING = 2.0
"""Seconds before that in which players connect and are matched: they have to join while the seat is still kept."""


@dataclass(frozen=True)
class Kept:
    """Unclaimed places: a seat in a room, and another room."""

    length: int
    room: str
    forgotten: str
    since: float

    @classmethod
    async def given(cls, clients: Clients) -> Kept:
        length, forgotten = clients.length(), await clients.match(clients.user(), clients.length())
        return cls(length, await clients.match(clients.user(), length), forgotten, time.monotonic())

    @property
    def seconds_left(self) -> float:
        """Seconds until a little before the end of the seat."""
        return self.since + SEAT_SECONDS - EARLY - time.monotonic()


@rule(
    "A seat that nobody takes is kept for 10 s and then free; a room that nobody is in for 10 s is forgotten.",
    limit_seconds=30,
)
async def seats_and_rooms_are_kept_for_ten_seconds(clients: Clients) -> AsyncGenerator[None]:
    """Both at the same time. A game begins 2 s after its first player, so the others join in the tenth second."""
    kept = await Kept.given(clients)
    yield
    if kept.seconds_left < 0:  # other rules have taken long
        kept = await Kept.given(clients)
    length, room = kept.length, kept.room
    await asyncio.sleep(kept.seconds_left - PREPARING)
    *present, late = await together(clients.player() for _ in range(SEATS))
    for player in present:
        if await clients.match(player.user, length) != room:
            raise Mismatch("the room that waits for players", "another room")
    await asyncio.sleep(kept.seconds_left)
    for player in present:
        await player.join(room)
    await late.is_turned_away(room, "a room whose last seat is kept for another player")
    await asyncio.sleep(kept.seconds_left + EARLY + LATE)
    if await clients.match(late.user, length) != room:
        raise Mismatch(f"a seat that is free again after {SEAT_SECONDS:g} s", "another room")
    await late.join(room)
    await (await clients.player()).is_turned_away(kept.forgotten, "a room that is forgotten")
