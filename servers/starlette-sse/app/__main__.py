"""Starts the server under uvicorn and makes SIGTERM end it with exit code 0."""

import os
import signal
import sys

import uvicorn

from app.main import create_app
from app.server import Server
from app.streams import Streams

# How long a connection is kept for the next request.
IDLE_TIMEOUT_SECONDS = 60

# How long requests may take to end. SIGTERM has to end the process within 5 s.
STOP_TIMEOUT_SECONDS = 3

# uvicorn stops gracefully, then raises the signal again for the handler it replaced, which by default would make the
# exit code 143.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

streams = Streams()
config = uvicorn.Config(
    create_app(streams),
    host="0.0.0.0",  # noqa: S104 - clients are outside the container
    port=int(os.environ.get("PORT", "8080")),
    loop="uvloop",
    http="httptools",
    ws="none",
    lifespan="off",
    log_level="warning",
    access_log=False,
    timeout_keep_alive=IDLE_TIMEOUT_SECONDS,
    timeout_graceful_shutdown=STOP_TIMEOUT_SECONDS,
)
Server(config, streams).run()
