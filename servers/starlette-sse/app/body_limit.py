"""Refuses requests with a large body. Starlette's own limit would answer in plain text."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.refusals import refusal

MAX_BODY_BYTES = 64 * 1024


class BodyLimit:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if await is_too_large(Headers(scope=scope), receive):
            response = refusal(413, f"a body must have at most {MAX_BODY_BYTES} bytes")
            await response(scope, receive, send)
        else:
            await self.app(scope, receive, send)


async def is_too_large(headers: Headers, receive: Receive) -> bool:
    """Reads a body only if its length is not declared."""
    if "transfer-encoding" not in headers:
        return int(headers.get("content-length", "0")) > MAX_BODY_BYTES
    size = 0
    while size <= MAX_BODY_BYTES:
        message = await receive()
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    return size > MAX_BODY_BYTES
