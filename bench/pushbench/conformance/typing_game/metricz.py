"""A server's report about itself."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping

from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.together import together
from pushbench.conformance.typing_game.clients import SEATS, Clients
from pushbench.conformance.typing_game.player import PROMPT

WINDOW = 1.0
"""Seconds of the window that /metricz reports."""
MOST_DELAY = 60.0
"""Seconds: a larger value must be in other units."""


async def counts(clients: Clients) -> tuple[int, int]:
    """The rooms and the players in /metricz."""
    told = await clients.metrics()
    match told:
        case {"rooms": int(rooms), "players": int(players)}:
            return rooms, players
    raise Mismatch('{"rooms": 0, "players": 0}, or other numbers', escaped(json.dumps(told)))


async def come_to_be(clients: Clients, most_rooms: int, players: int, when: str) -> None:
    """Wait until the counts are reached. Other rules' rooms may vanish in the meantime, so there may be fewer rooms."""
    deadline = time.monotonic() + PROMPT
    while (seen := await counts(clients))[0] > most_rooms or seen[1] != players:
        if time.monotonic() > deadline:
            raise Mismatch(f"{most_rooms} rooms and {players} players {when}", f"{seen[0]} and {seen[1]}")
        await asyncio.sleep(0.02)


@rule("/metricz counts rooms and players; a game that all have left, or that is over, is no room any more.")
async def metricz_counts_rooms_and_players(clients: Clients) -> AsyncGenerator[None]:
    yield
    others = await clients.settled()
    left, finished = await together(clients.game() for _ in range(2))
    rooms, players = await counts(clients)
    least = others // SEATS + 2
    if rooms < least or players != others + 2 * SEATS:
        expected = f"at least {least} rooms and {others + 2 * SEATS} players with two further games"
        raise Mismatch(expected, f"{rooms} and {players}")
    await clients.leaves(*left)
    await come_to_be(clients, rooms - 1, others + SEATS, "when the players of one game have left")
    for player in finished:
        await player.finish()
    await come_to_be(clients, rooms - 2, others, "when the other game is over")


def delay_in(told: Mapping[str, object]) -> tuple[float, float] | None:
    """p50 and p99 in seconds; None if the runtime does not provide them."""
    match told.get("event_loop_delay"):
        case {"p50": None, "p99": None}:
            return None
        case {"p50": float() | int() as p50, "p99": float() | int() as p99} if 0 <= p50 <= p99 < MOST_DELAY:
            return p50, p99
        case other:
            raise Mismatch("an event_loop_delay with p50 and p99 in seconds, or null", escaped(json.dumps(other)))


@rule(
    "/metricz tells p50 and p99 of the event loop's delay in the last second, or null, and anew each second.",
    beside_others=True,
)
async def metricz_tells_the_delay(clients: Clients) -> None:
    if delay_in(await clients.metrics()) is None:
        await asyncio.sleep(2 * WINDOW)  # no window may have ended yet
        if delay_in(await clients.metrics()) is None:
            return
    before = delay_in(await clients.metrics())
    deadline = time.monotonic() + WINDOW + PROMPT
    while delay_in(await clients.metrics()) == before:
        if time.monotonic() > deadline:
            raise Mismatch("another delay in another second", before)
        await asyncio.sleep(0.05)
