"""Many positions, good and bad, cause no output."""

from __future__ import annotations

import asyncio

from pushbench.conformance.bounds import LOG_BOUND, too_much
from pushbench.conformance.location.clients import Clients
from pushbench.conformance.rule import Mismatch, rule

SHARED = 150
"""Positions, and the same number of refused ones: 150 lines of either kind would exceed 4 KiB. All together would
exceed the 8 KiB that may still be in the buffer of a program's standard output."""


@rule("150 positions, 150 that are refused and a member that leaves make a server print nothing.", limit_seconds=20)
async def no_log_line_per_position(clients: Clients) -> None:
    before = await clients.output_bytes()
    group = clients.group()
    member, leaver = await clients.member(group), await clients.member(group)
    for number in range(SHARED):
        await member.share()
        await member.is_refused("{" * (1 + number % 3), "a position that is no JSON")
    leaver.reset()
    await member.share()
    await asyncio.sleep(0.1)  # a log may be written by a separate thread
    if printed := too_much(before, await clients.output_bytes()):
        raise Mismatch(f"at most {LOG_BOUND:,} bytes of output", printed)
