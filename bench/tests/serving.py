"""Servers that run during a test: Python's `http.server`, stopped as soon as the test ends, and others."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer

LOOPBACK = "127.0.0.1"
POLL_SECONDS = 0.01
"""interval at which the server checks for its end: with the default of half a second, each test would wait that long"""


@contextmanager
def serving(server: HTTPServer) -> Iterator[str]:
    """Serve until the block is left. Yields the host and the port."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,))
        thread.start()
        try:
            yield f"{LOOPBACK}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that does not log requests."""

    def log_message(self, *_: object) -> None:
        pass


def await_port(port: int) -> None:
    """Wait until a server on this machine accepts connections."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError("the server did not start")
