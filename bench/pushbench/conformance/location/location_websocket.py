"""The protocol `location-websocket`: JSON text frames. With the rules that only it has."""

from __future__ import annotations

import json

from pushbench.conformance.location.clients import Clients
from pushbench.conformance.location.member import PROMPT, body_of
from pushbench.conformance.location.news import News, news_of
from pushbench.conformance.location.sockets import SocketMember
from pushbench.conformance.oversized import send_oversized
from pushbench.conformance.rule import Mismatch, escaped, rule

MOST_BODY = 65_536
"""Bytes of the largest message that a server accepts."""


class ProtocolMember(SocketMember):
    @property
    def path(self) -> str:
        return f"/groups/{self.group}/socket?user={self.user}"

    async def join(self, within: float) -> None:
        await self.connect()
        first = await self.next_news(within)
        if first is None:
            raise Mismatch("the first message at once", f"none within {within:g} s")
        self.first = first

    async def next_news(self, within: float) -> News | None:
        message = await self.message(within)
        return None if message is None else news_of(message)

    async def put(self, body: str) -> None:
        await self.socket.send(body)

    async def is_refused(self, body: str, what: str) -> None:
        await self.socket.send(body)
        await self.is_told_of_an_error(what)

    async def is_told_of_an_error(self, what: str) -> None:
        message = await self.message(PROMPT)
        try:
            match json.loads(message or "null"):
                case {"error": str(reason)} if reason:
                    return
        except ValueError:
            pass
        raise Mismatch(f'{{"error": "..."}} for {what}', escaped(message or "nothing"))


async def caller(clients: Clients, group: str) -> ProtocolMember:
    member = await clients.member(group)
    assert isinstance(member, ProtocolMember)
    return member


@rule("A binary frame is an error. The connection stays.")
async def binary_frame_is_refused(clients: Clients) -> None:
    group = clients.group()
    reader, culprit = await caller(clients, group), await caller(clients, group)
    await culprit.socket.send(body_of(culprit.next_position()).encode())
    await culprit.is_told_of_an_error("a binary frame")
    await reader.receives(await culprit.share())


@rule("A message of 64 KiB is read, a larger one closes its connection with 1009.")
async def large_message_closes(clients: Clients) -> None:
    group = clients.group()
    reader, culprit = await caller(clients, group), await caller(clients, group)
    position = culprit.next_position()
    await culprit.put(body_of(position).ljust(MOST_BODY))
    await reader.receives(position)
    await send_oversized(culprit.socket, body_of(culprit.next_position()).ljust(MOST_BODY + 1), MOST_BODY)
    await culprit.is_closed_with(1009, PROMPT)
    await reader.receives_nothing()


@rule("A group or user that is no id is refused with 400, as is a socket without a user.")
async def bad_socket_is_refused(clients: Clients) -> None:
    for path in ("/groups/a.b/socket?user=u", "/groups/g/socket?user=a.b", "/groups/g/socket"):
        upgrade = (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"))
        answer = await clients.ask("GET", path, None, *upgrade, ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="))
        if answer.status != 400:
            raise Mismatch(f"status 400 for {path}", answer.status)
