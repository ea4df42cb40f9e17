"""What a client may send, or do to its connection, without harm to other clients."""

from __future__ import annotations

import asyncio
import contextlib

from pushbench.conformance.connection import Closed, Connection
from pushbench.conformance.posts.clients import JSON_TYPE, Clients, created, refused
from pushbench.conformance.rule import Mismatch, rule

BROKEN = {
    "garbage": b"\x00" * 50 + b"\r\n\r\n",
    "no method": b" /post HTTP/1.1\r\nHost: x\r\n\r\n",
    "a header without a colon": b"GET /healthz HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n",
    "a length that is no number": b"POST /post HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
    "a negative length": b"POST /post HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    "two lengths": b"POST /post HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a chunk without a size": b"POST /post HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
}


@rule("What is no request of HTTP/1.1 is answered with an error or by the connection's end, and creates nothing.")
async def broken_request_harms_nobody(clients: Clients) -> None:
    witness = await clients.connect()
    for what, octets in BROKEN.items():
        culprit = await clients.connect()
        culprit.write(octets)
        with contextlib.suppress(Closed):
            answer = await culprit.answer(what)
            if not 400 <= answer.status < 600:
                raise Mismatch(f"an error for {what}", answer)
        await clients.create(witness, clients.post())


@rule("JSON at the edge of what parsers take (depth, digits, keys) is 400 or ignored, and harms nobody.")
async def extreme_json_harms_nobody(clients: Clients) -> None:
    witness = await clients.connect()
    post = clients.post()
    fields = post.encode()[:-1].decode()
    many = ",".join(f'"f{number}":0' for number in range(5_000))
    for case, text in {
        "20,000 opening brackets": "[" * 20_000,
        "10,000 opening objects": '{"a":' * 10_000,
        "a field 10,000 arrays deep": f'{fields},"note":{"[" * 10_000}{"]" * 10_000}}}',
        "a number of 20,000 digits": f'{fields},"note":{"9" * 20_000}}}',
        "a number of 1e999": f'{fields},"note":1e999}}',
        "5,000 fields": f"{fields},{many}}}",
    }.items():
        connection = await clients.connect()
        answer = await connection.ask("POST", "/post", text.encode(), JSON_TYPE)
        if answer.status == 201:
            await clients.has(witness, created(answer), post)
        else:
            refused(answer, 400, case)
        await clients.create(witness, clients.post())


@rule("Connections that send half a request, or nothing, delay nobody.")
async def half_requests_delay_nobody(clients: Clients) -> None:
    async def idle(beginning: bytes) -> Connection:
        connection = await clients.connect()
        connection.write(beginning)
        return connection

    post = b'POST /post HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"title":'
    for beginning in (b"", b"GET /hea", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40), post) * 20:
        await idle(beginning)
    try:
        async with asyncio.timeout(3):
            connection = await clients.connect()
            post_of_own = clients.post()
            await clients.has(connection, await clients.create(connection, post_of_own), post_of_own)
    except TimeoutError:
        raise Mismatch("a new client to be served within 3 s", "none served") from None
