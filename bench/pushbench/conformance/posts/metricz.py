"""The server's report about its pool and its threads."""

from __future__ import annotations

import asyncio
import time

from pushbench.conformance.connection import Connection
from pushbench.conformance.posts.clients import Clients
from pushbench.conformance.rule import Mismatch, escaped, rule

NAMES = ("pool_size", "pool_active", "pool_waiting", "threads")
POOL = 10
CLIENTS = 30
SETTLED_SECONDS = 2.0


async def metrics(connection: Connection) -> dict[str, int | None]:
    """The values in /metricz. Raises Mismatch unless they have the form of the contract."""
    answer = await connection.ask("GET", "/metricz")
    said = answer.json()
    if answer.status != 200 or not isinstance(said, dict) or sorted(said) != sorted(NAMES):
        raise Mismatch(f"status 200 with {', '.join(NAMES)}", answer)
    for name, value in said.items():
        if value is not None and (type(value) is not int or value < 0):
            raise Mismatch(f"a count or null as {name}", escaped(answer.body))
    if said["pool_size"] != POOL:
        raise Mismatch(f'"pool_size":{POOL}', escaped(answer.body))
    return said


@rule("GET /metricz tells the pool's size, ten, how much of it is in use, who waits, and the threads.")
async def metricz_tells_the_pool(clients: Clients) -> None:
    await metrics(await clients.connect())


@rule("/metricz answers under load, sees the pool in use then, and at rest again afterwards.", limit_seconds=30)
async def metricz_follows_the_load(clients: Clients) -> None:
    witness = await clients.connect()

    async def posting(connection: Connection) -> None:
        for _ in range(8):
            await clients.create(connection, clients.post(), within=10)

    work = asyncio.gather(*map(posting, await clients.connections(CLIENTS)))
    seen = []
    try:
        while not work.done():
            seen.append(await metrics(witness))
    finally:
        await asyncio.wait([work])
    await work
    active = [each["pool_active"] for each in seen if each["pool_active"] is not None]
    if active and not 1 <= max(active) <= POOL:
        raise Mismatch(f"pool_active of 1 to {POOL} while {CLIENTS} clients post", f"at most {max(active)}")
    await comes_to_rest(witness)


async def comes_to_rest(witness: Connection) -> None:
    """Raises Mismatch unless the pool is soon unused, and no request waits for it."""
    deadline = time.monotonic() + SETTLED_SECONDS
    while (rest := await metrics(witness))["pool_active"] or rest["pool_waiting"]:
        if time.monotonic() > deadline:
            raise Mismatch("a pool at rest when nobody asks", rest)
        await asyncio.sleep(0.02)
