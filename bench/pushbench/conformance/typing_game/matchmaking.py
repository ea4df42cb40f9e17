"""The room that a player gets."""

from __future__ import annotations

import json

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.typing_game.clients import SEATS, Clients
from pushbench.conformance.typing_game.metricz import counts
from pushbench.conformance.typing_game.over_http import require
from pushbench.conformance.typing_game.text import TEXT

DEFAULT = 150
BAD_BODIES = {
    "nothing": "",
    "no JSON": "{",
    "an array": '[{"userId":"u"}]',
    "a string": '"u"',
    "null": "null",
    "no userId": "{}",
    "a number as userId": '{"userId":7}',
    "an empty userId": '{"userId":""}',
    "a userId of 65 characters": json.dumps({"userId": "u" * 65}),
    "a blank in the userId": '{"userId":"u 1"}',
    "a line break after the userId": '{"userId":"u\\n"}',
    "an accent in the userId": '{"userId":"\u00e9"}',
    "0 characters": '{"userId":"u","characters":0}',
    "-1 characters": '{"userId":"u","characters":-1}',
    "1.5 characters": '{"userId":"u","characters":1.5}',
    "a text as characters": '{"userId":"u","characters":"20"}',
    "true as characters": '{"userId":"u","characters":true}',
    "null as characters": '{"userId":"u","characters":null}',
    "more characters than the text has": json.dumps({"userId": "u", "characters": len(TEXT) + 1}),
    "1e999 characters": '{"userId":"u","characters":1e999}',
}


@rule("Six players who ask for the same length get one room, and the seventh gets another.")
async def six_players_get_one_room(clients: Clients) -> None:
    length = clients.length()
    rooms = [await clients.match(clients.user(), length) for _ in range(SEATS + 1)]
    if len(set(rooms[:SEATS])) != 1:
        raise Mismatch(f"one room for {SEATS} players", f"{len(set(rooms[:SEATS]))} rooms")
    if rooms[SEATS] in rooms[:SEATS]:
        raise Mismatch("another room for the seventh player", "the same room")


@rule("Players of different lengths do not meet, and 150 characters are meant where none are said.")
async def lengths_are_not_mixed(clients: Clients) -> None:
    one, other = clients.length(), clients.length()
    if await clients.match(clients.user(), one) == await clients.match(clients.user(), other):
        raise Mismatch("rooms of their own for two lengths", "one room")
    player = await clients.player()
    await player.join(await clients.match(player.user))
    if len(player.text) != DEFAULT:
        raise Mismatch(f"a text of {DEFAULT} characters", f"{len(player.text)} characters")


@rule("Ids of 64 characters, the shortest game and the longest are accepted; other fields are ignored.")
async def limits_are_accepted(clients: Clients) -> None:
    for characters in (1, len(TEXT)):
        player = await clients.player(f"A-z_9-{characters}".ljust(64, "x"))
        await player.join(await clients.match(player.user, characters))
        if player.text != TEXT[:characters]:
            raise Mismatch(f"the first {characters} characters of the text", player.text)
    require(200, await clients.post('{"userId":"u","characters":20,"note":[{}]}'), "a request with another field")


@rule("A body that is no request for matchmaking answers 400, and gives no seat.")
async def bad_request_is_400(clients: Clients) -> None:
    rooms, _ = await counts(clients)
    for what, body in BAD_BODIES.items():
        require(400, await clients.post(body), what)
    if (now := (await counts(clients))[0]) > rooms:  # others may have been removed in the meantime
        raise Mismatch(f"{rooms} rooms, as before", now)
