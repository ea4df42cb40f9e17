"""What remains of clients that leave: no work, no count, no socket."""

from __future__ import annotations

import asyncio
import time

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.token_stream.clients import Clients, Stream

WITHIN = 1.25
"""Seconds until the stream of a client that has left ends: 1 s, and a margin until a busy machine reports it."""
PACES = (1, 2, 50)
IDLE = 3.0
"""Seconds until the streams of the previous rule are gone."""

CLOSED = 5.0
"""Seconds until a server has closed the sockets of clients that have vanished."""


@rule('GET /metricz answers {"active_streams": n}: the streams that have begun and not ended.')
async def metricz_counts_the_streams(clients: Clients) -> None:
    await clients.wait_for_active(0, "the streams before have ended", IDLE)
    await together(_listen(clients, pace=1) for _ in range(7))
    await clients.wait_for_active(7, "seven streams have begun", WITHIN)
    await (await clients.stream()).rest()
    await clients.wait_for_active(7, "an eighth has ended", WITHIN)


@rule("A client that leaves stops the work for it within 1 s, whatever its pace and however it leaves.")
async def leaving_stops_the_work(clients: Clients) -> None:
    await clients.wait_for_active(0, "the streams before have ended", IDLE)
    streams = [await _listen(clients, pace) for pace in PACES for _ in range(2)]
    for number, stream in enumerate(streams):
        stream.connection.reset() if number % 2 else stream.connection.close()
    await clients.wait_for_active(0, "all clients have left", WITHIN)


@rule("A client that leaves as soon as it has asked for a stream leaves no work behind.")
async def leaving_at_once_leaves_no_work(clients: Clients) -> None:
    await clients.wait_for_active(0, "the streams before have ended", IDLE)
    await together(_ask_and_leave(clients, number) for number in range(20))
    await asyncio.sleep(0.1)  # the last one may not have begun yet
    await clients.wait_for_active(0, "all clients have left", WITHIN)


@rule("Connections that vanish with TCP resets leave no socket open in the server.")
async def resets_leave_no_socket(clients: Clients) -> None:
    before = clients.open_sockets()
    for stream in await together(_listen(clients, pace=10) for _ in range(50)):
        stream.connection.reset()
    deadline = time.monotonic() + CLOSED
    while (left := clients.open_sockets()) > before:
        if time.monotonic() > deadline:
            raise Mismatch(f"{before} open sockets, as before", left)
        await asyncio.sleep(0.02)


async def _ask_and_leave(clients: Clients, number: int) -> None:
    connection = await clients.connect()
    connection.write(connection.request("GET", clients.target_of(pace=1)))
    await asyncio.sleep(number * 0.0005)  # each at another moment of the request
    connection.reset() if number % 2 else connection.close()


async def _listen(clients: Clients, pace: int) -> Stream:
    """The stream of a client that has received its first character."""
    stream = await clients.stream(pace=pace)
    await stream.some(1)
    return stream
