"""How a server ends. All these rules judge the same end: SIGTERM with idle connections and two half-sent requests."""

from __future__ import annotations

from pushbench.conformance.posts.clients import Clients, created
from pushbench.conformance.rule import Mismatch, rule
from pushbench.machine.processes import ending

EXIT_SECONDS = 5.0


@rule(
    "A request that has begun before SIGTERM is answered, and its post is in the table.", final=True, limit_seconds=30
)
async def sigterm_finishes_requests(clients: Clients) -> None:
    said = (await clients.farewell()).late
    if isinstance(said, Mismatch):
        raise said
    no = created(said)
    if no not in await clients.rows(no):
        raise Mismatch(f"row {no}, whose post was answered with 201", "no such row")


@rule("On SIGTERM idle connections are ended by the end of their stream, not by a reset.", final=True, limit_seconds=30)
async def sigterm_ends_idle_connections(clients: Clients) -> None:
    if faults := (await clients.farewell()).idle:
        raise faults[0]


@rule("After SIGTERM no further client is served.", final=True, limit_seconds=30)
async def sigterm_refuses_new_clients(clients: Clients) -> None:
    if (await clients.farewell()).newcomer_served:
        raise Mismatch("no answer to a connection that was opened after SIGTERM", "an answer")


@rule("The process exits with 0 after SIGTERM.", final=True, limit_seconds=30)
async def sigterm_exits_with_0(clients: Clients) -> None:
    end = (await clients.farewell()).exit
    if end.code != 0:
        raise Mismatch("exit code 0", "no exit; it had to be killed" if end.killed else ending(end.code))


@rule(
    "The process exits within 5 s after SIGTERM, even with a request whose rest never comes.",
    final=True,
    limit_seconds=30,
)
async def sigterm_exits_within_5_seconds(clients: Clients) -> None:
    seconds = (await clients.farewell()).exit.seconds
    if seconds > EXIT_SECONDS:
        raise Mismatch("an exit within 5 s", f"{seconds:.1f} s")
