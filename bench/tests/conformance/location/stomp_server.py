"""A broker of positions over STOMP that keeps every rule, or breaks those that its faults are about."""

from __future__ import annotations

import asyncio
import http
import json
from collections.abc import Collection
from urllib.parse import urlsplit

from websockets import Subprotocol
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from pushbench.conformance.stomp import Frame
from tests.conformance.location.fleet import Position, Refused, news
from tests.conformance.location.socket_server import SocketServer

TOPIC, APPLICATION, JOIN = "/topic/group.", "/app/group.", ".join"
ERRORS = "/user/queue/errors"


class Session:
    """What one client subscribed to, and what it is still to be sent."""

    def __init__(self) -> None:
        self.subscriptions: dict[str, str] = {}
        """ids, by destinations"""
        self.queue: asyncio.Queue[str] = asyncio.Queue()

    def tell(self, destination: str, body: str) -> None:
        if subscription := self.subscriptions.get(destination):
            headers = {"destination": destination, "subscription": subscription, "message-id": "1"}
            self.queue.put_nowait(Frame("MESSAGE", headers, body).encode())


class StompServer(SocketServer):
    """Serves in the loop in which it is started."""

    subprotocols = (Subprotocol("v12.stomp"),)

    def __init__(self, name: str, faults: Collection[str]) -> None:
        super().__init__(name, faults)
        self._sessions: set[Session] = set()

    def _respond(self, connection: ServerConnection, request: Request) -> Response | None:
        match urlsplit(request.path).path:
            case "/stomp":
                return None
            case "/healthz" | "/metricz" | "/nothing-here":
                return super()._respond(connection, request)
        return connection.respond(http.HTTPStatus.NOT_FOUND, "")

    async def _serve(self, connection: ServerConnection) -> None:
        session = Session()
        self._sessions.add(session)
        sending = asyncio.create_task(self._send(connection, session.queue))
        try:
            async for message in connection:
                if "logs-requests" in self.faults:
                    self.printed += 20
                frame = Frame.decode(str(message))
                assert frame, message
                self._take(session, frame)
        except ConnectionClosed:
            pass
        finally:
            self._sessions.discard(session)
            self._forget(session)
            sending.cancel()

    def _take(self, session: Session, frame: Frame) -> None:
        destination = frame.headers.get("destination", "")
        match frame.command:
            case "CONNECT":
                session.queue.put_nowait(Frame("CONNECTED", {"version": "1.2"}).encode())
            case "SUBSCRIBE":
                session.subscriptions[destination] = frame.headers["id"]
                if destination.startswith(TOPIC):
                    self._listen_to(session, destination)
            case "DISCONNECT" if "forgets-receipts" not in self.faults:
                session.queue.put_nowait(Frame("RECEIPT", {"receipt-id": frame.headers["receipt"]}).encode())
            case "SEND" if destination.startswith(APPLICATION):
                try:
                    self._share(destination.removeprefix(APPLICATION), frame.body)
                except Refused:
                    session.tell(ERRORS, json.dumps({"error": "refused"}))
            case "SEND" if "forwards-everything" in self.faults:
                self._tell_all(destination, frame.body)

    def _listen_to(self, session: Session, topic: str) -> None:
        def tell(version: int, positions: list[Position]) -> None:
            session.tell(topic, news(version, positions))

        self.fleet.group(topic.removeprefix(TOPIC)).listeners[session] = ("", tell)

    def _share(self, group: str, body: str) -> None:
        try:
            user = json.loads(body)["user"]
        except (ValueError, TypeError, KeyError):
            raise Refused(400) from None
        if group.endswith(JOIN):
            self._tell_all(TOPIC + group.removesuffix(JOIN), json.dumps({"joined": user}))
        else:
            self.fleet.put(group, user, body)

    def _tell_all(self, destination: str, body: str) -> None:
        for session in self._sessions:
            session.tell(destination, body)

    def _forget(self, session: Session) -> None:
        if "keeps-listeners" in self.faults:
            return
        for group in self.fleet.groups.values():
            group.listeners.pop(session, None)
