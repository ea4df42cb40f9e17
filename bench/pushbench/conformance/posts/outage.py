"""How a server handles the loss of its database."""

from __future__ import annotations

import asyncio
import contextlib
import time

from pushbench.conformance.connection import Connection
from pushbench.conformance.posts.clients import JSON_TYPE, Clients, refused
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together

ANSWER_SECONDS = 5.0
RECOVERY_SECONDS = 6.0
"""HikariCP increases its wait from one connection attempt to the next."""


@rule(
    "While the database is away every request for posts is 503 with JSON within 5 s; afterwards they work again, "
    "without a restart, and every post that was created is still there.",
    needs_services=True,
    limit_seconds=40,
)
async def outage_of_the_database_is_survived(clients: Clients) -> None:
    connections = await clients.connections(15)  # more than the pool has
    posts = {await clients.create(connection, post): post for connection in connections for post in [clients.post()]}
    first = next(iter(posts))

    async def asking(number: int, connection: Connection) -> None:
        if number % 2:
            answer = await connection.ask("GET", f"/post/{first}", within=ANSWER_SECONDS)
        else:
            answer = await connection.ask("POST", "/post", clients.post().encode(), JSON_TYPE, within=ANSWER_SECONDS)
        refused(answer, 503, "a request while the database is away")

    with contextlib.ExitStack() as outage:
        await asyncio.to_thread(outage.enter_context, clients.database.outage())
        await together(asking(number, connection) for number, connection in enumerate(connections))
        await asyncio.to_thread(outage.close)
    back = time.monotonic()
    await together(_works_again(clients, connection, back + RECOVERY_SECONDS) for connection in connections)
    for no, post in posts.items():
        await clients.has(connections[0], no, post)


async def _works_again(clients: Clients, connection: Connection, until: float) -> None:
    """Check that a post can be created on the connection that was open all the time."""
    while True:
        answer = await connection.ask("POST", "/post", clients.post().encode(), JSON_TYPE, within=ANSWER_SECONDS)
        if answer.status == 201:
            return
        if time.monotonic() > until:
            raise Mismatch(f"posts to be created within {RECOVERY_SECONDS:g} s of the database's return", answer)
        await asyncio.sleep(0.1)
