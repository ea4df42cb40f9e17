"""A whiteboard server that keeps every rule, or breaks those that its arguments, the faults, are about.

It shows that each rule can fail, and that none fails without a reason. It speaks whiteboard-json on /ws and
whiteboard-stomp on /stomp. Every fault is an `if` beside what it spoils.
"""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
import json
import logging
import os
import signal
import socket
import sys
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, broadcast, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

FAULTS = frozenset(sys.argv[1:])
MESSAGE_LIMIT, QUEUE_LIMIT = 65_536, 1 << 20
SEND_BUFFER = 128 << 10


class Bad(Exception):
    """A message that is answered with an error."""


def check(condition: object, reason: str) -> None:
    if not condition:
        raise Bad(reason)


def parse(text: str) -> dict[str, Any]:
    def no_constant(name: str) -> float:
        check("takes-nan" in FAULTS, f"{name} is no JSON")
        return float(name)

    caught = (ValueError,) if "dies-of-deep-json" in FAULTS else (ValueError, RecursionError)
    try:
        message = json.loads(text, parse_constant=no_constant)
    except caught:
        raise Bad("not JSON") from None
    if not isinstance(message, dict):
        raise Bad("not an object")
    for name in ("boardId", "userId"):
        value = message.get(name)
        longest = 63 if "names-of-63" in FAULTS else 64
        check(isinstance(value, str) and 1 <= len(value) <= longest, f"{name} must have 1 to 64 characters")
    return message


def check_draw(message: dict[str, Any]) -> None:
    for name in ("seq", "sentAt"):
        check(type(message.get(name)) is int and message[name] >= 0, f"{name} must be an integer from 0")
    stroke = message.get("stroke")
    check(isinstance(stroke, list) and stroke, "stroke must have points")
    if "takes-any-stroke" not in FAULTS:
        good = all(
            isinstance(point, list) and len(point) == 2 and all(type(number) in (int, float) for number in point)
            for point in stroke or []
        )
        check(good, "a point is a pair of numbers")


class Hub:
    """Who gets what."""

    def __init__(self) -> None:
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
        if "spoils-large" in FAULTS and len(text) > 50_000:
            text = text[:40_000] + "7" + text[40_001:]
        if "hoards" in FAULTS and len(text) > 10_000:
            self.hoard += [text + str(n) for n in range(28)]
        await self.send(board, text, sender, lossy=mark and "loses" in FAULTS)
        if mark and "repeats" in FAULTS:
            await self.send(board, text, sender)

    async def send(self, board: str, text: str, sender: Session, *, lossy: bool = False) -> None:
        for name in [board, *self.leaks(board)]:
            members = list(self.boards[name].items())
            if "misses-one-of-ten" in FAULTS and len(members) == 10:
                members.pop()
            for session, times in members[lossy:]:
                if not (session is sender and "forgets-sender" in FAULTS):
                    for _ in range(times):
                        await session.deliver(name, self.spoilt(text))
                        await self.cross(name, text)

    def spoilt(self, text: str) -> str:
        """The text, but one in a thousand on many boards has another digit."""
        self.deliveries += len(self.boards) >= 10
        spoils = "alters-one-in-1000" in FAULTS and self.deliveries % 1000 == 999
        return text.replace('"seq":', '"seq":1', 1) if spoils else text

    async def cross(self, board: str, text: str) -> None:
        """One in a thousand deliveries on many boards is made to a member of another one, too."""
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


