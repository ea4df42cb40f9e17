"""The clients of one running location server: each rule gets members of unused groups."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from pushbench.conformance.connection import Connection
from pushbench.conformance.http1 import Answer, Field
from pushbench.conformance.location.member import PROMPT, Member
from pushbench.conformance.rule import Mismatch, escaped
from pushbench.conformance.target import Target
from pushbench.conformance.together import together
from pushbench.conformance.waiting import begins_to_end, only_waits
from pushbench.machine.processes import Exit
from pushbench.machine.resources import Usage

JSON: Field = ("Content-Type", "application/json")
MEMBERS_AT_END = 12


@dataclass(frozen=True)
class Farewell:
    """The end of a server with members after SIGTERM."""

    ends: Sequence[str]
    """For each member, the fault in its end; empty if it ended as its transport requires."""
    latecomer_served: bool
    exit: Exit


class Clients:
    def __init__(self, server: str, target: Target, protocol_member: type[Member]) -> None:
        self.server, self.target, self._protocol_member = server, target, protocol_member
        self._numbers = itertools.count(1)
        self._connections: list[Connection] = []
        self._members: list[Member] = []
        self._farewell: Farewell | None = None

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.target.url)
        return parts.hostname or "127.0.0.1", parts.port or 80

    @property
    def tells_of_before(self) -> bool:
        return self._protocol_member.tells_of_before

    @property
    def tells_of_all(self) -> bool:
        return self._protocol_member.tells_of_all

    def group(self) -> str:
        """An unused group."""
        return f"group-{next(self._numbers)}"

    def usage(self) -> Usage:
        """The server's current usage."""
        usage = self.target.tree.usage()
        if not usage:
            raise Mismatch("a running server", "its end")
        return usage

    async def output_bytes(self) -> int:
        """The size of the server's output that is kept."""
        return await asyncio.to_thread(self.target.output_bytes)

    async def connect(self, *, receive_buffer: int | None = None) -> Connection:
        connection = Connection(self.address, PROMPT, receive_buffer)
        await connection.open()
        self._connections.append(connection)
        return connection

    async def ask(self, method: str, target: str, body: bytes | None = None, *fields: Field) -> Answer:
        """The answer to one request, on a connection of its own."""
        return await (await self.connect()).ask(method, target, body, *fields)

    async def put(self, group: str, user: str, body: str, *fields: Field) -> Answer:
        """The answer to a PUT, on a connection of its own."""
        return await self.ask("PUT", f"/groups/{group}/positions/{user}", body.encode(), *(fields or (JSON,)))

    async def member(self, group: str, user: str | None = None, within: float = PROMPT) -> Member:
        member = self._protocol_member(self, group, user or f"user-{next(self._numbers)}")
        self._members.append(member)
        await member.join(within)
        return member

    async def members(self, group: str, count: int = 4, within: float = PROMPT) -> list[Member]:
        """Members who join at the same time."""
        return await together(self.member(group, within=within) for _ in range(count))

    async def metrics(self) -> tuple[int, int]:
        """The groups and the listeners in /metricz."""
        answer = await self.ask("GET", "/metricz")
        try:
            told = json.loads(answer.body)
        except ValueError:
            told = None
        match told:
            case {"groups": int(groups), "listeners": int(listeners)}:
                return groups, listeners
        raise Mismatch('{"groups": 0, "listeners": 0}, or other numbers', escaped(answer.body))

    async def dismiss(self) -> None:
        """Close all connections."""
        members, self._members = self._members, []
        connections, self._connections = self._connections, []
        for member in members:
            await member.close()
        for connection in connections:
            connection.close()
        await asyncio.sleep(0)  # lets the transports close

    async def farewell(self) -> Farewell:
        """End the server once; every rule about its end judges this one end."""
        if not self._farewell:
            self._farewell = await self._end()
        return self._farewell

    async def _end(self) -> Farewell:
        groups = [self.group() for _ in range(MEMBERS_AT_END // 4)]
        members = [member for group in groups for member in await self.members(group)]
        waiting = [asyncio.create_task(end_of(member)) for member in members]
        await asyncio.sleep(0.1)  # they are waiting for news
        ending = asyncio.create_task(asyncio.to_thread(self.target.terminate, 8.0))
        await begins_to_end(waiting, ending, self.target.replicas)
        try:
            async with asyncio.timeout(1):
                await self.member(groups[0])
            latecomer_served = True
        except (OSError, Mismatch, TimeoutError):
            latecomer_served = False
        ends = await asyncio.gather(*waiting)
        only_waits()
        return Farewell(ends, latecomer_served, await ending)


async def end_of(member: Member) -> str:
    """The fault in the end of a member's news; empty if there is none."""
    try:
        await member.is_ended(within=10)
    except Mismatch as mismatch:
        return mismatch.seen
    return ""
