"""Quart's WebSocket with a bound on messages that the application has not taken yet."""

import asyncio

from hypercorn.typing import WebsocketScope
from quart import Quart
from quart.asgi import ASGIWebsocketConnection

# As many as Hypercorn queues for an application. When both are full, it no longer reads from the client.
MAX_QUEUED_MESSAGES = 10


class Websocket(ASGIWebsocketConnection):
    def __init__(self, app: Quart, scope: WebsocketScope) -> None:
        super().__init__(app, scope)
        self.queue = asyncio.Queue(MAX_QUEUED_MESSAGES)
