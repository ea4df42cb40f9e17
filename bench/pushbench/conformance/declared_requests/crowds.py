"""Many clients at once, and clients that leave or do not read."""

from __future__ import annotations

from pushbench.conformance.bounds import within_bound
from pushbench.conformance.declared_requests.clients import Asker, Clients
from pushbench.conformance.rule import rule
from pushbench.conformance.together import together

CROWD, WITHIN = 200, 10.0
"""Clients, and seconds until the answer of each has begun."""
LEAVING, STAYING = 10, 10
SLOW = 20
RECEIVE_BUFFER = 4096
"""Bytes: little room in the kernel for unread data."""


@rule(
    "200 clients that ask at once all have an answer that has begun within 10 s, and then all of it.", limit_seconds=60
)
async def two_hundred_ask_at_once(clients: Clients) -> None:
    askers = await clients.askers(CROWD)

    async def ask(asker: Asker) -> None:
        clients.whole(await asker.ask(WITHIN))

    await together(map(ask, askers))


@rule("When half of the clients vanish with TCP resets, the others get all that they are owed.", limit_seconds=60)
async def resets_harm_nobody(clients: Clients) -> None:
    leaving, staying = await clients.askers(LEAVING), await clients.askers(STAYING)

    async def leave(asker: Asker) -> None:
        await asker.begin(asker.send())
        asker.connection.reset()

    async def stay(asker: Asker) -> None:
        clients.whole(await asker.ask())

    await together([*map(leave, leaving), *map(stay, staying)])
    clients.whole(await (await clients.asker()).ask())


@rule("20 clients that ask and do not read delay nobody, and cost at most 64 MiB.", limit_seconds=60)
async def slow_readers_harm_nobody(clients: Clients) -> None:
    clients.whole(await (await clients.asker()).ask())
    memory = clients.usage()
    for _ in range(SLOW):
        slow = await clients.asker(receive_buffer=RECEIVE_BUFFER)
        slow.connection.stop_reading()
        slow.send()
    for _ in range(3):
        clients.whole(await (await clients.asker()).ask())
    within_bound(memory, clients.usage())
