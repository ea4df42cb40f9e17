"""The content of a connection's bytes: the messages of a WebSocket, the events of a stream, a body. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side

from pushbench.authoring.overheard import Said
from pushbench.conformance.events import Events
from pushbench.conformance.rule import Mismatch

LARGEST = 1 << 20
"""bytes of a message, an event or a body; a larger one does not count as text"""


class Body:
    """All bytes as one text."""

    def __init__(self, *, sent: bool) -> None:
        self._sent = sent
        self._octets = bytearray()

    def feed(self, octets: bytes, at: float) -> Iterator[Said]:
        """The text that these bytes complete; no bytes mean the end."""
        if octets and len(self._octets) <= LARGEST:
            self._octets += octets
        elif self._octets and not octets:
            yield Said(at, self._sent, None if len(self._octets) > LARGEST else _text(bytes(self._octets)))


class Stream:
    """The server-sent events of an answer, up to a too large event or invalid bytes."""

    def __init__(self) -> None:
        self._events: Events | None = Events(LARGEST)

    def feed(self, octets: bytes, at: float) -> Iterator[Said]:
        """The events that these bytes complete."""
        if self._events is None:
            return
        try:
            for event in self._events.feed(octets, at):
                if event.values("data"):
                    yield Said(at, sent=False, text=event.data, id=event.id)
        except Mismatch:
            self._events = None
            yield Said(at, sent=False, text=None)


class Messages:
    """The messages from one side of a WebSocket, up to a too large one or a framing error."""

    def __init__(self, *, sent: bool) -> None:
        self._sent = sent
        self._frames = Protocol(Side.SERVER if sent else Side.CLIENT, max_size=LARGEST)
        self._first: Opcode | None = None
        """of the message whose frames are arriving"""
        self._octets = bytearray()
        self._broken = False

    def feed(self, octets: bytes, at: float) -> Iterator[Said]:
        """The messages that these bytes complete."""
        self._frames.receive_data(octets)
        self._frames.data_to_send()  # answers to pings, which the two sides send themselves
        for frame in self._frames.events_received():
            if isinstance(frame, Frame) and frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
                self._first = self._first or frame.opcode
                self._octets += frame.data
                if frame.fin:
                    yield Said(at, self._sent, _text(bytes(self._octets)) if self._first is Opcode.TEXT else None)
                    self._first, self._octets = None, bytearray()
        if self._frames.parser_exc and not self._broken:
            self._broken = True
            yield Said(at, self._sent, None)


Unpacking = Body | Stream | Messages


def _text(octets: bytes) -> str | None:
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return None
