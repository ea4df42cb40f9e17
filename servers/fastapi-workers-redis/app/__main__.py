"""Starts the workers under uvicorn's own supervisor, and makes SIGTERM end them with exit code 0."""

import os
import signal
import sys

import uvicorn

from app.connection import Connection

MAX_MESSAGE_BYTES = 64 * 1024

# How long clients may take to answer a close frame. SIGTERM has to end the process within 5 s, of which the supervisor
# and the workers need up to 0.7 s to notice it.
CLOSE_TIMEOUT_SECONDS = 2


def main() -> None:
    workers = int(os.environ.setdefault("WORKERS", str(len(os.sched_getaffinity(0)))))

    # Without a supervisor, which is the case with one worker, uvicorn stops gracefully and then raises the signal again
    # for the handler it replaced, which by default would make the exit code 143.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    uvicorn.run(
        "app.main:app",
        workers=workers,
        host="0.0.0.0",  # noqa: S104 - clients are outside the container
        port=int(os.environ.get("PORT", "8080")),
        loop="uvloop",
        http="httptools",
        ws=Connection,
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=None,
        lifespan="on",
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=CLOSE_TIMEOUT_SECONDS,
    )


# Each worker is a fresh interpreter that imports this module too.
if __name__ == "__main__":
    main()
