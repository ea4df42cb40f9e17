"""How a game ends, and what follows."""

from __future__ import annotations

import json

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.typing_game.clients import Clients
from pushbench.conformance.typing_game.player import Player


async def is_over(player: Player, room: str, places: list[str]) -> None:
    told = await player.next("pvp:over")
    if told != {"roomId": room, "places": places}:
        raise Mismatch(f"the end of {room} with the places {places}", json.dumps(told))


@rule("A player that has finished types no more, and the game goes on for the others.", beside_others=True)
async def finished_player_types_no_more(clients: Clients) -> None:
    players = await clients.game()
    first, second = players[:2]
    states = await first.finish()
    await together(player.receives(*states) for player in players)
    await first.say("pvp:keystrokes", first.keystrokes(first.text[-1]))
    await first.is_refused("a keystroke after the end of the text")
    state = await second.type_next()
    await together(player.receives(state) for player in players)
    await first.receives_nothing()


async def play_to_the_end(players: list[Player]) -> None:
    """The players finish one after another, which determines their places."""
    for typist in players:
        states = await typist.finish()
        await together(player.receives(*states) for player in players)
    places = [player.user for player in players]
    await together(is_over(player, players[0].room, places) for player in players)


@rule(
    "When all have finished, each member gets all states and then pvp:over, with the places as they finished.",
    beside_others=True,
)
async def game_ends_when_all_have_finished(clients: Clients) -> None:
    joined = await clients.game()
    players = [joined[at] for at in (3, 0, 5, 1, 4, 2)]
    await play_to_the_end(players)
    await players[0].say("pvp:keystrokes", players[0].keystrokes("T"))
    await players[0].is_refused("a keystroke after pvp:over")
    await players[1].receives_nothing()
    await (await clients.player()).is_turned_away(players[0].room, "a room that is over")


@rule(
    "After pvp:over a rematch is matchmaking and a join again, on the same connection.",
    limit_seconds=20,
    beside_others=True,
)
async def rematch_is_played_on_the_same_connection(clients: Clients) -> None:
    length = clients.length()
    players = await clients.game(length)
    champion, *others = players
    await play_to_the_end(players)
    room = champion.room
    again = await clients.game(length, champion)
    if champion.room == room:
        raise Mismatch("another room for the rematch", "the same room")
    state = await champion.type_next()
    await together(player.receives(state) for player in again)
    await together(other.receives_nothing() for other in others)


@rule(
    "A player that leaves is not waited for: when it was the only one that typed, the game of the others ends.",
    beside_others=True,
)
async def leaver_is_not_waited_for(clients: Clients) -> None:
    leaver, *others = await clients.game()
    for typist in others:
        states = await typist.finish()
        await together(player.receives(*states) for player in others)
    await others[0].receives_nothing()
    leaver.reset()
    await together(is_over(player, leaver.room, [other.user for other in others]) for player in others)
