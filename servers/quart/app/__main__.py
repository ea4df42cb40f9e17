"""Starts the server under Hypercorn, on uvloop, and stops it on SIGTERM."""

import asyncio
import os
import signal

import uvloop
from hypercorn.asyncio import serve
from hypercorn.config import Config

from app import connection
from app.main import app, stop

MAX_MESSAGE_BYTES = 64 * 1024


async def main() -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)

    async def until_stopped() -> None:
        await stopping.wait()
        stop()

    connection.install()
    await serve(app, configuration(os.environ.get("PORT", "8080")), shutdown_trigger=until_stopped)


def configuration(port: str) -> Config:
    config = Config()
    config.bind = [f"0.0.0.0:{port}"]  # clients are outside the container
    # Many clients connect at once. Those beyond Hypercorn's backlog of 100 would each wait a second.
    config.backlog = 2048
    config.websocket_max_message_size = MAX_MESSAGE_BYTES
    config.loglevel = "WARNING"
    return config


uvloop.run(main())
