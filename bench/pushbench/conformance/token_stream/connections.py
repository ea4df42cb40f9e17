"""Connections: kept for many requests, not compressed, and no burden to others."""

from __future__ import annotations

from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.together import together
from pushbench.conformance.token_stream.clients import Clients

KEPT = 120
"""Requests on one connection. By default, some servers end a connection after 100."""
OFFERED = "gzip, deflate, br, zstd"


@rule("A connection is kept: it serves 120 requests one after another.")
async def connection_is_kept(clients: Clients) -> None:
    connection = await clients.connect()
    for number in range(1, KEPT + 1):
        connection.write(connection.request("GET", "/metricz"))  # never over another connection, as `ask` may
        answer = await connection.answer(f"request {number} of a connection")
        if answer.status != 200:
            raise Mismatch(f"status 200 for request {number} of a connection", answer.status)


@rule("Nothing is compressed, even when the client accepts it.")
async def compression_stays_off(clients: Clients) -> None:
    for path in (clients.path, "/metricz"):
        coding = (await clients.ask("GET", path, None, ("Accept-Encoding", OFFERED))).head.value("content-encoding")
        if coding not in ("", "identity"):
            raise Mismatch(f"no Content-Encoding of {path}", escaped(coding))


@rule("Connections that send half a request, garbage or nothing delay nobody.")
async def half_requests_delay_nobody(clients: Clients) -> None:
    beginnings = (
        b"",
        f"GET {clients.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAcc".encode(),
        f"GET {clients.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf".encode(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40),
        b"\x00" * 200 + b"\r\n\r\n",
    )

    async def begin(beginning: bytes) -> None:
        (await clients.connect()).write(beginning)

    await together(begin(beginning) for beginning in beginnings * 20)
    stream = await clients.stream()
    await stream.text()
