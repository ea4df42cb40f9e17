"""Whether a server turns Nagle's algorithm off, seen from outside by the time between two small messages.

With Nagle's algorithm a server's kernel holds a small message back while an earlier one is not acknowledged. A member
that delays its acknowledgements then gets the second message when the delay ends: 40 ms after the first on Linux. A
member that acknowledges at once gets it at once. A server that is slow for another reason is slow for both members, so
the rule compares them and raises no alarm on a busy machine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.whiteboard.client import Client
from pushbench.conformance.whiteboard.clients import Clients

PAIRS = 20
"""Of each kind. They take 40 ms in all without Nagle's algorithm, and 0.9 s with it."""
HELD_SECONDS = 0.02
"""Half of the shortest delay of an acknowledgement (TCP_DELACK_MIN of Linux, 40 ms). Two messages in a row take less
than a millisecond."""
MOST = 3 / 4


@rule("A small message does not wait until the one before it is acknowledged: Nagle's algorithm is off.")
async def nagle_is_off(clients: Clients) -> None:
    board = clients.board()
    artist, member = await clients.members(board, 2)
    delayed, prompt = [], []
    for _ in range(PAIRS):
        delayed.append(await gap(artist, member, board, delay=True))
        prompt.append(await gap(artist, member, board, delay=False))
    if waits_for_acknowledgements(delayed, prompt):
        raise Mismatch(
            f"the second of two small messages within {HELD_SECONDS * 1000:g} ms of the first",
            f"{_median_ms(delayed)} where a member delays its acknowledgements, {_median_ms(prompt)} where it does not",
        )


async def gap(artist: Client, member: Client, board: str, *, delay: bool) -> float:
    """Seconds between two draws at a member. The second is sent when the first has arrived, so no server joins them."""
    member.delay_acknowledgements(delay=delay)
    await member.receives(await artist.draw(board))
    began = time.monotonic()
    await member.receives(await artist.draw(board))
    return time.monotonic() - began


def waits_for_acknowledgements(delayed: Sequence[float], prompt: Sequence[float]) -> bool:
    """Whether most second messages come late where acknowledgements are delayed, and most come soon where not."""
    return _held(delayed) >= MOST * len(delayed) and _held(prompt) <= (1 - MOST) * len(prompt)


def _held(gaps: Sequence[float]) -> int:
    return sum(seconds >= HELD_SECONDS for seconds in gaps)


def _median_ms(gaps: Sequence[float]) -> str:
    return f"{sorted(gaps)[len(gaps) // 2] * 1000:.1f} ms"
