"""A server as far as the drivers see one: /healthz, SIGTERM, and the misbehaviour that FAKE names. /die ends it.

FAKE: "" | wrong_id | exits | once (exits if it ran before) | mute (never healthy) |
dies (half a second after it is healthy) | stubborn (ignores SIGTERM) | rude (ends with code 1) |
busy (uses a whole CPU) | workers (two more processes, which sleep: one has two sockets, the other none)
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BEHAVIOUR = os.environ.get("FAKE", "")
IDENTITY = "somebody-else" if BEHAVIOUR == "wrong_id" else os.environ["FAKE_ID"]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/die":
            os._exit(9)
        if BEHAVIOUR == "mute":
            self.send_error(503)
            return
        body = json.dumps({"server": IDENTITY, "runtime": sys.version.split()[0], "framework": "none"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if BEHAVIOUR == "dies":
            threading.Timer(0.5, lambda: os._exit(7)).start()

    def log_message(self, *_: Any) -> None:
        pass


def spin() -> None:
    while True:
        pass


def work(sockets: int) -> None:
    """Start a process that holds this many sockets."""
    if os.fork() == 0:
        os.closerange(3, 64)
        kept = [socket.socket() for _ in range(sockets)]
        signal.pause()
        del kept


def main() -> None:
    print("hello from the fake server", flush=True)
    if BEHAVIOUR == "exits":
        print("it cannot go on", file=sys.stderr)
        sys.exit(3)
    if BEHAVIOUR == "once":
        try:
            Path("target/ran").touch(exist_ok=False)
        except FileExistsError:
            sys.exit(4)
    server = ThreadingHTTPServer(("0.0.0.0", int(os.environ["PORT"])), Handler)
    if BEHAVIOUR == "workers":
        work(2)
        work(0)
    if BEHAVIOUR == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(1 if BEHAVIOUR == "rude" else 0))
    if BEHAVIOUR == "busy":
        threading.Thread(target=spin, daemon=True).start()
    server.serve_forever(poll_interval=0.05)


main()
