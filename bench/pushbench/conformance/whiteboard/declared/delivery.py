"""The effect of a message: one delivery to each member of its group, unchanged and in order.

All of these rules judge the same small load.
"""

from __future__ import annotations

from collections import Counter

from pushbench.catalog.templates import values
from pushbench.conformance.rule import Mismatch, NotAsked, rule
from pushbench.conformance.whiteboard.declared.clients import Clients
from pushbench.conformance.whiteboard.declared.traffic import Member, Traffic

LIMIT_SECONDS = 40
"""for the load, which the first of the rules generates"""


@rule("A message reaches every other member of its group.", limit_seconds=LIMIT_SECONDS)
async def message_reaches_every_member(clients: Clients) -> None:
    for member, sender, messages in _owed(await clients.traffic()):
        if sender != member.name:
            _has_all(member, messages)


@rule("A message reaches its own sender, too, or never where `receivers` is `others`.", limit_seconds=LIMIT_SECONDS)
async def sender_receives_as_declared(clients: Clients) -> None:
    for member, sender, messages in _owed(await clients.traffic()):
        if sender != member.name:
            continue
        if not clients.declaration.message.others:
            _has_all(member, messages)
        elif own := next((each for each in member.deliveries if each.text in set(messages)), None):
            raise Mismatch(f"nothing of its own messages at {sender}", own)


@rule("A message reaches no member of another group, however similar its name.", limit_seconds=LIMIT_SECONDS)
async def groups_are_isolated(clients: Clients) -> None:
    traffic = await clients.traffic()
    for member in traffic.members:
        own = _all_of(traffic, member.group)
        if foreign := next((each for each in member.deliveries if each.text not in own), None):
            raise Mismatch(
                f"only messages of {member.group} at {member.name}, its member", f"{foreign} of another group"
            )


@rule("No member receives a message twice.", limit_seconds=LIMIT_SECONDS)
async def messages_come_once(clients: Clients) -> None:
    for member in (await clients.traffic()).members:
        [(most, times)] = Counter(each.text for each in member.deliveries).most_common(1) or [("", 0)]
        if times > 1:
            raise Mismatch(f"each message once at {member.name}", f"{most} {times} times")


@rule("Every member receives the messages of a sender in the order in which it sent them.", limit_seconds=LIMIT_SECONDS)
async def order_per_sender_is_kept(clients: Clients) -> None:
    for member, sender, messages in _owed(await clients.traffic()):
        place = {text: number for number, text in enumerate(messages)}
        arrived = dict.fromkeys(each.text for each in member.deliveries if each.text in place)
        latest = ""
        for text in arrived:
            if latest and place[text] < place[latest]:
                raise Mismatch(f"the messages of {sender} in order at {member.name}", f"{text} after {latest}")
            latest = text


@rule("A message arrives as it was sent, wherever the protocol says what stays the same.", limit_seconds=LIMIT_SECONDS)
async def content_is_unchanged(clients: Clients) -> None:
    received = clients.declaration.message.received
    if clients.declaration.format != "text":
        clients.require(received.same, "message.same")
    elif "any" in values(received.like):
        raise NotAsked("`message.received` has an `{any}`, which may be anything")
    for member in (await clients.traffic()).members:
        if altered := next((each for each in member.deliveries if each.altered), None):
            raise Mismatch(f"{altered} as it was sent at {member.name}", f"another {altered.altered}")


@rule("Nothing else comes with the messages: no error, and nothing that is not declared.", limit_seconds=LIMIT_SECONDS)
async def nothing_else_comes(clients: Clients) -> None:
    for member in (await clients.traffic()).members:
        if strange := next(member.rest, None):
            raise Mismatch(f"only what is declared at {member.name}, and no error", strange)
        if member.closed:
            raise Mismatch(f"an open connection of {member.name}", member.closed)


def _owed(traffic: Traffic) -> list[tuple[Member, str, list[str]]]:
    """Each member, with each sender in its group and that sender's messages."""
    return [
        (member, sender, messages)
        for member in traffic.members
        for sender, messages in traffic.sent[member.group].items()
    ]


def _all_of(traffic: Traffic, group: str) -> set[str]:
    return {text for messages in traffic.sent[group].values() for text in messages}


def _has_all(member: Member, messages: list[str]) -> None:
    arrived = {each.text for each in member.deliveries}
    missing = [each for each in messages if each not in arrived]
    if missing:
        seen = f"no {missing[0]}, the first of {len(missing)} that are missing"
        raise Mismatch(
            f"{len(messages)} messages at {member.name}", f"{seen}; {member.closed}" if member.closed else seen
        )
