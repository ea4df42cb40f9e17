"""The Quart application: /healthz and the whiteboard on /ws."""

import asyncio
import base64
import binascii
import json
import platform
from importlib.metadata import version

from quart import Quart, websocket

from app.boards import Boards
from app.client import Client
from app.messages import BadMessage, Draw, Join, parse_message
from app.websocket import Websocket

GOING_AWAY = 1001

app = Quart(__name__)
app.asgi_websocket_class = Websocket
boards = Boards()
clients: set[Client] = set()

HEALTH = {
    "server": "quart",
    "runtime": f"{platform.python_implementation()} {platform.python_version()}",
    "framework": f"Quart {version('quart')} on Hypercorn {version('hypercorn')}",
}


@app.get("/healthz")
async def healthz() -> dict[str, str]:
    return HEALTH


@app.before_websocket
async def refuse_bad_key() -> tuple[str, int] | None:
    """Hypercorn accepts any key."""
    try:
        key = base64.b64decode(websocket.headers["Sec-WebSocket-Key"], validate=True)
    except binascii.Error:
        key = b""
    return None if len(key) == 16 else ("Sec-WebSocket-Key must be 16 bytes in base64", 400)


@app.websocket("/ws")
async def whiteboard() -> tuple[str, int] | None:
    if app.shutdown_event.is_set():
        return "the server is going away", 503
    await websocket.accept()
    client = Client()
    clients.add(client)
    try:
        async with asyncio.TaskGroup() as tasks:
            receiving = tasks.create_task(receive(client))
            async for text in client.texts():
                await websocket.send(text)
            receiving.cancel()
    finally:
        clients.remove(client)
        boards.leave_all(client)
    await websocket.close(GOING_AWAY)
    return None


def stop() -> None:
    """Makes every client leave, and accepts no other."""
    app.shutdown_event.set()
    for client in clients:
        client.end()


async def receive(client: Client) -> None:
    while True:
        text = await websocket.receive()
        try:
            handle(text, client)
        except BadMessage as error:
            reply(client, type="error", reason=str(error))
        # A client that sends faster than its boards are served has to wait.
        await client.all_sent()


def handle(text: str | bytes | None, client: Client) -> None:
    if not isinstance(text, str):
        raise BadMessage("a message must be a text frame")
    message = parse_message(text)
    if isinstance(message, Join):
        boards.join(message.board_id, client)
        reply(client, type="joined", boardId=message.board_id, userId=message.user_id)
    elif not boards.has(message.board_id, client):
        raise BadMessage(f"{message.type}: this connection has not joined the board")
    elif isinstance(message, Draw):
        boards.broadcast(message.board_id, text)
    else:
        boards.leave(message.board_id, client)


def reply(client: Client, **message: str) -> None:
    client.send(json.dumps(message, ensure_ascii=False))
