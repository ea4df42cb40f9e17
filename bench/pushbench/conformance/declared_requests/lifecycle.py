"""How a server ends."""

from __future__ import annotations

import asyncio

from pushbench.conformance.declared_requests.clients import Clients
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.waiting import only_waits

EXIT_SECONDS = 5.0
READERS = 10


@rule(
    "The process exits within 5 s after SIGTERM, even with answers that are not complete and a client that does not "
    "read.",
    final=True,
    limit_seconds=30,
)
async def sigterm_exits_within_5_seconds(clients: Clients) -> None:
    for asker in await clients.askers(READERS):
        asker.send()
    silent = await clients.asker(receive_buffer=4096)
    silent.connection.stop_reading()
    silent.send()
    await asyncio.sleep(0.1)  # so that the server has read the requests
    only_waits()
    ended = await asyncio.to_thread(clients.target.terminate, 8.0)
    if ended.seconds > EXIT_SECONDS:
        raise Mismatch("an exit within 5 s", f"{ended.seconds:.1f} s")
