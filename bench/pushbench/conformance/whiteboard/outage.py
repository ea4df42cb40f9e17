"""What a server that needs a backing service makes of its loss: only the draws of that time may be lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Set

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.whiteboard.client import Client
from pushbench.conformance.whiteboard.clients import Clients

RECOVERY_SECONDS = 5.0
OUTAGE_SECONDS = 1.0


@rule(
    "When a backing service dies and comes back, members get what is sent then, without joining again.",
    needs_services=True,
    limit_seconds=60,
)
async def outage_of_a_service_is_survived(clients: Clients) -> None:
    board = clients.board()
    artist, *others = await clients.members(board, 12)  # some in every worker
    for service in clients.target.services:
        with contextlib.ExitStack() as outage:
            await asyncio.to_thread(outage.enter_context, service.outage())
            for _ in range(10):
                await artist.draw(board)
                await asyncio.sleep(OUTAGE_SECONDS / 10)
            await asyncio.to_thread(outage.close)
        await _reached_again(artist, others, board)
    latecomer = await clients.member(board, within=RECOVERY_SECONDS)
    await _received(latecomer, {await artist.draw(board)})


async def _reached_again(artist: Client, others: list[Client], board: str) -> None:
    fresh: set[str] = set()

    async def drawing() -> None:
        while True:
            draw = artist.next_draw(board)
            fresh.add(draw)
            await artist.say(board, draw)
            await asyncio.sleep(0.1)

    source = asyncio.create_task(drawing())
    try:
        async with asyncio.timeout(RECOVERY_SECONDS):
            await together(_received(member, fresh) for member in others)
    except TimeoutError:
        raise Mismatch(f"draws at every member within {RECOVERY_SECONDS:g} s of the service's return", "none") from None
    finally:
        source.cancel()


async def _received(member: Client, fresh: Set[str]) -> None:
    """Older draws may come first: they waited for the service."""
    while await member.next_drawn("a draw sent after the outage", RECOVERY_SECONDS) not in fresh:
        pass
