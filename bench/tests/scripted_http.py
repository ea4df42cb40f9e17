"""An HTTP server of requests and streams that is independent of Pushbench, and its clients behind a recording proxy."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from pushbench.authoring.overheard import Conversation
from pushbench.authoring.overhearing import overhear
from tests.serving import LOOPBACK, QuietHandler, serving

SECRET = "Bearer s3cret-0f-the-client"
WORDS = ("a pound of tea", "two loaves of brown bread", "cheese")


class Handler(QuietHandler):
    """POST /shop/orders gets one answer; other POSTs and GETs get streams, of JSON and of text."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:  # noqa: N802 - as http.server calls it
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != SECRET:
            self._answer(401, {"error": "who are you?"})
        elif self.path == "/shop/orders":
            self._answer(201, {"state": "accepted", "order": {"reference": said["reference"], "item": said["item"]}})
        else:
            self._stream(_chunks(said["max_tokens"]), "[DONE]")

    def do_GET(self) -> None:  # noqa: N802
        self._stream((f"id: {number}\ndata: {letter}" for number, letter in enumerate("letters")), None)

    def _answer(self, status: int, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, events: Iterator[str], end: str | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(f"{event}\n\n".encode())
        if end:
            self.wfile.write(f"data: {end}\n\n".encode())
        self.close_connection = True


def _chunks(tokens: int) -> Iterator[str]:
    """Events as in the APIs of language models."""
    choices: list[dict[str, Any]] = [
        {"delta": {"role": "assistant", "content": ""}, "finish_reason": None},
        *({"delta": {"content": f"word {number} "}, "finish_reason": None} for number in range(tokens)),
        {"delta": {}, "finish_reason": "length"},
    ]
    return (f"data: {json.dumps({'object': 'chunk', 'choices': [choice]})}" for choice in choices)


@contextmanager
def scripted_http() -> Iterator[str]:
    """Yields its URL."""
    with serving(ThreadingHTTPServer((LOOPBACK, 0), Handler)) as host:
        yield f"http://{host}"


async def heard_by_proxy(
    to: str,
    clients: Callable[[str], Awaitable[None]],
    notes: list[str] | None = None,
    *,
    authorities: Path | None = None,
    within: float = 10,
) -> list[Conversation]:
    """The conversations that the proxy records of clients that get its address, `within` seconds after they have ended.

    Messages of the proxy are added to `notes`.
    """
    told = [] if notes is None else notes
    listens: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def note(text: str) -> None:
        told.append(text)
        if not listens.done():
            listens.set_result(re.findall(r"\w+://[\d.:]+", text)[0])

    hearing = asyncio.create_task(overhear(to, 0, note, authorities))
    try:
        await clients(await listens)
        return await asyncio.wait_for(hearing, within)
    finally:
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)


def client_of(url: str, **headers: str) -> httpx.AsyncClient:
    """A client that loads no certificates, since that would take most of a test's time."""
    return httpx.AsyncClient(base_url=url, headers=headers, verify=False, trust_env=False)


async def order(url: str) -> None:
    """Three orders over one connection, and the additional requests of a browser."""
    async with client_of(url, Authorization=SECRET) as client:
        for number, item in enumerate(WORDS):
            await client.post("/orders", json={}, headers={"Authorization": ""})
            await client.post("/orders", json={"item": item, "reference": f"r{number}"}, headers={"X-Tenant": "tea"})


async def chat(url: str) -> None:
    async with client_of(url, Authorization=SECRET) as client:
        for words in WORDS:
            asked = {"stream": True, "max_tokens": 5, "messages": [{"role": "user", "content": words}]}
            await client.post("/chat", json=asked)


async def read_letters(url: str) -> None:
    async with client_of(url) as client:
        for name in ("ann", "ben", "ann"):
            await client.get("/letters", params={"reader": name, "lang": "en gb"})
