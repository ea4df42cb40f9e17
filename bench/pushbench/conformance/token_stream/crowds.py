"""Many streams at once, and clients that do not read."""

from __future__ import annotations

import asyncio

from pushbench.conformance.bounds import within_bound
from pushbench.conformance.rule import rule
from pushbench.conformance.together import together
from pushbench.conformance.token_stream.clients import Clients
from pushbench.conformance.token_stream.delivery import is_character, numbered_from
from pushbench.conformance.token_stream.text import LAST

LISTENERS = 300
"""More than the default number of threads in servers with one thread per request."""
MIXED = 100
SLOW_READERS = 100
"""Each with a stream of 8 kB, half of them paced."""


@rule("300 paced streams at the same time all begin at once, and one without a pause beside them is whole.")
async def three_hundred_streams_begin_at_once(clients: Clients) -> None:
    async def listen() -> None:
        await (await clients.stream(pace=1, within=5)).some(1)

    await together(listen() for _ in range(LISTENERS))
    numbered_from(0, await (await clients.stream()).text())


@rule("100 streams from different characters on, all at once, each are whole, and none gets events of another.")
async def streams_are_not_mixed(clients: Clients) -> None:
    async def check(last: int) -> None:
        events = await (await clients.stream(last=last, within=5)).text(within=5)
        numbered_from(last + 1, events)
        for number, event in enumerate(events, last + 1):
            is_character(number, event)

    await together(check(number * (LAST - 1) // MIXED) for number in range(MIXED))


@rule("100 clients that ask for a stream and do not read it delay nobody, and cost at most 64 MiB.", limit_seconds=20)
async def slow_readers_harm_nobody(clients: Clients) -> None:
    await (await clients.stream()).text()
    memory = clients.usage()

    async def ask(number: int) -> None:
        slow = await clients.connect(receive_buffer=4096)
        slow.stop_reading()
        slow.write(slow.request("GET", clients.target_of(1000 if number % 2 else None)))

    await together(map(ask, range(SLOW_READERS)))
    for _ in range(3):
        numbered_from(0, await (await clients.stream()).text())
        await asyncio.sleep(0.05)
    within_bound(memory, clients.usage())
