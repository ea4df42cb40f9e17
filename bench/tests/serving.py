"""Servers beside a test: of Python's `http.server`, which ends as soon as the test does, and others."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer

LOOPBACK = "127.0.0.1"
POLL_SECONDS = 0.01
"""how long the end is waited for: half a second by default, which each test would wait"""


@contextmanager
def serving(server: HTTPServer) -> Iterator[str]:
    """Serve until the block is left, and no longer. Gives the host and the port."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,))
        thread.start()
        try:
            yield f"{LOOPBACK}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class QuietHandler(BaseHTTPRequestHandler):
    """Writes no line for each request."""

    def log_message(self, *_: object) -> None:
        pass


def await_port(port: int) -> None:
    """Wait until a server on this machine takes connections."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError("the server did not start")
