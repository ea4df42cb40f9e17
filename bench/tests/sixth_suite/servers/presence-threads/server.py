"""Counts who is there, a thread for each client."""

from __future__ import annotations

import itertools
import json
import os
import platform
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

greetings = itertools.count(1)
HEALTH = {"server": "presence-threads", "runtime": f"Python {platform.python_version()}", "framework": "http.server"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # header and body in one write

    def do_GET(self) -> None:
        self.answer(*((200, json.dumps(HEALTH)) if self.path == "/healthz" else (404, "{}")))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(*((200, str(next(greetings))) if self.path == "/presence" else (404, "{}")))

    def answer(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Nothing for each request."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


server = Server(("0.0.0.0", int(os.environ["PORT"])), Handler)
signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
server.serve_forever(poll_interval=0.05)
