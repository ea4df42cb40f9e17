"""How a server ends. All of these rules judge the same end: SIGTERM in two games, with two players that do not read."""

from __future__ import annotations

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.typing_game.clients import Clients
from pushbench.machine.processes import ending

EXIT_SECONDS = 5.0


@rule("On SIGTERM every player that reads is closed with 1001.", final=True, limit_seconds=30)
async def sigterm_closes_with_1001(clients: Clients) -> None:
    codes = (await clients.farewell()).codes
    if set(codes) != {1001}:
        raise Mismatch("close code 1001 at every player", ", ".join(f"{n} x {code}" for code, n in codes.most_common()))


@rule("On SIGTERM no further client is served.", final=True, limit_seconds=30)
async def sigterm_refuses_new_clients(clients: Clients) -> None:
    if (await clients.farewell()).latecomer_served:
        raise Mismatch("no connection after the first player was closed", "an open one")


@rule("The process exits with 0 after SIGTERM.", final=True, limit_seconds=30)
async def sigterm_exits_with_0(clients: Clients) -> None:
    end = (await clients.farewell()).exit
    if end.code != 0:
        raise Mismatch("exit code 0", "no exit; it had to be killed" if end.killed else ending(end.code))


@rule(
    "The process exits within 5 s after SIGTERM, even with a player that does not answer.", final=True, limit_seconds=30
)
async def sigterm_exits_within_5_seconds(clients: Clients) -> None:
    seconds = (await clients.farewell()).exit.seconds
    if seconds > EXIT_SECONDS:
        raise Mismatch("an exit within 5 s", f"{seconds:.1f} s")
