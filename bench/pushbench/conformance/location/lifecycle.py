"""How a server ends. All of these rules judge the same end: SIGTERM with twelve members who wait for news."""

from __future__ import annotations

from collections import Counter

from pushbench.conformance.location.clients import Clients
from pushbench.conformance.rule import Mismatch, rule
from pushbench.machine.processes import ending

EXIT_SECONDS = 5.0


@rule("On SIGTERM every member's news ends as its transport says.", final=True, limit_seconds=30)
async def sigterm_ends_the_news(clients: Clients) -> None:
    ends = Counter((await clients.farewell()).ends)
    if set(ends) != {""}:
        raise Mismatch("the end of all news", ", ".join(f"{n} x {end or 'it'}" for end, n in ends.most_common()))


@rule("On SIGTERM no further client becomes a member.", final=True, limit_seconds=30)
async def sigterm_refuses_new_clients(clients: Clients) -> None:
    if (await clients.farewell()).latecomer_served:
        raise Mismatch("no news for a client that comes when the first member's have ended", "some")


@rule("The process exits with 0 after SIGTERM.", final=True, limit_seconds=30)
async def sigterm_exits_with_0(clients: Clients) -> None:
    end = (await clients.farewell()).exit
    if end.code != 0:
        raise Mismatch("exit code 0", "no exit; it had to be killed" if end.killed else ending(end.code))


@rule("The process exits within 5 s after SIGTERM.", final=True, limit_seconds=30)
async def sigterm_exits_within_5_seconds(clients: Clients) -> None:
    seconds = (await clients.farewell()).exit.seconds
    if seconds > EXIT_SECONDS:
        raise Mismatch("an exit within 5 s", f"{seconds:.1f} s")
