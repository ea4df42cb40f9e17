"""The FastAPI application of one worker: /healthz and the whiteboard on /ws."""

import asyncio
import json
import os
import platform
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from types import FrameType

from fastapi import FastAPI, Response, WebSocket

from app.boards import Boards, send
from app.channel_per_board import ChannelPerBoard
from app.messages import BadMessage, Draw, Join, parse_message
from app.one_channel import OneChannel

CHANNELS = {"one": OneChannel, "per-board": ChannelPerBoard}

boards = Boards()
channels = CHANNELS[os.environ.get("CHANNELS", "one")](
    redis_url=os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"),
    workers=int(os.environ.get("WORKERS", "1")),
    boards=boards,
)

HEALTH = {
    "server": channels.server,
    "runtime": f"{platform.python_implementation()} {platform.python_version()}",
    "framework": f"FastAPI {version('fastapi')} on uvicorn {version('uvicorn')}, {channels.redis_client}",
}


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    refuse_clients_from_sigterm_on(app)
    running = asyncio.create_task(channels.run())
    yield
    running.cancel()
    await asyncio.wait([running])


def refuse_clients_from_sigterm_on(app: FastAPI) -> None:
    """uvicorn checks for signals every 0.1 s: one worker would still accept clients when others have closed theirs."""
    app.state.stopping = False
    uvicorn_stops = signal.getsignal(signal.SIGTERM)

    def stop(number: int, frame: FrameType | None) -> None:
        app.state.stopping = True
        uvicorn_stops(number, frame)

    signal.signal(signal.SIGTERM, stop)


app = FastAPI(openapi_url=None, lifespan=lifespan)


@app.get("/healthz")
async def healthz(response: Response) -> dict[str, str]:
    if not await channels.is_ready():
        response.status_code = 503
    return HEALTH


@app.websocket("/ws")
async def whiteboard(client: WebSocket) -> None:
    if app.state.stopping:
        await client.send_denial_response(Response(status_code=503))
        return
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
        for board_id in boards.joined(client):
            channels.leave(board_id, client)


@app.websocket("/{path:path}")
async def not_found(client: WebSocket) -> None:
    """Without it the answer would be 403."""
    await client.send_denial_response(Response(status_code=404))


async def handle(text: str | None, client: WebSocket) -> None:
    if text is None:
        raise BadMessage("a message must be a text frame")
    message = parse_message(text)
    if isinstance(message, Join):
        await channels.join(message.board_id, client)
        await reply(client, type="joined", boardId=message.board_id, userId=message.user_id)
    elif not boards.has(message.board_id, client):
        raise BadMessage(f"{message.type}: this connection has not joined the board")
    elif isinstance(message, Draw):
        await channels.publish(message.board_id, text)
    else:
        channels.leave(message.board_id, client)


async def reply(client: WebSocket, **message: str) -> None:
    await send(client, json.dumps(message, ensure_ascii=False))
