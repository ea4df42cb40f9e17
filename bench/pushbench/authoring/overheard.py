"""What two clients and a server said to each other, as `pushbench learn` records it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Said:
    """A message. `text` is None for a binary one."""

    at: float
    """seconds"""
    sent: bool
    """by the client; else by the server"""
    text: str | None


@dataclass
class Conversation:
    """One connection of a client."""

    path: str
    """with its query"""
    subprotocol: str | None = None
    secret_headers: Sequence[str] = ()
    """names of headers with which the client proved who it is; never what they were"""
    said: list[Said] = field(default_factory=list)

    def sent(self) -> list[Said]:
        return [each for each in self.said if each.sent]

    def received(self) -> list[Said]:
        return [each for each in self.said if not each.sent]
