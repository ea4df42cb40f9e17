"""GET by the standard library, for rules that only check the answer; `connection` is for all others."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes


async def get(url: str, path: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a GET without following redirects. Raises OSError or HTTPException if there is no HTTP answer."""

    def exchange() -> Response:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
        try:
            connection.request("GET", path, headers=dict(headers or {}))
            response = connection.getresponse()
            return Response(response.status, response.read())
        finally:
            connection.close()

    return await asyncio.to_thread(exchange)
