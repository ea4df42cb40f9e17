"""Members that do not read."""

from __future__ import annotations

from websockets.exceptions import WebSocketException

from pushbench.conformance.rule import Mismatch, NotAsked, rule
from pushbench.conformance.whiteboard.crowds import outpace
from pushbench.conformance.whiteboard.declared.clients import Clients

LENGTHS = (16_000, 4_000)
"""Characters of a message. With short messages, it takes a minute to send more than a server's kernel buffers for a
client that does not read."""


@rule("While a client does not read, all messages of three others arrive without delay.", limit_seconds=60)
async def slow_reader_harms_nobody(clients: Clients) -> None:
    large, length = await _with_large_messages(clients)
    await outpace(large, slow=1, senders=3, size=length)


async def _with_large_messages(clients: Clients) -> tuple[Clients, int]:
    """Clients whose messages are as large as the server accepts. Raises NotAsked if these are not large."""
    for length in LENGTHS:
        large = clients.with_text(length)
        if large is None:
            raise NotAsked("what members send has no `{text}`, so no message is large enough to fill a buffer")
        group = large.board()
        try:
            artist, witness = await large.members(group, 2)
            await witness.receives(await artist.draw(group))
        except (Mismatch, WebSocketException):
            continue
        return large, length
    raise NotAsked(f"no message with a text of {LENGTHS[-1]:,} characters arrives")
