"""The FastAPI application: /healthz and the whiteboard on /ws."""

import asyncio
import json
import platform
from importlib.metadata import version

from fastapi import FastAPI, Response, WebSocket

from app.boards import Boards, send
from app.messages import BadMessage, Draw, Join, parse_message

app = FastAPI(openapi_url=None)
boards = Boards()

HEALTH = {
    "server": "fastapi",
    "runtime": f"{platform.python_implementation()} {platform.python_version()}",
    "framework": f"FastAPI {version('fastapi')} on uvicorn {version('uvicorn')}",
}


@app.get("/healthz")
async def healthz() -> dict[str, str]:
    return HEALTH


@app.websocket("/ws")
async def whiteboard(client: WebSocket) -> None:
    await client.accept()
    try:
        while (event := await client.receive())["type"] == "websocket.receive":
            try:
                await handle(event.get("text"), client)
            except BadMessage as error:
                await reply(client, type="error", reason=str(error))
            # `receive` does not wait while messages are queued: a flood from one client would delay the rest.
            await asyncio.sleep(0)
    finally:
        boards.leave_all(client)


@app.websocket("/{path:path}")
async def not_found(client: WebSocket) -> None:
    """Without it the answer would be 403."""
    await client.send_denial_response(Response(status_code=404))


async def handle(text: str | None, client: WebSocket) -> None:
    if text is None:
        raise BadMessage("a message must be a text frame")
    message = parse_message(text)
    if isinstance(message, Join):
        boards.join(message.board_id, client)
        await reply(client, type="joined", boardId=message.board_id, userId=message.user_id)
    elif not boards.has(message.board_id, client):
        raise BadMessage(f"{message.type}: this connection has not joined the board")
    elif isinstance(message, Draw):
        await boards.broadcast(message.board_id, text)
    else:
        boards.leave(message.board_id, client)


async def reply(client: WebSocket, **message: str) -> None:
    await send(client, json.dumps(message, ensure_ascii=False))
