"""When a client's membership begins and ends, if the protocol defines it."""

from __future__ import annotations

import asyncio

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.whiteboard.declared.clients import Clients
from pushbench.conformance.whiteboard.declared.talker import SETTLE, acknowledges_joins
from pushbench.conformance.whiteboard.inbox import Drawn
from pushbench.conformance.whiteboard.membership import newcomers_receive


@rule("A client whose join was acknowledged receives every message that anyone sends from then on.")
async def joined_means_subscribed(clients: Clients) -> None:
    clients.require(acknowledges_joins(clients.declaration), "join.acknowledged")
    await newcomers_receive(clients)


@rule("A client that left its group receives no more of its messages.")
async def leaving_ends_deliveries(clients: Clients) -> None:
    clients.require(clients.declaration.leave, "leave")
    group = clients.board()
    artist, witness, member = await clients.members(group, 3)
    await member.leave(group)
    await asyncio.sleep(SETTLE)
    await witness.receives(await artist.draw(group))
    await asyncio.sleep(SETTLE)
    if member.inbox.has(Drawn):
        raise Mismatch("no message at a client that left", member.inbox)
