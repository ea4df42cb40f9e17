"""Many messages, good and bad: none is logged, and none is delayed until TCP acknowledges another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

from pushbench.conformance.acknowledgements import HELD_SECONDS, PAIRS, are_waited_for, median_ms
from pushbench.conformance.bounds import LOG_BOUND, too_much
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.typing_game.clients import Clients
from pushbench.conformance.typing_game.player import WRONG, Player

LOGGED = 1_000
"""Keystrokes, and the same number of refused ones: lines of either kind would exceed 4 KiB. All together would exceed
the 8 KiB that may still be in the buffer of a program's standard output."""


@rule("1,000 keystrokes, 1,000 that are refused and a player that leaves make a server print nothing.")
async def no_log_line_per_message(clients: Clients) -> AsyncGenerator[None]:
    typist, leaver, *_ = await clients.game()
    yield
    before = await clients.output_bytes()
    for _ in range(LOGGED):
        state = await typist.type(WRONG)
        await typist.say("pvp:keystrokes", {})
        await typist.receives(state)
        await typist.is_refused("keystrokes without anything")
    await clients.post("{")
    await clients.leaves(leaver)
    await asyncio.sleep(0.1)  # a log may be written by a separate thread
    if printed := too_much(before, await clients.output_bytes()):
        raise Mismatch(f"at most {LOG_BOUND:,} bytes of output", printed)


@rule("A small message does not wait until the one before it is acknowledged: Nagle's algorithm is off.")
async def nagle_is_off(clients: Clients) -> AsyncGenerator[None]:
    typist, player, *_ = await clients.game()
    yield
    late, prompt = [], []
    for _ in range(PAIRS):
        late.append(await gap(typist, player, late=True))
        prompt.append(await gap(typist, player, late=False))
    if are_waited_for(late, prompt):
        raise Mismatch(
            f"the second of two small messages within {HELD_SECONDS * 1000:g} ms of the first",
            f"{median_ms(late)} where a player delays its acknowledgements, {median_ms(prompt)} where it does not",
        )


async def gap(typist: Player, player: Player, *, late: bool) -> float:
    """Seconds between two states at a player. The second key is typed when the first state has arrived."""
    player.acknowledge(late=late)
    await player.receives(await typist.type(WRONG))
    began = time.monotonic()
    await player.receives(await typist.type(WRONG))
    return time.monotonic() - began
