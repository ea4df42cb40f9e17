"""Starts the server under uvicorn and makes SIGTERM end it with exit code 0."""

import os
import signal
import sys

import uvicorn

from app.connection import Connection
from app.main import app

MAX_MESSAGE_BYTES = 64 * 1024

# How long clients may take to answer a close frame. SIGTERM has to end the process within 5 s.
CLOSE_TIMEOUT_SECONDS = 3

# uvicorn stops gracefully, then raises the signal again for the handler it replaced, which by default would make the
# exit code 143.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

uvicorn.run(
    app,
    host="0.0.0.0",  # noqa: S104 - clients are outside the container
    port=int(os.environ.get("PORT", "8080")),
    loop="uvloop",
    http="httptools",
    ws=Connection,
    ws_max_size=MAX_MESSAGE_BYTES,
    ws_per_message_deflate=False,
    ws_ping_interval=None,
    lifespan="off",
    log_level="warning",
    access_log=False,
    timeout_graceful_shutdown=CLOSE_TIMEOUT_SECONDS,
)
