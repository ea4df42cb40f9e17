"""The rules about transports that push each position: a listener that leaves, and one that does not read."""

from __future__ import annotations

import asyncio
import time

from pushbench.conformance.location.clients import Clients
from pushbench.conformance.rule import Mismatch, rule

LEFT_WITHIN = 2.5
"""2 s in the contract, and a margin for a busy machine."""


@rule("Each position is told of, also where the same user shares the next one at once: 50 come in their order.")
async def each_position_is_told_of(clients: Clients) -> None:
    group = clients.group()
    reader, other = await clients.member(group), await clients.member(group)
    await reader.receives(*[await other.share() for _ in range(50)])


@rule("Who leaves, or loses its connection, is no listener 2 s later.")
async def leaving_is_noticed(clients: Clients) -> None:
    await _listeners(clients, 0)
    members = await clients.members(clients.group())
    await _listeners(clients, len(members))
    for member in members:
        member.reset()
    await _listeners(clients, 0)


async def _listeners(clients: Clients, count: int) -> None:
    """Wait until /metricz reports that many listeners."""
    deadline = time.monotonic() + LEFT_WITHIN
    while (present := (await clients.metrics())[1]) != count:
        if time.monotonic() > deadline:
            raise Mismatch(f"{count} listeners within {LEFT_WITHIN:g} s", present)
        await asyncio.sleep(0.05)
