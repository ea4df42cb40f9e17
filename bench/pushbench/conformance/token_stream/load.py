"""Many requests, good and bad, cause no output."""

from __future__ import annotations

import asyncio

from pushbench.conformance.bounds import LOG_BOUND, too_much
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.token_stream.clients import Clients
from pushbench.conformance.token_stream.text import LAST

AT_ONCE, EACH = 5, 30
"""Concurrent clients, and the number of short streams and of refused requests for each. 150 lines of either kind would
be 4 KiB. All together would exceed the 8 KiB that may still be in the buffer of a program's standard output."""
LEAVING = 20
"""Clients that leave; a server might print a stack trace for each broken connection."""


@rule("150 streams, 150 refused requests and 20 clients that leave make a server print nothing.", limit_seconds=20)
async def no_log_line_per_request(clients: Clients) -> None:
    before = await clients.output_bytes()
    await together(_ask(clients) for _ in range(AT_ONCE))
    for number in range(LEAVING):
        stream = await clients.stream(pace=100)
        await stream.some(1)
        stream.connection.reset() if number % 2 else stream.connection.close()
    await asyncio.sleep(0.1)  # a log may be written by a separate thread
    if printed := too_much(before, await clients.output_bytes()):
        raise Mismatch(f"at most {LOG_BOUND:,} bytes of output", printed)


async def _ask(clients: Clients) -> None:
    connection = await clients.connect()
    for number in range(EACH):
        await (await clients.stream(last=LAST - 5, connection=connection)).rest()
        method, path = (("GET", "/nothing-here"), ("GET", clients.target_of("x")), ("POST", clients.path))[number % 3]
        await connection.ask(method, path, b"")
        await connection.renew()