class JsonSession(Session):
    async def receive(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            if "binary-closes" in FAULTS:
                await self.connection.close(1003)
            check("binary-is-text" in FAULTS, "not a text frame")
            message = bytes(message).decode(errors="replace")
        body = parse(message)
        board, user = body["boardId"], body["userId"]
        match body.get("type"):
            case "join":
                self.user = user
                await self.enter(board)
                reply = {"type": "joined", "boardId": board, "userId": user}
                if "joined-without-user" in FAULTS:
                    del reply["userId"]
                await self.write(json.dumps(reply))
            case "leave":
                check(board in self.joined or "leaving-never-fails" in FAULTS, "not a member")
                self.exit(board)
            case "draw":
                await self.draw(board, body, message)
            case _:
                raise Bad("unknown type")

    async def deliver(self, board: str, text: str) -> None:
        await self.write(text)

    async def refuse(self, reason: str) -> None:
        await self.write(json.dumps({"type": "error", "reason": reason}))


class StompSession(Session):
    def __init__(self, connection: ServerConnection, hub: Hub) -> None:
        super().__init__(connection, hub)
        self.subscriptions: dict[str, str] = {}  # destination by id

    async def receive(self, message: str | bytes) -> None:
        try:
            head, _, body = str(message)[: str(message).rindex("\0")].partition("\n\n")
            command, *lines = head.split("\n")
            pairs = [line.split(":", 1) for line in lines]
            headers = {name: value.replace("\\c", ":") for name, value in pairs}
            await self.frame(command, headers, body)
        except (ValueError, KeyError) as error:
            if "dies-of-broken-frames" in FAULTS:
                os._exit(3)
            await self.end(str(error))

    async def frame(self, command: str, headers: dict[str, str], body: str) -> None:
        match command:
            case "CONNECT":
                await self.write("CONNECTED\nversion:1.2\nheart-beat:0,0\n\n\0")
            case "SUBSCRIBE":
                destination = headers["destination"]
                if destination.startswith("/topic/board."):
                    await self.enter(destination.removeprefix("/topic/board."))
                elif destination != "/user/queue/errors" and "subscribes-anything" not in FAULTS:
                    await self.end(f"no destination {destination}")
                self.subscriptions[headers["id"]] = destination
            case "UNSUBSCRIBE":
                self.exit(self.subscriptions.pop(headers["id"]).removeprefix("/topic/board."))
            case "SEND":
                await self.sent(headers["destination"], body)
            case _:
                raise ValueError("unknown command")

    async def sent(self, destination: str, text: str) -> None:
        if destination.startswith("/topic/board.") and "topics-are-open" in FAULTS:
            for session in self.hub.boards[destination.removeprefix("/topic/board.")]:
                await session.deliver(destination.removeprefix("/topic/board."), text)
        elif destination.startswith("/app/board."):
            board = destination.removeprefix("/app/board.")
            body = parse(text)
            if "believes-bodies" in FAULTS:
                board = body["boardId"]
            check(body["boardId"] == board, "boardId is not the destination's")
            match body.get("type"):
                case "join":
                    check(board in self.joined, "not subscribed")
                    self.user = body["userId"]
                    await self.hub.send(board, text, self)
                case "draw":
                    await self.draw(board, body, text)
                case _:
                    raise Bad("unknown type")
        else:
            await self.end(f"no destination {destination}")

    async def deliver(self, board: str, text: str) -> None:
        destination = f"/topic/board.{board}"
        ids = [name for name, subscribed in self.subscriptions.items() if subscribed == destination]
        await self.message(ids[0] if ids else board, destination, text)

    async def refuse(self, reason: str) -> None:
        await self.message("errors", "/user/queue/errors", json.dumps({"type": "error", "reason": reason}))

    async def message(self, subscription: str, destination: str, body: str) -> None:
        headers = {"subscription": subscription, "message-id": "1", "destination": destination}
        lines = [f"{name}:{value.replace(':', chr(92) + 'c')}" for name, value in headers.items()]
        await self.write("\n".join(["MESSAGE", *lines, "", f"{body}\0"]))

    async def end(self, reason: str) -> None:
        await self.write(f"ERROR\nmessage:{reason[:40].encode('unicode_escape').decode()}\n\n\0")
        await self.connection.close()


def respond(connection: ServerConnection, request: Request) -> Response | None:
    path = request.path.partition("?")[0]
    if path == "/healthz":
        name = "" if "healthz-is-anonymous" in FAULTS else os.environ["SERVER"]
        body = json.dumps({"server": name, "runtime": sys.version.split()[0], "framework": "websockets"})
        return Response(200, "OK", Headers({"Content-Length": str(len(body))}), body.encode())
    if path in ("/ws", "/stomp"):
        return None
    if "any-upgrade" in FAULTS and "Upgrade" in request.headers:
        return None
    if "any-path" in FAULTS and "Upgrade" not in request.headers:
        return connection.respond(HTTPStatus.OK, "welcome")
    return connection.respond(HTTPStatus.NOT_FOUND, "nothing here")


class OneAtATime(ServerConnection):
    """Shakes hands with one client after another."""

    turn = asyncio.Lock()

    async def handshake(self, *arguments: Any, **options: Any) -> None:
        async with self.turn:
            await super().handshake(*arguments, **options)


def listener(port: int) -> socket.socket:
    """A socket whose connections have a small buffer for what is sent, so that a slow reader fills it soon."""
    # asyncio turns Nagle's algorithm off only where the protocol is named.
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    made.bind(("127.0.0.1", port))
    return made


async def main() -> None:
    hub = Hub()
    running = 0

    async def handle(connection: ServerConnection) -> None:
        nonlocal running
        running += 1
        stomp = connection.request and connection.request.path == "/stomp"
        try:
            if "hundred-clients" in FAULTS and running > 100:
                await connection.close(1013)
            await (StompSession if stomp else JsonSession)(connection, hub).run()
        finally:
            running -= 1

    limit: int | None = MESSAGE_LIMIT
    if "limits-one-less" in FAULTS:
        limit = MESSAGE_LIMIT - 1
    if {"limits-nothing", "limits-characters"} & FAULTS:
        limit = None
    server = await serve(
        handle,
        sock=listener(int(os.environ["PORT"])),
        process_request=respond,
        compression="deflate" if "compresses" in FAULTS else None,
        max_size=limit,
        ping_interval=None,
        close_timeout=0.3,
        backlog=1000,
        create_connection=OneAtATime if "one-handshake-at-a-time" in FAULTS else ServerConnection,
    )
    print("listens on", server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, outage, hub, server)
    await ended.wait()
    code = 1012 if "closes-with-1012" in FAULTS else 1001
    if "accepts-to-the-end" in FAULTS:
        await asyncio.wait([asyncio.create_task(each.close(code)) for each in server.connections])
        await asyncio.sleep(0.5)
    server.close(code=code)
    await asyncio.wait([asyncio.ensure_future(server.wait_closed())], timeout=3)
    if "lingers" in FAULTS:
        await asyncio.sleep(6)
    os._exit(1 if "exits-with-1" in FAULTS else 0)


def outage(hub: Hub, server: Server) -> None:
    """The service that this server would need is lost."""
    if "outage-ends-memberships" in FAULTS:
        hub.boards.clear()
    if "outage-ends-connections" in FAULTS:
        for connection in server.connections:
            connection.transport.abort()


if __name__ == "__main__":
    logging.disable()
    asyncio.run(main())
