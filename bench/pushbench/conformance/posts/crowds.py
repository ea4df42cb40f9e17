"""Clients that vanish, and clients that do not read."""

from __future__ import annotations

import asyncio

from pushbench.conformance.bounds import MIB, within_bound
from pushbench.conformance.connection import Connection
from pushbench.conformance.posts.clients import JSON_TYPE, Clients, Post, collected
from pushbench.conformance.posts.metricz import comes_to_rest
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together

UNREAD = 128 * MIB
"""Bytes of unread answers."""
SETTLED_SECONDS = 5.0


@rule("Clients that reset their connections in the middle of a request harm nobody and leave nothing behind.")
async def resets_leave_nothing(clients: Clients) -> None:
    witness = await clients.connect()
    await clients.create(witness, clients.post())
    before = clients.open_sockets()

    async def vanish(connection: Connection, request: bytes) -> None:
        connection.write(request)
        await asyncio.sleep(0.005)
        connection.reset()

    for _ in range(3):
        victims = await clients.connections(20)
        whole = [victim.request("POST", "/post", clients.post().encode(), JSON_TYPE) for victim in victims]
        requests = [octets if number % 2 else octets[:-9] for number, octets in enumerate(whole)]
        await together(map(vanish, victims, requests))
        await clients.create(witness, clients.post())
    # The pool may have opened connections in the meantime.
    if not await collected(lambda: clients.open_sockets() <= before + 10, SETTLED_SECONDS):
        raise Mismatch(f"{before} open sockets, as before, and those of the pool", clients.open_sockets())
    await comes_to_rest(witness)


@rule("Clients that do not read what they asked for cost bounded memory and delay nobody.", limit_seconds=30)
async def slow_readers_cost_bounded_memory(clients: Clients) -> None:
    witness = await clients.connect()
    content = "\u4f60" * 9_900
    no = await clients.create(witness, Post("large", content))
    memory = clients.usage()
    deaf = [await clients.connect(receive_buffer=4096) for _ in range(2)]
    for connection in deaf:
        asks = UNREAD // len(content.encode()) // len(deaf)
        connection.write(connection.request("GET", f"/post/{no}") * asks)
    for _ in range(20):
        post = clients.post()
        await clients.has(witness, await clients.create(witness, post), post)
        await asyncio.sleep(0.02)
    within_bound(memory, clients.usage())
