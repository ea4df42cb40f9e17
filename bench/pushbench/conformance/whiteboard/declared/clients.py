"""The clients of one running server that declares its protocol: each rule gets fresh ones in groups of their own."""

from __future__ import annotations

from urllib.parse import quote

from websockets import Subprotocol

from pushbench.catalog.protocols import read_protocol
from pushbench.conformance.declared_reader import Reader, Values
from pushbench.conformance.rule import NotAsked
from pushbench.conformance.target import Declared, Target
from pushbench.conformance.whiteboard.client import PROMPT
from pushbench.conformance.whiteboard.clients import Clients as SuiteClients
from pushbench.conformance.whiteboard.declared.talker import Ledger, Talker
from pushbench.conformance.whiteboard.declared.traffic import Traffic, play


class Clients(SuiteClients):
    def __init__(self, server: str, target: Target, declared: Declared) -> None:
        super().__init__(server, target, Talker)
        self.declared = declared
        self.declaration = declared.protocol.declaration
        self._secrets = declared.protocol.secrets()
        self._ledger = Ledger()
        self._users: dict[str, int] = {}
        self._traffic: Traffic | None = None
        self._others: list[Clients] = []

    def board(self) -> str:
        """An unused group."""
        return f"b-{next(self._numbers)}"

    async def member(
        self, *boards: str, user: str | None = None, receive_buffer: int | None = None, within: float = PROMPT
    ) -> Talker:
        """A client in one group. A returning user keeps its number."""
        [group] = boards
        own = Values(group, self._number_of(user))
        reader = Reader(self.declaration, self._secrets, own)
        path, query = (
            reader.filled(part, escape=lambda text: quote(text, safe=""))
            for part in (self.declaration.path, self.declaration.query)
        )
        connection = await self.open(
            f"{path}?{query}" if query else path,
            receive_buffer,
            [Subprotocol(self.declaration.subprotocol)] if self.declaration.subprotocol else None,
            headers={header.name: reader.filled(header.value, escape=str) for header in self.declaration.headers},
        )
        talker = await self.admit(Talker(connection, own, self.declaration, reader, self._ledger), within)
        await talker.join(group, within)
        return talker

    def _number_of(self, user: str | None) -> int:
        name = user or f"client {next(self._numbers)}"
        if name.startswith("client "):
            return int(name.removeprefix("client "))
        return self._users.setdefault(name, next(self._numbers))

    def with_text(self, length: int) -> Clients | None:
        """Clients whose messages have a text of `length` characters; None if the protocol has no text."""
        protocol = read_protocol(self.declared.protocol.file.path, text=length)
        if protocol.declaration == self.declaration:
            return None
        other = Clients(self.server, self.target, Declared(protocol, self.declared.converse))
        other._numbers, other._ledger = self._numbers, self._ledger
        self._others.append(other)
        return other

    async def traffic(self) -> Traffic:
        """A small load, generated once; every rule about deliveries judges the same one."""
        if not self._traffic:
            self._traffic = await play(self)
        return self._traffic

    async def dismiss(self) -> None:
        await super().dismiss()
        others, self._others = self._others, []
        for other in others:
            await other.dismiss()

    def require(self, present: object, key: str) -> None:
        """Raises NotAsked if the protocol does not declare something."""
        if not present:
            raise NotAsked(f"the protocol declares no `{key}`")
