"""What a server answers to somebody who is there."""

from __future__ import annotations

import asyncio
import urllib.request
from typing import Any

from pushbench.conformance.rule import Mismatch, escaped, rule


@rule("A POST to /presence is answered with the number of greetings so far.")
async def greetings_are_counted(clients: Any) -> None:
    first, second = [int(await asyncio.to_thread(greet, clients.target.url)) for _ in range(2)]
    if second != first + 1:
        raise Mismatch(str(first + 1), escaped(str(second)))


def greet(url: str) -> bytes:
    with urllib.request.urlopen(f"{url}/presence", data=b"hello", timeout=5) as answer:
        body: bytes = answer.read()
        return body
