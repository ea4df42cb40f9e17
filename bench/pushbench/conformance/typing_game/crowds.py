"""Many clients at once: vanishing, and not reading."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from pushbench.conformance.bounds import within_bound
from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.typing_game.clients import SEATS, Clients, begins
from pushbench.conformance.typing_game.player import WRONG

FLOOD, BATCH = 60_000, 250
"""Maximum states until a player that does not read is disconnected: over 200 bytes each, 12 MB in all. Kernels hold at
most 6 MB of them, and a server 1 MiB."""
LONG = 64
"""Characters of a long userId."""


@rule("When half of a room vanishes with TCP resets, the other half misses nothing.", beside_others=True)
async def resets_harm_nobody(clients: Clients) -> None:
    players = await clients.game()
    typist, survivors, victims = players[0], players[:3], players[3:]
    states = []
    for victim in victims:
        states += [await typist.type(WRONG) for _ in range(5)]
        victim.reset()
    states += [await typist.type(WRONG) for _ in range(20)]
    await together(survivor.receives(*states) for survivor in survivors)
    for _ in range(2):  # a server on a busy machine may have read all this before it noticed the resets
        state = await typist.type(WRONG)
        await together(survivor.receives(state) for survivor in survivors)


@rule("A player that stops reading is disconnected, costs bounded memory, and delays nobody.", limit_seconds=30)
async def silent_player_is_disconnected(clients: Clients) -> AsyncGenerator[None]:
    silent = await clients.player(receive_buffer=4096)
    typist = await clients.player("x" * LONG)
    others = await together(clients.player() for _ in range(SEATS - 2))
    players = [silent, typist, *others]
    await clients.gathered(players)
    await together(begins(player) for player in players)
    yield
    silent.stop_reading()
    present, memory = await clients.settled(), clients.usage()
    for _ in range(0, FLOOD, BATCH):
        states = [await typist.type(WRONG, sentAt=2**53 - 1) for _ in range(BATCH)]
        await together(player.receives(*states) for player in (typist, others[0]))
        if await clients.playing() < present:
            break
    else:
        raise Mismatch("the end of a player that does not read", f"a player after {FLOOD:,} states")
    within_bound(memory, clients.usage())
