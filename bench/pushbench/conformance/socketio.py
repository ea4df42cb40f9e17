"""Text packets of Engine.IO 4 and Socket.IO 5, as far as the rules of suites need them: one namespace, no binary."""

from __future__ import annotations

import asyncio
import json
import re

from websockets.asyncio.client import ClientConnection

from pushbench.conformance.rule import Mismatch, escaped

PATH = "/socket.io/?EIO=4&transport=websocket"
PING, PONG = "2", "3"
ACKNOWLEDGEMENT = re.compile(r"43(\d+)(\[.*\])", re.DOTALL)


async def greet(connection: ClientConnection, within: float) -> object:
    """Connect to the namespace. Returns the content of the open packet; raises Mismatch for a wrong answer."""
    opened = json.loads(await _packet(connection, "0", within))
    await connection.send("40")
    await _packet(connection, "40", within)
    return opened


async def _packet(connection: ClientConnection, kind: str, within: float) -> str:
    """The JSON object of the next packet, which must be of `kind`."""
    expected = f"a packet that begins with {kind}{{"
    try:
        async with asyncio.timeout(within):
            packet = await connection.recv()
    except TimeoutError:
        raise Mismatch(f"{expected} within {within:g} s", "none") from None
    if not isinstance(packet, str) or not packet.startswith(kind + "{"):
        raise Mismatch(expected, escaped(packet))
    return packet.removeprefix(kind)


def event_of(name: str, text: str, number: int | None = None) -> str:
    """An event with a JSON text. With a number, it requests an acknowledgement."""
    return f"42{'' if number is None else number}[{json.dumps(name)},{text}]"
