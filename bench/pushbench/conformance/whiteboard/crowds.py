"""Many clients at once: arriving, vanishing, and not reading."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path

from websockets.exceptions import ConnectionClosed

from pushbench.conformance.bounds import MIB, within_bound
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.whiteboard.client import Client
from pushbench.conformance.whiteboard.clients import Clients
from pushbench.conformance.whiteboard.inbox import Drawn

QUEUE_LIMIT = 1 * MIB
"""The most that a server may queue for one client before it disconnects it, the same for every server."""


def flood_size() -> int:
    """Bytes that fill a server's socket buffer and its queue for a client that does not read, with a margin."""
    try:
        socket_buffer = int(Path("/proc/sys/net/ipv4/tcp_wmem").read_text().split()[2])
    except OSError:
        socket_buffer = 4 * MIB  # Linux's default
    return min(socket_buffer, 16 * MIB) + QUEUE_LIMIT + 7 * MIB


@rule(
    "200 clients that join one board at once are all members within 10 s, and then a draw reaches them all.",
    limit_seconds=20,
)
async def two_hundred_join_at_once(clients: Clients) -> None:
    board = clients.board()
    members: list[Client] = []

    async def join() -> None:
        members.append(await clients.member(board, within=10))

    try:
        async with asyncio.timeout(10):
            await together(join() for _ in range(200))
    except TimeoutError:
        raise Mismatch("200 members within 10 s", f"{len(members)}") from None
    draw = await (await clients.member(board)).draw(board)
    for member in members:
        await member.receives(draw)


@rule("When half of a board vanishes with TCP resets, the other half misses nothing.")
async def resets_harm_nobody(clients: Clients) -> None:
    board = clients.board()
    artist, *members = await clients.members(board, 21)
    survivors, victims = members[:10], members[10:]
    draws = []
    for victim in victims:
        draws += [await artist.draw(board) for _ in range(5)]
        victim.reset()
    draws += [await artist.draw(board) for _ in range(20)]
    for survivor in survivors:
        await survivor.receives(*draws)
    returned = [await clients.member(board, user=victim.user) for victim in victims]
    draw = await artist.draw(board)
    for member in (*survivors, *returned):
        await member.receives(draw)
        await member.receives_nothing(0.005)


@rule("Connections that vanish with TCP resets leave no socket open in the server.")
async def resets_leave_no_socket(clients: Clients) -> None:
    before = clients.open_sockets()
    for _ in range(4):
        board = clients.board()
        for client in await clients.members(board, 25):
            client.reset()
    deadline = time.monotonic() + 5
    while (left := clients.open_sockets()) > before:
        if time.monotonic() > deadline:
            raise Mismatch(f"{before} open sockets, as before", left)
        await asyncio.sleep(0.02)


@rule("A client that stops reading is disconnected, and three others go on drawing without delay.", limit_seconds=30)
async def slow_reader_harms_nobody(clients: Clients) -> None:
    await fall_behind(clients, slow=1, senders=3)


@rule("The only other sender on the board of a slow reader is not delayed either.", limit_seconds=30)
async def slow_reader_holds_no_sender(clients: Clients) -> None:
    await fall_behind(clients, slow=1, senders=1)


@rule("Four slow readers at once are no worse than one.", limit_seconds=30)
async def four_slow_readers_harm_nobody(clients: Clients) -> None:
    await fall_behind(clients, slow=4, senders=2)


async def fall_behind(clients: Clients, *, slow: int, senders: int, size: int = 16 * 1024) -> None:
    """As `outpace`, and wait until the server has disconnected the members that do not read."""
    for client in await outpace(clients, slow=slow, senders=senders, size=size):
        client.read_again()
        await client.is_closed("not reading")


async def outpace(clients: Clients, *, slow: int, senders: int, size: int) -> list[Client]:
    """Draw on a board with members that do not read, until more was sent than may be queued for them. Returns these.

    Each sender has a witness, and draws again only when the witness has received the previous draw. A server that waits
    for a slow reader therefore stops the exchange, however it waits.
    """
    board = clients.board()
    artists, witnesses = await clients.members(board, senders), await clients.members(board, senders)
    stopped = [await clients.member(board, receive_buffer=4096) for _ in range(slow)]
    for client in stopped:
        client.stop_reading()
    memory = clients.usage()

    async def exchange(artist: Client, witness: Client) -> tuple[list[str], list[str]]:
        sent: list[str] = []
        received: list[str] = []
        for _ in range(flood_size() // size // senders):
            sent.append(await artist.draw(board, pad="x" * size))
            while not received or received[-1] != sent[-1]:
                received.append(await witness.next_drawn("a message while another member does not read"))
        return sent, received

    exchanged = await together(map(exchange, artists, witnesses))
    everything = sorted(draw for sent, _ in exchanged for draw in sent)
    for witness, (_, received) in zip(witnesses, exchanged, strict=True):
        while len(received) < len(everything):
            received.append(await witness.next_drawn("every message, though another member does not read"))
        if sorted(received) != everything:
            raise Mismatch("every message exactly once", f"{len(set(received))} of {len(everything)}, some repeatedly")
    within_bound(memory, clients.usage())
    return stopped


@rule("A sender that never reads its own draws is held back or disconnected, and delays nobody.", limit_seconds=30)
async def deaf_sender_harms_nobody(clients: Clients) -> None:
    board, other = clients.board(), clients.board()
    witness, (artist, neighbour) = await clients.member(board), await clients.members(other, 2)
    flooder = await clients.member(board, receive_buffer=4096)
    flooder.stop_reading()
    memory = clients.usage()
    sent: list[str] = []

    async def flood() -> None:
        with suppress(ConnectionClosed):
            for _ in range(flood_size() // 16_384):
                sent.append(flooder.next_draw(board, pad="x" * 16_384))
                await flooder.say(board, sent[-1])
                await keeping_up()

    async def keeping_up() -> None:
        """A witness that is slower than the server would be disconnected, and rightly."""
        with suppress(TimeoutError):  # nothing more arrives once the flooder is disconnected
            async with asyncio.timeout(0.5):
                while len(sent) - witness.inbox.count(Drawn) > 16:  # noqa: ASYNC110 - no event signals it
                    await asyncio.sleep(0.001)

    flooding = asyncio.create_task(flood())
    try:
        for _ in range(40):
            await neighbour.receives(await artist.draw(other))
            await asyncio.sleep(0.01)
        await asyncio.wait([flooding], timeout=3)
        within_bound(memory, clients.usage())
        if flooding.done():  # so it was not held back
            flooder.read_again()
            await flooder.is_closed("not reading")
    finally:
        flooding.cancel()
        await asyncio.wait([flooding])
    latest = await (await clients.member(board)).draw(board)
    received: list[str] = []
    while latest not in received[-1:]:
        received.append(await witness.next_drawn("the draws of a sender that does not read, then those of another"))
    if received[:-1] != sent[: len(received) - 1]:
        raise Mismatch("the draws of a sender that does not read in order, up to its end", "gaps or another order")
