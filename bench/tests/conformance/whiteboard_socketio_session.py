"""The session of a whiteboard server over Socket.IO."""

from __future__ import annotations

import json
import os
import re

from websockets.exceptions import ConnectionClosed

from tests.conformance.whiteboard_hub import Session
from tests.conformance.whiteboard_messages import FAULTS, MESSAGE_LIMIT, Bad, check, parse

EVENT = re.compile(r'42(\d*)\["(\w+)",(.*)\]', re.DOTALL)


class SocketIOSession(Session):
    connected = False

    async def run(self) -> None:
        limits = {"pingInterval": 25_000, "pingTimeout": 20_000, "maxPayload": MESSAGE_LIMIT}
        upgrades = ["polling"] if "offers-upgrades" in FAULTS else []
        await self.write("0" + json.dumps({"sid": "conformance", "upgrades": upgrades} | limits))
        await super().run()

    async def receive(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            await self.binary(message)
        elif message == "40" and not self.connected:
            self.connected = True
            await self.write('40{"sid":"conformance"}')
        elif found := EVENT.fullmatch(message):
            await self.happened(found[1], found[2], found[3])
        elif message.startswith(("42[7,", '42["draw"]')):
            raise Bad("not an event with a message")
        elif message.startswith(("45", "b")):
            if "passes-binary-on" not in FAULTS:
                await self.connection.close(1003)
        elif message != "3":
            if "dies-of-broken-packets" in FAULTS:
                os._exit(3)
            await self.connection.close()

    async def binary(self, message: bytes) -> None:
        if "passes-binary-on" not in FAULTS:
            await self.connection.close(1003)
            return
        for board in self.joined:
            for session in list(self.hub.boards[board]):
                try:
                    await session.connection.send(message)
                except ConnectionClosed:
                    continue

    async def happened(self, number: str, event: str, text: str) -> None:
        body = parse(text)
        board, user = body["boardId"], body["userId"]
        check(body.get("type") == event or "believes-bodies" in FAULTS, "type is not the event")
        match body.get("type"):
            case "join":
                check(number, "no acknowledgement is asked for")
                self.user = user
                await self.enter(board)
                reply = json.dumps([{"type": "joined", "boardId": board, "userId": user}])
                await self.write(f"43{int(number) + ('acknowledges-others' in FAULTS)}{reply}")
            case "leave":
                check(board in self.joined or "leaving-never-fails" in FAULTS, "not a member")
                self.exit(board)
            case "draw":
                await self.draw(board, body, text)
            case _:
                raise Bad("unknown type")

    async def deliver(self, board: str, text: str) -> None:
        await self.write(f'42["draw",{text}]')

    async def refuse(self, reason: str) -> None:
        body = json.dumps({"type": "error", "reason": reason})
        await self.write(f'42["error",{body}]')
