"""The answers of every WebSocket server to an upgrade, whatever its suite."""

from __future__ import annotations

from collections.abc import Awaitable

from websockets.exceptions import InvalidStatus
from websockets.http11 import Response

from pushbench.conformance import http
from pushbench.conformance.rule import Mismatch, escaped

UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
KEY = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
MALFORMED = {
    "an upgrade without key": UPGRADE,
    "an upgrade with a short key": UPGRADE | {"Sec-WebSocket-Key": "c2hvcnQ="},
    "an upgrade to version 99": UPGRADE | KEY | {"Sec-WebSocket-Version": "99"},
}


def require_no_compression(response: Response | None) -> None:
    """Raises Mismatch if an answer to an upgrade accepts an extension."""
    extensions = response.headers.get("Sec-WebSocket-Extensions") if response else None
    if extensions:
        raise Mismatch("no Sec-WebSocket-Extensions in the response", escaped(extensions))


async def require_refusals(elsewhere: Awaitable[object], url: str, path: str) -> None:
    """Raises Mismatch unless the server answers 4xx to `elsewhere`, which connects to an unknown path, and to malformed
    upgrades of `path`."""
    try:
        await elsewhere
        raise Mismatch("a 4xx answer to the upgrade of /nothing-here", "an open WebSocket")
    except InvalidStatus as refusal:
        if not 400 <= refusal.response.status_code < 500:
            raise Mismatch("a 4xx answer to the upgrade of /nothing-here", refusal) from None
    for what, headers in MALFORMED.items():
        answer = await http.get(url, path, headers)
        if not 400 <= answer.status < 500:
            raise Mismatch(f"a 4xx answer to {what}", answer.status)
