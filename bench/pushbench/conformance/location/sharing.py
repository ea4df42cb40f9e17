"""The positions that members of a group receive from each other, by whatever transport."""

from __future__ import annotations

from pushbench.conformance.location.clients import Clients
from pushbench.conformance.location.member import Member, body_of
from pushbench.conformance.location.news import by_user
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together

GROUPS, EACH = 25, 4
"""Concurrent groups, and positions that each member shares in sequence."""
EXTREMES = (
    {"lat": 90, "lon": -180, "seq": 0, "sentAt": 0},
    {"lat": -90, "lon": 180, "seq": 2**53 - 1, "sentAt": 2**53 - 1},
    {"lat": 0, "lon": 1e-7},
    {"lat": -52.123456789012344, "lon": 113.12345678901235},
)
WRONG: dict[str, tuple[object, ...]] = {
    "lat": (90.1, -91, "52.5", None, True, [52.5]),
    "lon": (180.5, -181, "13", None),
    "seq": (-1, 1.5, "7", None, 2**53),
    "sentAt": (-1, "now", None),
}


@rule("A position reaches each other member of the group, with the same numbers.")
async def position_reaches_the_others(clients: Clients) -> None:
    members = await clients.members(clients.group())
    for sender in members:
        position = await sender.share()
        await together(other.receives(position) for other in members if other is not sender)


@rule("A member is not told of its own position.")
async def own_position_stays_away(clients: Clients) -> None:
    group = clients.group()
    one, other = await clients.member(group), await clients.member(group)
    for _ in range(3):
        await one.share()
        position = await other.share()
        await one.receives(position)
    await one.receives_nothing()


@rule("The least and the greatest numbers are told unchanged: 90, -180, 1e-7, 2^53 - 1, 15 decimals.")
async def numbers_are_told_unchanged(clients: Clients) -> None:
    group = clients.group()
    one, other = await clients.member(group), await clients.member(group)
    for extreme in EXTREMES:
        await other.receives(await one.share(**extreme))


@rule("Positions of a group reach nobody of another one, though its users have the same names.")
async def groups_are_not_mixed(clients: Clients) -> None:
    here, there = clients.group(), clients.group()
    ann, bob = await clients.member(here, "ann"), await clients.member(here, "bob")
    other_ann, other_bob = await clients.member(there, "ann"), await clients.member(there, "bob")
    await bob.receives(await ann.share(lat=1.5))
    await other_bob.receives_nothing()
    await other_bob.receives(await other_ann.share(lat=2.5))
    await bob.receives_nothing()


@rule("Who joins is told at once of the newest position of each other member, and of no older one.")
async def first_news_has_the_newest(clients: Clients) -> None:
    if not clients.tells_of_before:
        return
    group = clients.group()
    *members, witness = await clients.members(group, 4)
    for member in members:
        await member.share()
    newest = [await member.share() for member in members]
    if clients.tells_of_all:  # a socket acknowledges nothing: wait until another member has received them
        for _ in range(2 * len(members)):
            await witness.receive()
    seen = (await clients.member(group)).first.positions
    if by_user(seen) != by_user(newest):
        raise Mismatch(f"the newest positions {newest}", seen)
    user = members[0].user
    if user in (users := (await clients.member(group, user)).first.users):
        raise Mismatch(f"news for {user} without its own position", users)


@rule("Fields that a position does not have are ignored, and not told to others.")
async def other_fields_are_not_told(clients: Clients) -> None:
    group = clients.group()
    one, other = await clients.member(group), await clients.member(group)
    position = one.next_position()
    await one.put(body_of({**position, "note": "x", "version": 7, "nested": {"lat": 1}}))
    await other.receives(position)


@rule("A position that is no JSON, or lacks a field or has a wrong one, is refused and told to nobody.")
async def bad_positions_are_refused(clients: Clients) -> None:
    group = clients.group()
    culprit, witness = await clients.member(group), await clients.member(group)
    for body in ("", "{", "[]", "7", "null", '"lat"', "\x00", '{"lat":1e999}'):
        await culprit.is_refused(body, f"the position {body!r}")
    for name, values in WRONG.items():
        good = culprit.next_position()
        await culprit.is_refused(body_of({each: good[each] for each in good if each != name}), f"no {name}")
        for value in values:
            await culprit.is_refused(body_of({**good, name: value}), f"{name} {value!r}")
    await witness.receives_nothing()
    await witness.receives(await culprit.share())


@rule("25 groups of four share 400 positions at once: each member gets what the others of its group shared.")
async def many_groups_are_not_mixed(clients: Clients) -> None:
    async def play() -> None:
        members = await clients.members(clients.group(), within=5)
        await together(share(member, members) for member in members)
        await together(hear(member, members) for member in members)

    async def share(member: Member, members: list[Member]) -> None:
        for number in range(EACH):
            await member.share(seq=number, sentAt=members.index(member))

    async def hear(member: Member, members: list[Member]) -> None:
        """Receive the last position of each other member, in any order, or all positions if the transport sends all."""
        last = {other.user: -1 for other in members if other is not member}
        while set(last.values()) != {EACH - 1}:
            seen = await member.receive("the positions of the others", within=5)
            user, seq = seen["user"], seen["seq"]
            expected = last.get(user, EACH) + 1
            if seq < expected or (clients.tells_of_all and seq > expected):
                raise Mismatch(f"position {expected} of a member of {member.group}", f"{seq} of {user}")
            last[user] = seq

    await together(play() for _ in range(GROUPS))


@rule("/metricz counts groups and listeners as JSON.")
async def metricz_counts_the_groups(clients: Clients) -> None:
    groups, _ = await clients.metrics()
    for _ in range(3):
        await (await clients.member(clients.group())).share()
    if (now := (await clients.metrics())[0]) != groups + 3:
        raise Mismatch(f"{groups + 3} groups", now)
