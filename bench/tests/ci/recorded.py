"""Exchanges with GitHub's API as recorded in data/github: requests must come completely and in order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from pushbench.ci.github import GitHub

FOLDER = Path(__file__).parents[1] / "data" / "github"
REPOSITORY, TOKEN = "octo-org/pushbench", "ghs_notreallyatoken0123456789"


class Recorded(httpx.BaseTransport):
    """The transport of `github`; `sent`, `slept` and `notes` show what happened."""

    def __init__(self, name: str) -> None:
        self._left: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text())
        self.sent: list[httpx.Request] = []
        self.slept: list[float] = []
        self.notes: list[str] = []
        self.chunks_read = 0
        self.github = GitHub(REPOSITORY, TOKEN, note=self.notes.append, transport=self, sleep=self.slept.append)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        assert self._left, f"not in the recording: {request.method} {request.url}"
        exchange = self._left.pop(0)
        expected = exchange["request"]
        url = httpx.URL("https://api.github.com").join(expected["url"])
        assert (request.method, request.url) == (expected["method"], url)
        self._check_headers(request)
        if "body" in expected:
            assert json.loads(request.content) == expected["body"]
        self.sent.append(request)
        if "fault" in exchange:
            raise getattr(httpx, exchange["fault"])("the connection broke")
        return self._response(exchange["answer"])

    def _check_headers(self, request: httpx.Request) -> None:
        if request.url.host == "api.github.com":
            assert request.headers["Authorization"] == f"Bearer {TOKEN}"
            assert request.headers["Accept"] == "application/vnd.github+json"
            assert request.headers["X-GitHub-Api-Version"] == "2022-11-28"
        else:
            assert TOKEN not in str(request.headers.raw)

    def _response(self, answer: dict[str, Any]) -> httpx.Response:
        if "body" in answer:
            content: bytes | Iterator[bytes] = json.dumps(answer["body"]).encode()
        elif "chunks" in answer:
            content = self._chunks(**answer["chunks"])
        else:
            content = answer["text"].encode()
        # as a stream, so that only the recording declares a length
        stream = content if isinstance(content, Iterator) else iter([content])
        return httpx.Response(answer["status"], headers=answer["headers"], content=stream)

    def _chunks(self, bytes: int, count: int) -> Iterator[bytes]:
        for _ in range(count):
            self.chunks_read += 1
            yield b"x" * bytes

    def require_end(self) -> None:
        assert not self._left, f"recorded and never asked for: {[each['request'] for each in self._left]}"


@contextmanager
def recorded(name: str) -> Iterator[Recorded]:
    """Fails if a recorded request was not sent, or another one was."""
    recording = Recorded(name)
    with recording.github:
        yield recording
    recording.require_end()
