"""The service `redis`."""

from __future__ import annotations

import contextlib
import socket

from pushbench.drivers.service import Service


def _ready(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(64).startswith(b"+PONG")
    return False


REDIS = Service(
    name="redis",
    variable="REDIS_URL",
    url="redis://{host}:{port}",
    port=6379,
    program="redis-server",
    versions=">=7",
    # Everything else is Redis's default, its limits on slow subscribers included.
    arguments=lambda port, _: ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"],
    ready=_ready,
)
