"""Boards of a whiteboard server, and the sessions that are on them."""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
import json
import os
import socket
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from typing import Any

from websockets.asyncio.server import ServerConnection, broadcast
from websockets.exceptions import ConnectionClosed

from tests.conformance.whiteboard_messages import FAULTS, MESSAGE_LIMIT, QUEUE_LIMIT, Bad, check, check_draw


class Hub:
    """The members of boards, and the delivery of draws to them."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.boards: defaultdict[str, Counter[Session]] = defaultdict(Counter)
        self.entered: Counter[str] = Counter()
        self.returning: Counter[tuple[str, str]] = Counter()
        self.held: tuple[str, str] | None = None
        self.hoard: list[str] = []
        self.deliveries = 0

    def join(self, board: str, session: Session) -> None:
        members = self.boards[board]
        members[session] = members[session] + 1 if "joins-add-up" in FAULTS else 1
        members[session] += self.returning.pop((board, session.user), 0)

    def leave(self, board: str, session: Session) -> None:
        self.boards[board].pop(session, None)
        if not self.boards[board]:
            del self.boards[board]

    def forget(self, session: Session, *, reset: bool) -> None:
        for board in [board for board, members in self.boards.items() if session in members]:
            if "resets-close-boards" in FAULTS and reset:
                self.boards[board].clear()
            if "remembers-users" in FAULTS and session.connection.close_code == 1000:
                self.returning[board, session.user] += 1
            self.leave(board, session)

    async def publish(self, board: str, draw: dict[str, Any], text: str, sender: Session) -> None:
        mark = len(text) < 1024 and draw["seq"] % 100 == 99
        if "swaps" in FAULTS:
            if mark and self.held is None:
                self.held = (sender.user, text)
                return
            if self.held and self.held[0] == sender.user:
                held, self.held = self.held[1], None
                await self.send(board, text, sender)
                text = held
        if "reserialises" in FAULTS:
            text = json.dumps(draw, separators=(",", ":"), ensure_ascii=False)
        if "forgets-notes" in FAULTS and "note" in draw:
            text = json.dumps({name: value for name, value in draw.items() if name != "note"})
        if "spoils-large" in FAULTS and len(text) > 50_000:
            text = text[:40_000] + "7" + text[40_001:]
        if "spoils-marked" in FAULTS and mark:
            text = text.replace("[412,", "[413,", 1)
        if "hoards" in FAULTS and len(text) > 10_000:
            self.hoard += [text + str(n) for n in range(28)]
        await self.send(board, text, sender, lossy=mark and "loses" in FAULTS)
        if mark and "adds-notices" in FAULTS:
            await self.send(board, '{"type":"notice"}', sender)
        if mark and "repeats" in FAULTS:
            await self.send(board, text, sender)

    async def send(self, board: str, text: str, sender: Session, *, lossy: bool = False) -> None:
        for name in [board, *self.leaks(board)]:
            members = list(self.boards[name].items())
            if lossy:
                members.remove(next(each for each in members if each[0] is not sender))
            if "misses-one-of-ten" in FAULTS and len(members) == 10:
                members.pop()
            for session, times in members:
                if not (session is sender and "forgets-sender" in FAULTS):
                    for _ in range(times):
                        await session.deliver(name, self.spoilt(text))
                        await self.cross(name, text)

    def spoilt(self, text: str) -> str:
        """The text, with an additional digit in one of a thousand deliveries on many boards."""
        self.deliveries += len(self.boards) >= 10
        spoils = "alters-one-in-1000" in FAULTS and self.deliveries % 1000 == 999
        return text.replace('"seq":', '"seq":1', 1) if spoils else text

    async def cross(self, board: str, text: str) -> None:
        """Deliver one of a thousand messages on many boards to a member of another board, too."""
        if "crosses-one-in-1000" in FAULTS and self.deliveries % 1000 == 999:
            self.deliveries += 1
            other = next(name for name in self.boards if name != board)
            await next(iter(self.boards[other])).deliver(other, text)

    def leaks(self, board: str) -> list[str]:
        others = [name for name in self.boards if name != board]
        if "matches-prefixes" in FAULTS:
            return [name for name in others if name.startswith(board) or board.startswith(name)]
        if "matches-patterns" in FAULTS:
            return [name for name in others if fnmatch.fnmatchcase(board, name)]
        return []


class Session(ABC):
    """One connection of one client."""

    def __init__(self, connection: ServerConnection, hub: Hub) -> None:
        self.connection, self.hub = connection, hub
        self.user = ""
        self.joined: list[str] = []
        self.large = 0
        """bytes of large messages in the last second"""
        if "nagles" in FAULTS:
            wire = connection.transport.get_extra_info("socket")
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)

    @abstractmethod
    async def receive(self, message: str | bytes) -> None:
        """Raises Bad."""

    @abstractmethod
    async def deliver(self, board: str, text: str) -> None: ...

    @abstractmethod
    async def refuse(self, reason: str) -> None: ...

    async def write(self, text: str) -> None:
        transport = self.connection.transport
        if "waits-for-slow" in FAULTS:
            with contextlib.suppress(ConnectionClosed):
                await self.connection.send(text)
            return
        queued = transport.get_write_buffer_size() if not transport.is_closing() else 0
        if "ends-at-bursts" in FAULTS and len(text) > 40_000:
            self.count_large(len(text))
            asyncio.get_running_loop().call_later(1, self.count_large, -len(text))
            queued += 1 + QUEUE_LIMIT if self.large > QUEUE_LIMIT // 4 else 0
        if queued <= QUEUE_LIMIT or "queues-without-limit" in FAULTS:
            broadcast([self.connection], text)
        elif "skips-slow" not in FAULTS:
            transport.abort()

    def count_large(self, size: int) -> None:
        self.large += size

    async def run(self) -> None:
        reset = False
        spare = os.dup(self.connection.transport.get_extra_info("socket").fileno())
        try:
            async for message in self.connection:
                if "limits-characters" in FAULTS and len(message) > MESSAGE_LIMIT:
                    await self.connection.close(1009)
                try:
                    await self.receive(message)
                except Bad as bad:
                    if "errors-are-silent" not in FAULTS:
                        await self.refuse(str(bad))
                    if "errors-come-twice" in FAULTS:
                        await self.refuse(str(bad))
                    if "errors-close" in FAULTS:
                        await self.connection.close(1008)
        except ConnectionClosed as closed:
            if "dies-of-protocol-errors" in FAULTS and closed.sent and closed.sent.code in (1002, 1007):
                os._exit(3)
            reset = isinstance(closed.__cause__, ConnectionResetError)
        finally:
            self.hub.forget(self, reset=reset)
            if not (reset and "leaks-sockets" in FAULTS):
                os.close(spare)

    async def draw(self, board: str, draw: dict[str, Any], text: str) -> None:
        check_draw(draw)
        check(board in self.joined or "anyone-draws" in FAULTS, "not a member")
        if "logs-draws" in FAULTS:
            print("draw", draw["seq"], file=sys.stderr)
        await self.hub.publish(board, draw, text, self)

    async def enter(self, board: str) -> None:
        self.joined.append(board)
        self.hub.entered[board] += 1
        if "joins-late" in FAULTS and len(self.hub.boards[board]) >= 25 and self.hub.entered[board] <= 60:
            asyncio.get_running_loop().call_later(0.003, self.hub.join, board, self)
        else:
            self.hub.join(board, self)
        if "three-boards" in FAULTS and len(set(self.joined)) > 3:
            self.hub.leave(self.joined.pop(0), self)

    def exit(self, board: str) -> None:
        self.joined = [name for name in self.joined if name != board]
        if "leaving-is-ignored" not in FAULTS:
            self.hub.leave(board, self)
