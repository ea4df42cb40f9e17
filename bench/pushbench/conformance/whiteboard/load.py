"""Many messages at once: none is lost, altered or misdirected, none ends a connection, and none is logged."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

from pushbench.conformance.bounds import LOG_BOUND, too_much
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.whiteboard.client import Client, difference, in_common
from pushbench.conformance.whiteboard.clients import Clients
from pushbench.conformance.whiteboard.inbox import Drawn, Event

BOARDS, MEMBERS, DRAWS = 30, 4, 30
"""3,600 draws and 14,400 deliveries. A fault in one of a thousand deliveries goes unnoticed with a probability of
0.999^14400 (6 in 10 million), a fault in one of a thousand draws with 0.999^3600 (2.7 %)."""
PATIENCE = 10.0
"""Seconds until the next of many deliveries; a slow server also sends those of all other boards."""
LARGE = 50_000
"""Bytes of a large draw's message."""
BURSTS = 10
BURST = 20
"""Draws at once. Even if a server queues them all for a member, with their headers, they take less than the 1 MiB that
it may queue."""
LOGGED = 2_000


@rule("Of 14,400 deliveries on 30 boards at once, none is altered and none belongs to another board.", limit_seconds=30)
async def many_boards_are_not_mixed(clients: Clients) -> None:
    prefix = clients.board()
    names = [f"{prefix}-{number:02}" for number in range(BOARDS)]
    members = dict(zip(names, await together(clients.members(name, MEMBERS, PATIENCE) for name in names), strict=True))
    sent = dict(zip(names, await together(_draw(members[name], name) for name in names), strict=True))
    await together(_receive(member, name, sent) for name in names for member in members[name])
    await asyncio.sleep(0.05)  # a foreign delivery may be the last one
    for name in names:
        for member in members[name]:
            for event in await member.inbox.some("a delivery", PATIENCE) if member.inbox else []:
                _check(event, name, sent)


Sent = Mapping[str, Mapping[str, str]]
"""Per board, the sender of each draw by its text."""


async def _draw(members: Collection[Client], board: str) -> dict[str, str]:
    """All members draw at the same time, strokes of 1 to 30 points. Returns the sender of each text."""
    sent: dict[str, str] = {}

    async def draw(artist: Client) -> None:
        for number in range(DRAWS):
            points = 1 + (number * 11) % DRAWS
            sent[await artist.draw(board, stroke=[[number, at] for at in range(points)])] = artist.user
            await asyncio.sleep(0)  # lets the others run

    await together(map(draw, members))
    return sent


async def _receive(member: Client, board: str, sent: Sent) -> None:
    """Wait until the member has every draw of the others on its board."""
    missing = {text for text, user in sent[board].items() if user != member.user}
    while missing:
        events = await member.inbox.some(f"{len(missing)} more draws of {board} at {member.user}", PATIENCE)
        missing.difference_update(_check(event, board, sent) for event in events)


def _check(event: Event, board: str, sent: Sent) -> str:
    """The text of a delivery. Raises Mismatch unless it is an unchanged draw of the board."""
    if not isinstance(event, Drawn):
        raise Mismatch(f"only draws of {board}", event)
    text = event.text
    if text not in sent[board]:
        foreign = next((name for name, texts in sent.items() if text in texts), None)
        if foreign:
            raise Mismatch(f"only draws of {board} at its members", f"a draw of {foreign}")
        original = max(sent[board], key=lambda each: _likeness(each, text))
        raise Mismatch(f"draw {difference(original, text)}", f"draw {difference(text, original)}")
    return text


def _likeness(text: str, other: str) -> int:
    """The number of characters that two texts share at their beginnings and ends."""
    return in_common(text, other) + in_common(text[::-1], other[::-1])


@rule("200 draws of 50 kB, 20 at once, all reach the members that read, and end no connection.", limit_seconds=30)
async def burst_of_large_draws_arrives(clients: Clients) -> None:
    board = clients.board()
    members = await clients.members(board, 4)
    artists = members[:2]

    async def burst(artist: Client) -> list[str]:
        return [await artist.say(board, artist.next_draw_of(board, LARGE)) for _ in range(BURST // len(artists))]

    for number in range(BURSTS):
        draws = {draw for drawn in await together(map(burst, artists)) for draw in drawn}
        for member in members:  # senders included: no queue may be left when the next burst begins
            missing = set(draws)
            while missing:
                missing.discard(await member.next_drawn(f"{len(missing)} more draws of burst {number}", PATIENCE))


@rule("2,000 draws make a server print nothing: no log line per message.", limit_seconds=30)
async def no_log_line_per_message(clients: Clients) -> None:
    board = clients.board()
    artist, member = await clients.members(board, 2)
    before = await clients.output_bytes()
    for _ in range(LOGGED):
        last = await artist.draw(board)
    while await member.next_drawn("the last of 2,000 draws", PATIENCE) != last:
        pass
    await asyncio.sleep(0.1)  # a log may be written by a separate thread
    if printed := too_much(before, await clients.output_bytes()):
        raise Mismatch(f"at most {LOG_BOUND:,} bytes of output during {LOGGED:,} draws", printed)
