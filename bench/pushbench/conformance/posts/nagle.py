"""Whether a server turns Nagle's algorithm off, measured from outside by the time between two small answers."""

from __future__ import annotations

import time

from pushbench.conformance.acknowledgements import HELD_SECONDS, PAIRS, are_waited_for, median_ms
from pushbench.conformance.connection import Connection
from pushbench.conformance.posts.clients import Clients
from pushbench.conformance.rule import Mismatch, rule


@rule("A small answer does not wait until the one before it is acknowledged: Nagle's algorithm is off.")
async def nagle_is_off(clients: Clients) -> None:
    connection = await clients.connect()
    delayed, prompt = [], []
    for _ in range(PAIRS):
        delayed.append(await gap(connection, delay=True))
        prompt.append(await gap(connection, delay=False))
    if are_waited_for(delayed, prompt):
        raise Mismatch(
            f"the second of two small answers within {HELD_SECONDS * 1000:g} ms of the first",
            f"{median_ms(delayed)} where a client delays its acknowledgements, {median_ms(prompt)} where it does not",
        )


async def gap(connection: Connection, *, delay: bool) -> float:
    """Seconds between the answers to two requests that were sent together."""
    connection.write(connection.request("GET", "/metricz") * 2)
    connection.acknowledge()  # of pending data; not before the requests, which may change the kernel's mode
    if delay:
        connection.delay_acknowledgements()
    await connection.answer("the first of two requests")
    began = time.monotonic()
    await connection.answer("the second of two requests")
    return time.monotonic() - began
