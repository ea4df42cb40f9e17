"""Many posts at once: none is lost, mixed up or logged."""

from __future__ import annotations

import asyncio

from pushbench.conformance.bounds import LOG_BOUND, too_much
from pushbench.conformance.connection import Connection
from pushbench.conformance.posts.clients import JSON_TYPE, Clients, Post
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together

CLIENTS, EACH = 30, 10
PATIENCE = 10.0
"""Seconds until one of many answers: all clients share the ten connections of the pool."""
POOL = 10
REQUESTS = 600
"""A line of 40 characters for each is 24,000 bytes, far above LOG_BOUND."""


@rule(
    "30 clients that post at once all get 201, and the table then has each of their 300 posts, as it was sent, once.",
    limit_seconds=30,
)
async def every_201_is_a_row(clients: Clients) -> None:
    before = await clients.count()

    async def posting(connection: Connection) -> dict[int, Post]:
        made = {}
        for _ in range(EACH):
            post = clients.post()
            made[await clients.create(connection, post, PATIENCE)] = post
        return made

    made = await together(posting(connection) for connection in await clients.connections(CLIENTS))
    posts = {no: post for each in made for no, post in each.items()}
    if len(posts) != CLIENTS * EACH:
        raise Mismatch(f"{CLIENTS * EACH} numbers", f"{len(posts)} different ones")
    rows = await clients.rows(*posts)
    for no, post in posts.items():
        if rows.get(no) != post:
            raise Mismatch(f"row {no} with {post.title!r}", rows.get(no, "no such row"))
    if (added := await clients.count() - before) != len(posts):
        raise Mismatch(f"{len(posts)} new rows", added)


@rule("A server has at most ten connections to its database, and uses them at the same time.", limit_seconds=30)
async def pool_has_ten_connections(clients: Clients) -> None:
    connections = await clients.connections(CLIENTS)

    async def posting(connection: Connection) -> None:
        for _ in range(EACH):
            await clients.create(connection, clients.post(), PATIENCE)

    work = asyncio.gather(*map(posting, connections))
    most = 0
    try:
        while not work.done():
            most = max(most, await clients.database_connections())
    finally:
        await asyncio.wait([work])
    await work
    if not 2 <= most <= POOL:
        raise Mismatch(f"2 to {POOL} connections to the database under load", most)


@rule("600 requests, refused ones among them, make a server print nothing: no log line per request.", limit_seconds=30)
async def no_log_line_per_request(clients: Clients) -> None:
    connections = await clients.connections(4)
    no = await clients.create(connections[0], clients.post())
    before = await clients.output_bytes()

    async def asking(connection: Connection) -> None:
        requests = (
            [("GET", f"/post/{no}", None)] * 64
            + [("POST", "/post", clients.post().encode())] * 5
            + [("POST", "/post", b"{"), ("GET", "/post/0", None), ("PUT", "/post", b"{}")] * 27
        )
        for method, path, body in requests:
            await connection.ask(method, path, body, JSON_TYPE)

    await together(map(asking, connections))
    await asyncio.sleep(0.1)  # a log may be written by a separate thread
    if printed := too_much(before, await clients.output_bytes()):
        raise Mismatch(f"at most {LOG_BOUND:,} bytes of output during {REQUESTS:,} requests", printed)
