"""How requests and answers share a connection."""

from __future__ import annotations

import asyncio

from pushbench.conformance.posts.clients import JSON_TYPE, Clients, Post, created, refused
from pushbench.conformance.rule import Mismatch, escaped, rule

CLOSINGS = 20
"""Reactor Netty 1.3.8 drops one in six requests with `Connection: close` that immediately follow an answer."""


@rule("A connection stays for the next request until one side says `Connection: close`, and then it ends.")
async def connection_is_kept(clients: Clients) -> None:
    connection = await clients.connect()
    for _ in range(5):
        no = await clients.create(connection, clients.post())
        await clients.read(connection, no)
        refused(await connection.ask("GET", "/post/0"), 404, "GET /post/0")
        if connection.opened != 1:
            raise Mismatch("one connection for good requests and unknown posts", "`Connection: close`")
    refused(await connection.ask("POST", "/post", b"{", JSON_TYPE), 400, "a body that is cut off")
    await clients.read(connection, no)  # over another connection if the last answer ended this one
    for _ in range(CLOSINGS):
        await connection.ask("GET", f"/post/{no}", None, ("Connection", "close"))
        await connection.is_ended("Connection: close")
        connection = await clients.connect()
        await clients.read(connection, no)


@rule("Requests that are sent without waiting for answers are answered in their order, and the connection goes on.")
async def pipelined_requests_are_answered_in_order(clients: Clients) -> None:
    connection = await clients.connect()
    posts = [clients.post() for _ in range(5)]
    numbers = [await clients.create(connection, post) for post in posts]
    requests = [connection.request("GET", f"/post/{no}") for no in numbers]
    more = clients.post()
    requests.insert(3, connection.request("POST", "/post", more.encode(), JSON_TYPE))
    connection.write(b"".join([*requests, connection.request("GET", "/healthz")]))
    expected: list[Post | None] = [*posts[:3], None, *posts[3:]]
    for post in expected:
        answer = await connection.answer("one of seven requests at once")
        if post is None:
            created(answer)
        else:
            match answer.json():
                case {"title": post.title}:
                    continue
            raise Mismatch(f"the answer with {post.title!r}", escaped(answer.body))
    # Before 1.3.8, Reactor Netty stops reading after a last request that needs no database (reactor-netty#4361).
    if (answer := await connection.answer("the last of seven requests at once")).status != 200:
        raise Mismatch("status 200 for GET /healthz", answer)
    await clients.has(connection, numbers[0], posts[0])


@rule("A request may arrive in any pieces, and its body in chunks.")
async def request_may_come_in_pieces(clients: Clients) -> None:
    connection = await clients.connect()
    post = clients.post()
    octets = connection.request("POST", "/post", post.encode(), JSON_TYPE)
    for at in range(0, len(octets), 7):
        connection.write(octets[at : at + 7])
        await asyncio.sleep(0.001)
    await clients.has(connection, created(await connection.answer("a request in pieces")), post)
    body = post.encode()
    connection.write(connection.head_of("POST", "/post", JSON_TYPE, ("Transfer-Encoding", "chunked")))
    for piece in (body[:1], body[1:11], body[11:]):
        connection.write(f"{len(piece):X}\r\n".encode() + piece + b"\r\n")
        await asyncio.sleep(0.001)
    connection.write(b"0\r\n\r\n")
    await clients.has(connection, created(await connection.answer("a body in chunks")), post)


@rule("Answers are never compressed, even when the client accepts that.")
async def compression_stays_off(clients: Clients) -> None:
    connection = await clients.connect()
    post = clients.post(9_000)
    no = await clients.create(connection, post)
    answer = await connection.ask("GET", f"/post/{no}", None, ("Accept-Encoding", "gzip, deflate, br, zstd"))
    if coding := answer.head.value("content-encoding"):
        raise Mismatch("no Content-Encoding", escaped(coding))
