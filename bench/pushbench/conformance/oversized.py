"""WebSocket messages above a server's limit, sent so that the client sees the close code.

A server that closes before it has read all received data resets the connection (RFC 1122, section 4.2.2.13). The client
may then never see the close frame. So the part that reveals the size, the head of the frame or the bytes at the limit,
is sent alone, after the server has read everything before it.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise

from websockets.asyncio.client import ClientConnection
from websockets.protocol import State

READ_SECONDS = 0.2
"""time for a server to read a part"""
SEGMENT = 1_000
"""bytes that arrive together"""


async def send_oversized(connection: ClientConnection, message: str, limit: int) -> None:
    """Send a message of more than `limit` bytes, at least 65,536, in one frame. Stops when the server closes."""
    octets = message.encode()
    head = b"\x81\xff" + len(octets).to_bytes(8, "big") + bytes(4)  # a mask of zeros leaves the payload unchanged
    edges = (0, limit - SEGMENT // 2, limit + SEGMENT // 2, len(octets))
    await _send_parts(connection, head, *(octets[start:end] for start, end in pairwise(edges)))


async def send_oversized_fragments(connection: ClientConnection, message: str) -> None:
    """Send a message in two fragments. The first, all but the last `SEGMENT` bytes, is within the limit and has at
    most 65,535 bytes."""
    octets = message.encode()
    first, last = octets[:-SEGMENT], octets[-SEGMENT:]
    mask = bytes(4)
    await _send_parts(
        connection,
        b"\x01\xfe" + len(first).to_bytes(2, "big") + mask + first,
        b"\x80\xfe" + len(last).to_bytes(2, "big") + mask + last,
    )


async def _send_parts(connection: ClientConnection, *parts: bytes) -> None:
    for part in parts:
        if connection.state is not State.OPEN:
            return
        connection.transport.write(part)
        await asyncio.sleep(READ_SECONDS)
