"""The players of one running server: each rule gets rooms of a length that no other rule uses."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from pushbench.conformance import socketio
from pushbench.conformance.connection import Connection
from pushbench.conformance.http1 import Answer, Field
from pushbench.conformance.rule import Mismatch, escaped
from pushbench.conformance.target import Target
from pushbench.conformance.together import together
from pushbench.conformance.typing_game.player import PROMPT, Player
from pushbench.conformance.waiting import begins_to_end, only_waits
from pushbench.machine.processes import Exit
from pushbench.machine.resources import Usage

JSON: Field = ("Content-Type", "application/json")
MATCHMAKE = "/api/pvp/matchmake"
SEATS = 6
COUNTDOWN = 1.0
"""Seconds from the countdown of a room to its start."""
SHORTEST = 20
"""Characters of the shortest game of a rule: two events of 16 keys."""
ROOMS_AT_END = 2


@dataclass(frozen=True)
class Farewell:
    """The end of a server with players after SIGTERM."""

    codes: Counter[int]
    """For the players that read, their close codes."""
    latecomer_served: bool
    exit: Exit


class Clients:
    def __init__(self, server: str, target: Target, origin: Clients | None = None) -> None:
        """`origin` are clients of the same server that never meet these."""
        self.server, self.target = server, target
        self._users: Iterator[int] = origin._users if origin else itertools.count(1)
        self._lengths: Iterator[int] = origin._lengths if origin else itertools.count(SHORTEST)
        self._all: list[Clients] = origin._all if origin else []
        self._all.append(self)
        self._connections: list[Connection] = []
        self._players: list[Player] = []
        self._farewell: Farewell | None = None

    def beside(self) -> Clients:
        return Clients(self.server, self.target, self)

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.target.url)
        return parts.hostname or "127.0.0.1", parts.port or 80

    def user(self) -> str:
        return f"user-{next(self._users)}"

    def length(self) -> int:
        """A number of characters that no other game has, so that no other player is matched."""
        return next(self._lengths)

    def usage(self) -> Usage:
        """The server's current usage."""
        usage = self.target.tree.usage()
        if not usage:
            raise Mismatch("a running server", "its end")
        return usage

    async def output_bytes(self) -> int:
        """The size of the server's output that is kept."""
        return await asyncio.to_thread(self.target.output_bytes)

    # Over HTTP

    async def connect(self) -> Connection:
        connection = Connection(self.address, PROMPT)
        await connection.open()
        self._connections.append(connection)
        return connection

    async def ask(self, method: str, path: str, body: bytes | None = None, *fields: Field) -> Answer:
        """The answer to one request, on a connection of its own."""
        return await (await self.connect()).ask(method, path, body, *fields)

    async def post(self, body: str | bytes, *fields: Field) -> Answer:
        """The answer to a request for matchmaking."""
        octets = body.encode() if isinstance(body, str) else body
        return await self.ask("POST", MATCHMAKE, octets, *(fields or (JSON,)))

    async def match(self, user: str, characters: int | None = None) -> str:
        """The room that the server assigns to a user."""
        length = {} if characters is None else {"characters": characters}
        return room_in(await self.post(json.dumps({"userId": user, **length})))

    async def metrics(self) -> Mapping[str, object]:
        answer = await self.ask("GET", "/metricz")
        told = answer.json()
        if answer.status != 200 or not isinstance(told, dict):
            raise Mismatch("status 200 and an object from /metricz", answer)
        return told

    # Over Socket.IO

    async def player(
        self,
        user: str | None = None,
        *,
        path: str = socketio.PATH,
        receive_buffer: int | None = None,
        compression: str | None = None,
        within: float | None = None,
    ) -> Player:
        """A player in no room. A small receive buffer keeps the backlog in the kernel small."""
        within = PROMPT if within is None else within
        # asyncio turns Nagle's algorithm off only if the protocol is specified.
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setblocking(False)
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        host, port = self.address
        try:
            await asyncio.get_running_loop().sock_connect(sock, (host, port))
            connection = await connect(
                f"ws://{host}:{port}{path}",
                sock=sock,
                compression=compression,
                user_agent_header=None,
                open_timeout=within,
                ping_interval=None,
                close_timeout=1,
                max_size=None,
                max_queue=None,  # a player always reads, unless a rule says otherwise
            )
        except BaseException:
            sock.close()
            raise
        player = Player(connection, user or self.user())
        self._players.append(player)
        await player.start(within)
        return player

    async def gathered(self, players: Sequence[Player], characters: int | None = None) -> str:
        """Have players join one room. Returns the room; its game begins by itself when it is full."""
        characters = characters or self.length()
        rooms = {await self.match(player.user, characters) for player in players}
        if len(rooms) != 1:
            raise Mismatch(f"one room for {len(players)} players", f"{len(rooms)} rooms")
        [room] = rooms
        for player in players:
            await player.join(room)
        return room

    async def game(self, characters: int | None = None, *more: Player) -> list[Player]:
        """Six players of a game that has just begun."""
        fresh = await together(self.player() for _ in range(SEATS - len(more)))
        players = [*more, *fresh]
        await self.gathered(players, characters)
        await together(begins(player) for player in players)
        return players

    async def leaves(self, *players: Player) -> None:
        """End the connections of players with a reset, and wait until the server notices."""
        before = await self.settled()
        for player in players:
            player.reset()
        await self._has(before - len(players), f"when {len(players)} have left")

    async def settled(self) -> int:
        """The number of players in rooms, once the server has noticed that the players of other rules have left."""
        players = sum(bool(player.room) for clients in self._all for player in clients._players)
        await self._has(players, "when those of other rules have left")
        return players

    async def _has(self, players: int, when: str) -> None:
        deadline = time.monotonic() + PROMPT
        while (seen := await self.playing()) != players:
            if time.monotonic() > deadline:
                raise Mismatch(f"{players} players {when}", seen)
            await asyncio.sleep(0.02)

    async def playing(self) -> int:
        """The number of players in /metricz."""
        count = (await self.metrics()).get("players")
        if type(count) is not int:
            raise Mismatch("a number of players on /metricz", count)
        return count

    async def dismiss(self) -> None:
        """Close all connections."""
        players, self._players = self._players, []
        connections, self._connections = self._connections, []
        for player in players:
            player.close()
        for connection in connections:
            connection.close()
        await asyncio.sleep(0)  # lets the transports close

    async def farewell(self) -> Farewell:
        """End the server once; every rule about its end judges this one end."""
        if not self._farewell:
            self._farewell = await self._end()
        return self._farewell

    async def _end(self) -> Farewell:
        games = await together(self.game() for _ in range(ROOMS_AT_END))
        readers = [player for game in games for player in game[1:]]
        for game in games:
            game[0].stop_reading()  # and therefore never answers the close
        await self.connect()  # a connection that sends nothing
        ending = asyncio.create_task(asyncio.to_thread(self.target.terminate, 8.0))
        closes = [asyncio.create_task(reader.is_closed("SIGTERM", within=10)) for reader in readers]
        await begins_to_end(closes, ending, self.target.replicas)
        try:
            async with asyncio.timeout(1):
                await self.player()
            latecomer_served = True
        except (OSError, WebSocketException, Mismatch, TimeoutError):
            latecomer_served = False
        codes = Counter(await together(_code(close) for close in closes))
        only_waits()
        return Farewell(codes, latecomer_served, await ending)


async def begins(player: Player) -> None:
    """Wait for the countdown and the start."""
    await player.next("pvp:countdown", PROMPT)
    await player.next("pvp:start", COUNTDOWN + PROMPT)


async def _code(close: asyncio.Task[int]) -> int:
    """The close code; 0 if the connection stayed open."""
    try:
        return await close
    except Mismatch:
        return 0


def room_in(answer: Answer) -> str:
    match answer.json():
        case {"roomId": str(room)} if answer.status == 200 and room:
            return room
    raise Mismatch('status 200 with {"roomId": "..."}', f"{answer.status} {escaped(answer.body)}")
