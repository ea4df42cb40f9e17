"""Conversations between clients and a server, as `pushbench learn` records them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pushbench.authoring.leaves import SECRET
from pushbench.catalog.protocol_file import Transport

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""methods that a protocol can declare; a browser also sends OPTIONS"""
SECRET_HEADER = re.compile(r"auth|cookie|token|secret|session|signature|credential|api-?key", re.IGNORECASE)
UNTOLD = re.compile(
    r"(accept|access-control|sec|if|proxy|x-forwarded)(-.*)?|host|user-agent|connection|content-length|origin|referer"
    r"|transfer-encoding|te|upgrade(-.*)?|expect|dnt|cache-control|pragma|priority|keep-alive|forwarded|via"
    r"|traceparent|tracestate",
    re.IGNORECASE,
)
"""headers that clients, browsers and proxies send by themselves"""
_VARYING = re.compile(r"\d+|[0-9a-f-]{16,}", re.IGNORECASE)
"""a part of a path that is probably an id"""


@dataclass(frozen=True)
class Said:
    """A message, a body, or an event of a stream. `text` is None if it is binary or too large."""

    at: float
    """seconds"""
    sent: bool
    """by the client; otherwise by the server"""
    text: str | None
    id: str | None = None
    """of an event, if it has one"""


@dataclass(eq=False)
class Conversation:
    """One WebSocket connection, or one HTTP request with its answer. Conversations are compared by identity."""

    path: str
    """with its query"""
    over: Transport = "websocket"
    method: str = "GET"
    status: int = 101
    """of the answer; 0 before the answer"""
    subprotocol: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """headers chosen by the application, without secret ones"""
    secret_headers: Sequence[str] = ()
    """names of headers that authenticate the client; never their values"""
    said: list[Said] = field(default_factory=list)
    ended: bool = False
    """the connection is closed, or the answer is as complete as it will be"""
    cut: bool = False
    """not recorded to its end: the client left, the server aborted it, or it is too large"""

    def sent(self) -> list[Said]:
        return [each for each in self.said if each.sent]

    def received(self) -> list[Said]:
        return [each for each in self.said if not each.sent]


def chosen_headers(pairs: Iterable[tuple[str, str]]) -> tuple[dict[str, str], list[str]]:
    """The headers chosen by the application, and the names of secret headers, whose values are left out."""
    told = [(name, value) for name, value in pairs if not UNTOLD.fullmatch(name)]
    secret = [name for name, _ in told if SECRET_HEADER.search(name) or SECRET.search(name)]
    return {name: value for name, value in told if name not in secret}, secret


def most_asked(talks: Sequence[Conversation]) -> list[Conversation]:
    """The successful requests of one kind: the same method, and the same path except for ids in it."""
    sorts: dict[tuple[str, ...], list[Conversation]] = {}
    for talk in talks:
        if talk.over != "websocket" and talk.method in METHODS and 200 <= talk.status < 300:
            parts = talk.path.partition("?")[0].split("/")
            sort = (talk.over, talk.method, *("" if _VARYING.fullmatch(part) else f"/{part}" for part in parts))
            sorts.setdefault(sort, []).append(talk)
    return max(sorts.values(), key=len, default=[])
