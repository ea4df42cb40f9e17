"""How a server handles the loss of a backing service: only the draws during the loss may be lost.

Some servers cannot keep their clients through it, as `server.yml` declares. These close each connection properly.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Set

from websockets.exceptions import WebSocketException

from pushbench.conformance import http
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.whiteboard.client import Client
from pushbench.conformance.whiteboard.clients import Clients

RECOVERY_SECONDS = 5.0
OUTAGE_SECONDS = 1.0
RETURN_SECONDS = 7.0
"""Spring's relay tries to reconnect to its broker every 5 s."""
ABNORMAL = 1006
"""The code of a connection that ended without a closing handshake."""


@rule(
    "When a backing service dies and comes back, members get what is sent then, without joining again.",
    needs_services=True,
    outage="keeps-clients",
    limit_seconds=60,
)
async def outage_of_a_service_is_survived(clients: Clients) -> None:
    board = clients.board()
    artist, *others = await clients.members(board, 12)  # so that every worker has some
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


@rule(
    "When a backing service dies, all clients are closed and the server is unhealthy; when it is back, they may join.",
    needs_services=True,
    outage="ends-connections",
    limit_seconds=60,
)
async def outage_of_a_service_ends_connections(clients: Clients) -> None:
    board = clients.board()
    for service in clients.target.services:
        members = await clients.members(board, 12)
        with contextlib.ExitStack() as outage:
            await asyncio.to_thread(outage.enter_context, service.outage())
            for member in members:
                closed = await member.is_closed("the loss of a service")
                if closed.code == ABNORMAL:
                    raise Mismatch("a closing handshake when a service is lost", closed)
            answer = await http.get(clients.target.url, "/healthz")
            if answer.status == 200:
                raise Mismatch("a /healthz other than 200 while a service is away", answer.status)
            await asyncio.to_thread(outage.close)
        artist, *others = await together(_returned(clients, board, member.user) for member in members)
        draw = await artist.draw(board)
        for member in others:
            await member.receives(draw)


async def _returned(clients: Clients, board: str, user: str) -> Client:
    try:
        async with asyncio.timeout(RETURN_SECONDS):
            while True:
                with contextlib.suppress(Mismatch, OSError, WebSocketException):
                    return await clients.member(board, user=user)
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise Mismatch(f"a member again within {RETURN_SECONDS:g} s of the service's return", "none") from None


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
    """Wait for a draw of `fresh`. Older draws may arrive first: they waited for the service."""
    while await member.next_drawn("a draw sent after the outage", RECOVERY_SECONDS) not in fresh:
        pass
