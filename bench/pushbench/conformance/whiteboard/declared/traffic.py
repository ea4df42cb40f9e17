"""A small load in three groups, and all its results. The rules about deliveries judge it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pushbench.conformance.together import together
from pushbench.conformance.whiteboard.client import Client
from pushbench.conformance.whiteboard.declared.talker import Delivered
from pushbench.conformance.whiteboard.inbox import Closed, Event

if TYPE_CHECKING:
    from pushbench.conformance.whiteboard.declared.clients import Clients

SIZES = {"1": 10, "10": 3, "2": 3}
"""Members of each group, by the suffix of its name: one name is a prefix of another."""
SENDERS = 3
"""of each group"""
MESSAGES = 120
"""of each sender, without a pause: enough for a server with several threads to mix up their order"""
PATIENCE = 5.0
"""seconds without news until missing messages count as lost"""


@dataclass
class Member:
    """What arrived at a client, in order."""

    name: str
    group: str
    events: list[Event] = field(default_factory=list)
    closed: Closed | None = None

    @property
    def deliveries(self) -> Iterator[Delivered]:
        return (event for event in self.events if isinstance(event, Delivered))

    @property
    def rest(self) -> Iterator[Event]:
        """All events except deliveries."""
        return (event for event in self.events if not isinstance(event, Delivered))


@dataclass(frozen=True)
class Traffic:
    members: Sequence[Member]
    sent: dict[str, dict[str, list[str]]]
    """the messages, in the order of each sender, by group and sender"""


async def play(clients: Clients) -> Traffic:
    """Generate the load. Raises Mismatch if the clients do not become members."""
    prefix = clients.board()
    groups = {f"{prefix}-{end}": size for end, size in SIZES.items()}
    joined = await together(clients.members(group, size) for group, size in groups.items())
    talkers = dict(zip(groups, joined, strict=True))
    present = [(each, Member(each.user, group)) for group, those in talkers.items() for each in those]
    senders = [(each, group) for group, those in talkers.items() for each in those[:SENDERS]]
    said = await together(_speak(each, group) for each, group in senders)
    sent: dict[str, dict[str, list[str]]] = {group: {} for group in groups}
    for (each, group), messages in zip(senders, said, strict=True):
        sent[group][each.user] = messages
    receivers = sum(size - clients.declaration.message.others for size in groups.values())
    await _listen(present, SENDERS * MESSAGES * receivers)
    return Traffic([member for _, member in present], sent)


async def _speak(talker: Client, group: str) -> list[str]:
    messages = []
    for _ in range(MESSAGES):
        messages.append(await talker.draw(group))
        await asyncio.sleep(0)  # lets the others run
    return messages


async def _listen(present: Sequence[tuple[Client, Member]], due: int) -> None:
    """Wait until nothing more arrives."""
    heard, news = 0, time.monotonic()
    while time.monotonic() - news < (PATIENCE if heard < due else 0.1):
        for client, member in present:
            if events := client.inbox.drain():
                member.events += events
                heard, news = heard + len(events), time.monotonic()
        await asyncio.sleep(0.01)
    for client, member in present:
        member.closed = client.inbox.closed
