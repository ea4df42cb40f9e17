"""Sessions of a whiteboard server, by protocol."""

from __future__ import annotations

import asyncio
import json
import os
import time

from websockets.asyncio.server import ServerConnection

from tests.conformance.whiteboard_hub import Hub, Session
from tests.conformance.whiteboard_messages import FAULTS, Bad, check, parse


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
                if "says-hello" in FAULTS:
                    await self.write('{"type":"hello"}')
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
        self.subscriptions: dict[str, str] = {}  # destinations by id

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
                if "greets-late-when-cold" in FAULTS:
                    await asyncio.sleep(max(0.0, self.hub.started + 4 - time.monotonic()))
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
            case "DISCONNECT":
                for board in self.joined:
                    self.exit(board)
                if "forgets-receipts" not in FAULTS:
                    await self.write(f"RECEIPT\nreceipt-id:{headers['receipt']}\n\n\0")
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
