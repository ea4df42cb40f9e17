"""Whether a server turns Nagle's algorithm off."""

from __future__ import annotations

import time

from pushbench.conformance.acknowledgements import HELD_SECONDS, PAIRS, are_waited_for, median_ms
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.whiteboard.client import Client
from pushbench.conformance.whiteboard.clients import Clients


@rule("A small message does not wait until the one before it is acknowledged: Nagle's algorithm is off.")
async def nagle_is_off(clients: Clients) -> None:
    board = clients.board()
    artist, member = await clients.members(board, 2)
    delayed, prompt = [], []
    for _ in range(PAIRS):
        delayed.append(await gap(artist, member, board, delay=True))
        prompt.append(await gap(artist, member, board, delay=False))
    if are_waited_for(delayed, prompt):
        raise Mismatch(
            f"the second of two small messages within {HELD_SECONDS * 1000:g} ms of the first",
            f"{median_ms(delayed)} where a member delays its acknowledgements, {median_ms(prompt)} where it does not",
        )


async def gap(artist: Client, member: Client, board: str, *, delay: bool) -> float:
    """Seconds between two draws at a member. The second is sent when the first has arrived, so no server joins them."""
    member.delay_acknowledgements(delay=delay)
    await member.receives(await artist.draw(board))
    began = time.monotonic()
    await member.receives(await artist.draw(board))
    return time.monotonic() - began
