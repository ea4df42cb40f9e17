"""How players come together, and when their game begins."""

from __future__ import annotations

import time

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.typing_game.clients import COUNTDOWN, SEATS, Clients, begins
from pushbench.conformance.typing_game.player import PROMPT, Player
from pushbench.conformance.typing_game.text import TEXT

GATHERING = 2.0
"""Seconds that a room waits for further players after its first one."""
EARLY = 0.05
"""Seconds by which a server may be early: timers of milliseconds, and data in transit."""


async def countdown_is_right(player: Player, room: str, users: list[str], within: float | None = None) -> None:
    told = await player.next("pvp:countdown", within)
    if told != {"roomId": room, "milliseconds": 1000, "players": users}:
        raise Mismatch(f"a countdown of 1000 ms for {room} and {users}", told)


@rule("A join is acknowledged with the room, the user and the first characters of the text.")
async def join_gives_the_text(clients: Clients) -> None:
    length = clients.length()
    for player in await together(clients.player() for _ in range(2)):
        await player.join(await clients.match(player.user, length))
        if player.text != TEXT[:length]:
            raise Mismatch(f"the text {TEXT[:length]!r}", repr(player.text))


@rule(
    "When the sixth player is in, the countdown comes at once and names all, and the start 1 s after it.",
    beside_others=True,
)
async def full_room_begins_at_once(clients: Clients) -> None:
    players = await together(clients.player() for _ in range(SEATS))
    began = time.monotonic()
    room = await clients.gathered(players)
    users = [player.user for player in players]
    await together(countdown_is_right(player, room, users) for player in players)
    if (waited := time.monotonic() - began) > GATHERING - EARLY:
        raise Mismatch("a countdown as soon as the room is full", f"one {waited:.1f} s after the first join")
    counted = time.monotonic()
    for player in players:
        if (told := await player.next("pvp:start", COUNTDOWN + PROMPT)) != {"roomId": room}:
            raise Mismatch(f"the start of {room}", told)
    if (waited := time.monotonic() - counted) < COUNTDOWN - EARLY:
        raise Mismatch("a start 1 s after the countdown", f"one {waited:.2f} s after it")


@rule("A room that is not full begins its countdown 2 s after its first player is in it.", beside_others=True)
async def waiting_room_begins_after_two_seconds(clients: Clients) -> None:
    players = await together(clients.player() for _ in range(2))
    began = time.monotonic()
    room = await clients.gathered(players)
    users = [player.user for player in players]
    await together(countdown_is_right(player, room, users, GATHERING + PROMPT) for player in players)
    if (waited := time.monotonic() - began) < GATHERING - EARLY:
        raise Mismatch("a countdown 2 s after the first join", f"one {waited:.2f} s after it")


@rule(
    "A join of an unknown room, of one that has begun, or in a room already is acknowledged with an error.",
    beside_others=True,
)
async def impossible_join_is_turned_away(clients: Clients) -> None:
    length = clients.length()
    players, outsider = await together(clients.player() for _ in range(SEATS)), await clients.player()
    room = await clients.gathered(players, length)
    await outsider.is_turned_away("nowhere", "an unknown room")
    await outsider.is_turned_away(room, "a full room, whose countdown has begun")
    await players[0].is_turned_away(await clients.match(players[0].user, length), "a client that is in a room")
    await together(begins(player) for player in players)
    await outsider.is_turned_away(room, "a room that plays")
    state = await players[0].type_next()
    await together(player.receives(state) for player in players)
    await outsider.receives_nothing()


@rule("A user of a room cannot join it once more, over whichever connection.", beside_others=True)
async def user_joins_once(clients: Clients) -> None:
    player = await clients.player()
    double = await clients.player(player.user)
    room = await clients.gathered([player])
    await double.is_turned_away(room, "a room that the user is in")
    await countdown_is_right(player, room, [player.user], GATHERING + PROMPT)
    await double.receives_nothing()


@rule("A player that leaves before the start is not counted, and its seat is free for another.")
async def leaver_frees_the_seat(clients: Clients) -> None:
    length = clients.length()
    leaver, *players = await together(clients.player() for _ in range(SEATS + 1))
    early, late = players[:3], players[3:]
    room = await clients.gathered([*early, leaver], length)
    await clients.leaves(leaver)
    for player in late:
        if await clients.match(player.user, length) != room:
            raise Mismatch("the room that waits for players", "another room")
        await player.join(room)
    await countdown_is_right(players[0], room, [player.user for player in players])
