"""The effect of a keystroke: one state for each member of the room."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.typing_game.clients import SEATS, Clients
from pushbench.conformance.typing_game.player import MOST_KEYS, WRONG, Message, Player

BURST = 200
"""Events of each of six players without a pause: 7,200 states, which a server must not merge."""
PATIENCE = 10.0
"""Seconds until the next of many states; a slow server also sends those of all other rooms."""
ROOMS = 20
"""At once, of the same length."""


@rule(
    "A keystroke becomes one state for each member of the room, the sender included, and for nobody else.",
    beside_others=True,
)
async def keystroke_reaches_every_member(clients: Clients) -> None:
    outsider, players = await clients.player(), await clients.game()
    for player in players:
        state = await player.type_next()
        await together(member.receives(state) for member in players)
    await outsider.receives_nothing()
    await players[0].receives_nothing(0.01)


@rule(
    "A right key moves on, a wrong one is a mistake and does not move, and each of up to 16 keys counts.",
    beside_others=True,
)
async def keys_are_checked_one_by_one(clients: Clients) -> None:
    players = await clients.game()
    typist, text = players[0], players[0].text
    for keys in (
        WRONG,
        text[0],
        WRONG * MOST_KEYS,
        text[1] + WRONG + text[2],
        text[3:5].swapcase(),
        text[3:19],
        "\u00e9\U0001f680" * 8,
        "\U0001f680" * MOST_KEYS,
    ):
        state = await typist.type(keys)
        await together(player.receives(state) for player in players[:2])


@rule("Nothing is typed beyond the end of the text, though an event has more keys.", beside_others=True)
async def text_has_an_end(clients: Clients) -> None:
    players = await clients.game()
    typist = players[0]
    while typist.typed + MOST_KEYS <= len(typist.text):
        await typist.receives(await typist.type_next(MOST_KEYS))
    left = typist.text[typist.typed :]
    await typist.receives(await typist.type(left.ljust(MOST_KEYS, WRONG)))


@rule("Each event gets a state of its own, in the order of its sender, however many come at once.", limit_seconds=30)
async def every_event_has_its_state(clients: Clients) -> AsyncGenerator[None]:
    players = await clients.game()
    yield

    async def burst(player: Player) -> list[Message]:
        return [await player.type(WRONG) for _ in range(BURST)]

    sent = dict(zip((player.user for player in players), await together(map(burst, players)), strict=True))

    async def hear(player: Player) -> None:
        seen: dict[object, list[Message]] = {user: [] for user in sent}
        for _ in range(SEATS * BURST):
            state = await player.next("pvp:state", within=PATIENCE)
            seen.setdefault(state.get("userId"), []).append(state)
        for user, states in sent.items():
            if seen[user] != states:
                raise Mismatch(f"the {BURST} states of {user} in their order", f"{len(seen[user])}, or another order")

    await together(map(hear, players))


@rule("120 players who ask at once get rooms of six; of 4,320 states none is lost, altered or of another room.")
async def many_rooms_are_not_mixed(clients: Clients) -> AsyncGenerator[None]:
    length = clients.length()
    players = await together(clients.player(within=PATIENCE) for _ in range(ROOMS * SEATS))

    async def enter(player: Player) -> None:
        await player.join(await clients.match(player.user, length), within=PATIENCE)

    await together(map(enter, players))
    rooms: dict[str, list[Player]] = {}
    for player in players:
        rooms.setdefault(player.room, []).append(player)
    if (sizes := sorted(map(len, rooms.values()))) != [SEATS] * ROOMS:
        raise Mismatch(f"{ROOMS} rooms of {SEATS} players", sizes)
    await together(_begins_late(player) for player in players)
    yield
    sent = {
        player.user: [await player.type_next() for _ in range(3)] + [await player.type(WRONG) for _ in range(3)]
        for player in players
    }

    async def hear(player: Player) -> None:
        owed = {member.user: iter(sent[member.user]) for member in rooms[player.room]}
        for _ in range(SEATS * 6):
            state = await player.next("pvp:state", within=PATIENCE)
            expected = next(owed.get(str(state.get("userId")), iter(())), None)
            if state != expected:
                raise Mismatch(f"the state {expected} at {player.user} of {player.room}", state)

    await together(map(hear, players))


async def _begins_late(player: Player) -> None:
    await player.next("pvp:countdown", within=PATIENCE)
    await player.next("pvp:start", within=PATIENCE)


@rule(
    "Keystrokes before the start, in no room, for another room or of another user are errors, and reach nobody.",
    beside_others=True,
)
async def foreign_keystrokes_are_errors(clients: Clients) -> None:
    players = await together(clients.player() for _ in range(SEATS))
    room = await clients.gathered(players)
    culprit = players[0]
    await culprit.next("pvp:countdown")
    early = culprit.keystrokes(culprit.text[0])
    await culprit.say("pvp:keystrokes", early)
    await culprit.is_refused("a keystroke before the start")
    await culprit.next("pvp:start")
    stranger = await clients.player()
    await stranger.say("pvp:keystrokes", stranger.keystrokes("T", roomId=room, userId=culprit.user))
    await stranger.is_refused("a keystroke of a client in no room")
    for what, changes in {
        "a keystroke for another room": {"roomId": "elsewhere"},
        "a keystroke of another user": {"userId": players[1].user},
    }.items():
        await culprit.say("pvp:keystrokes", culprit.keystrokes("T", **changes))
        await culprit.is_refused(what)
    await players[1].next("pvp:countdown")
    await players[1].next("pvp:start")
    await players[1].receives_nothing()
    await culprit.receives(await culprit.type_next())


@rule("A seq that is not above the one before is an error and types nothing; gaps are allowed.", beside_others=True)
async def seq_must_increase(clients: Clients) -> None:
    typist, *_ = await clients.game()
    await typist.receives(await typist.type_next())
    await typist.receives(await typist.type(WRONG, seq=1000))
    for seq in (1000, 999, 0):
        await typist.say("pvp:keystrokes", typist.keystrokes(typist.text[1], seq=seq))
        await typist.is_refused(f"seq {seq} after 1000")
    await typist.receives(await typist.type(typist.text[1], seq=2**53 - 1))


@rule("A ping is acknowledged with its sentAt, in a room or not, and without an id it is an error.")
async def ping_is_acknowledged(clients: Clients) -> None:
    player = await clients.player()
    for sent_at in (0, 1_764_000_000_123_456, 2**53 - 1):
        if (said := await player.ask("ping", {"sentAt": sent_at})) != {"sentAt": sent_at}:
            raise Mismatch(f'{{"sentAt": {sent_at}}}', said)
    await player.say("ping", {"sentAt": 7})
    await player.is_refused("a ping without an id")
    await clients.gathered([player])
    if (said := await player.ask("ping", {"sentAt": 8, "note": "x"})) != {"sentAt": 8}:
        raise Mismatch('{"sentAt": 8}', said)
