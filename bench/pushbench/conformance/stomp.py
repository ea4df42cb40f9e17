"""Frames of STOMP 1.2 as text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ESCAPES = str.maketrans({"\\": "\\\\", "\r": "\\r", "\n": "\\n", ":": "\\c"})


@dataclass(frozen=True)
class Frame:
    command: str
    headers: Mapping[str, str]
    body: str = ""

    def encode(self) -> str:
        lines = [f"{name}:{value.translate(ESCAPES)}" for name, value in self.headers.items()]
        return "\n".join([self.command, *lines, "", f"{self.body}\0"])

    @classmethod
    def decode(cls, message: str) -> Frame | None:
        """The frame; None if the text is not a frame. Headers stay escaped: those used here contain no escapes."""
        head, separator, rest = message.partition("\n\n")
        body, end, _ = rest.partition("\0")  # a body is JSON, so it has no NUL
        if not separator or not end:
            return None
        command, *lines = head.split("\n")
        pairs = (line.partition(":") for line in lines)
        return cls(command, {name: value for name, _, value in pairs}, body)

    def acknowledges(self, receipt: str) -> bool:
        return self.command == "RECEIPT" and self.headers.get("receipt-id") == receipt
