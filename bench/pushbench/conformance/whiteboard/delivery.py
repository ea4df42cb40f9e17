"""The effect of a draw: one delivery to each member of its board, unchanged and in order."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from itertools import zip_longest

from websockets.exceptions import ConnectionClosed

from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.together import together
from pushbench.conformance.whiteboard.client import Client
from pushbench.conformance.whiteboard.clients import Clients
from pushbench.conformance.whiteboard.inbox import Drawn

BURST = 300
"""Draws of one sender without a pause: enough for a server with several threads to mix up their order."""


@rule("A draw reaches every member of its board exactly once.")
async def draw_reaches_every_member(clients: Clients) -> None:
    board = clients.board()
    artist, *others = await clients.members(board, 10)
    draws = [await artist.draw(board) for _ in range(3)]
    for member in others:
        await member.receives(*draws)
    for member in others:
        await member.receives_nothing(0.01)


@rule("A draw reaches its own sender too, exactly once.")
async def draw_reaches_its_sender(clients: Clients) -> None:
    board = clients.board()
    artist = await clients.member(board)
    await artist.receives(await artist.draw(board), await artist.draw(board))
    await artist.receives_nothing()


@rule("A draw reaches no member of another board, however similar its name.")
async def boards_are_isolated(clients: Clients) -> None:
    board = clients.board()
    artist = await clients.member(board)
    others = [f"{board}0", f"x{board}", board[:-1], board.upper()]
    outsiders = [await clients.member(other) for other in others]
    for _ in range(5):
        await artist.draw(board)
    for other, outsider in zip(others, outsiders, strict=True):
        await outsider.receives_nothing(0.02)
        neighbour = await clients.member(other)
        await outsider.receives(await neighbour.draw(other))


@rule("A boardId that looks like a pattern is a plain name, or is refused.")
async def board_names_are_not_patterns(clients: Clients) -> None:
    board = clients.board()
    artist, witness = await clients.members(board, 2)
    for pattern in ("*", "**", "b*", "board-?", "{board}", "#", ">", ".*", "[a-z]*"):
        listener = await clients.connect()
        with suppress(ConnectionClosed):  # a refusal may end the connection
            await listener.ask_to_join(pattern)
        await witness.receives(await artist.draw(board))
        await asyncio.sleep(0.02)
        if listener.inbox.has(Drawn):
            raise Mismatch(f"no draw of {board} at a client that joined {pattern}", listener.inbox)


@rule("Every member receives the draws of one sender in the order in which they were sent, and none is lost.")
async def order_per_sender_is_kept(clients: Clients) -> None:
    board, count = clients.board(), BURST
    members = await clients.members(board, 5)

    async def burst(artist: Client) -> list[str]:
        return [await artist.draw(board) for _ in range(count)]

    sent = await together(burst(member) for member in members)
    for member in members:
        others = {artist.user: draws for artist, draws in zip(members, sent, strict=True) if artist is not member}
        received: dict[str, list[str]] = {user: [] for user in [member.user, *others]}
        while sum(len(received[user]) for user in others) < count * len(others):
            draw = await member.next_drawn()
            received[json.loads(draw)["userId"]].append(draw)
        for user, draws in others.items():
            if received[user] != draws:
                raise Mismatch(*first_difference(user, draws, received[user]))


def first_difference(user: str, sent: list[str], received: list[str]) -> tuple[str, str]:
    """The expected and the seen draw where the received draws first differ from the sender's."""
    pairs = zip_longest(sent, received, fillvalue="nothing")
    at, (expected, seen) = next((at, pair) for at, pair in enumerate(pairs) if pair[0] != pair[1])
    return f"draw {at} of {user} to be {escaped(expected)}", escaped(seen)


@rule("A draw arrives as it was sent: escapes, blanks, numbers, unknown fields and all of Unicode.")
async def text_is_unchanged(clients: Clients) -> None:
    board = clients.board()
    artist, member = await clients.members(board, 2)
    draw = artist.next_draw(board)
    for text in (
        artist.next_draw(board, note="gr\u00fc\u00df \u4f60\u597d \u0434\u0430 \u0645\u0631\u062d\u0628\u0627"),
        artist.next_draw(board, note="astral \U0001f58c\U0001f3fd \U0001f469\u200d\U0001f3a8 \U00020000"),
        artist.next_draw(
            board, note="combining e\u0301 is not \u00e9, \u2028 and \u2029 are no line ends, \ufeff stays"
        ),
        draw.replace('"draw"', r'"draw","note":"\u00e9\ud83d\ude00\/\t\u0000\u001f\u007f"'),
        draw.replace('"draw"', r'"dr\u0061w"'),
        draw.replace(",", " ,\r\n\t").replace(":", " : ") + " \n",
        draw.replace("[514,390]", "[5.140,-3.9E+2],[-0,1e-7],[0.1,123456789012345678]"),
        draw.replace('"draw"', '"draw","z":{"b":[],"a":null,"":{}},"\u00e9":true,"__proto__":{"type":"join"}'),
        json.dumps(dict(reversed(json.loads(draw).items()))),
    ):
        await artist.say(board, text)
        await member.receives(text)


@rule("A draw with a stroke of 60 KiB arrives as it was sent at every member.")
async def sixty_kib_arrive_unchanged(clients: Clients) -> None:
    board = clients.board()
    artist, *others = await clients.members(board, 4)
    draw = artist.next_draw(board, stroke=[[x, x + 0.5] for x in range(4540)], note="\u00e9")
    await artist.say(board, draw)
    for member in others:
        await member.receives(draw, within=5)
