"""A client of GitHub's REST API for the benchmark machine: one token, bounded answers, one deadline.

The token appears in no message and follows no redirect. Standard library only: it runs on the bare machine.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

TIMEOUT_SECONDS = 30.0
PAUSE_SECONDS = 3.0
MOST_ANSWER_BYTES = 8 * 1024 * 1024
PAGES = 10
PAGE = 100
# https://github.blog/changelog/2021-07-26-expiration-options-for-personal-access-tokens/: every answer names the expiry
# of the request's token, if it has one. Installation tokens of an App have none.
EXPIRATION = "github-authentication-token-expiration"


class GithubFailed(Exception):
    """One sentence: what GitHub refused or failed to do, and what to do about it."""


class NoSuchAnswer(Exception):
    """An HTTP status that a caller may be able to handle."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(f"{what}: HTTP {status}")
        self.status = status


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which would carry the token along."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Github:
    """The API, used with one token (none if `token` is empty) until `patience` seconds have passed."""

    def __init__(self, api: str, token: str, patience: float) -> None:
        self._base = api
        self._token = token
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._deadline = time.monotonic() + patience
        self.expires: datetime | None = None
        """When the token expires, according to the last answer; None if GitHub does not report it."""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Returns the answer's JSON, None for an empty one. Waits and repeats the request if that can help.

        Raises NoSuchAnswer for a status from 400 to 499, GithubFailed when there was no answer in time.
        """
        what = f"{method} {path.partition('?')[0]}"
        while True:
            try:
                return self._once(method, path, body)
            except urllib.error.HTTPError as error:
                waits = _waits(error.code, error.headers)
                if waits is None:
                    raise NoSuchAnswer(error.code, what) from None
                self.pause(waits, f"{what}: HTTP {error.code}")
            except (OSError, http.client.HTTPException) as error:
                self.pause(PAUSE_SECONDS, f"{what}: {type(error).__name__}")

    def pages(self, path: str, key: str, most: int = PAGES) -> Iterator[Any]:
        """Yields the entries of a paged list, of at most `most` pages."""
        for page in range(1, most + 1):
            mark = "&" if "?" in path else "?"
            entries = (self.call("GET", f"{path}{mark}per_page={PAGE}&page={page}") or {}).get(key, [])
            yield from entries
            if len(entries) < PAGE:
                return

    def pause(self, seconds: float, why: str) -> None:
        """Waits, or raises GithubFailed if the wait would exceed the deadline."""
        if time.monotonic() + seconds > self._deadline:
            raise GithubFailed(f"GitHub gave no usable answer in time ({why}); is its status page green?")
        time.sleep(seconds)

    def _once(self, method: str, path: str, body: Any) -> Any:
        request = urllib.request.Request(self._base + path, method=method)  # noqa: S310 - from the settings
        request.add_header("Accept", "application/vnd.github+json")
        request.add_header("X-GitHub-Api-Version", "2022-11-28")
        request.add_header("User-Agent", "pushbench-runner")
        if self._token:
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with self._opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
            text = answer.read(MOST_ANSWER_BYTES + 1)
            self.expires = _expiration(answer.headers.get(EXPIRATION, "")) or self.expires
        if len(text) > MOST_ANSWER_BYTES:
            raise GithubFailed(f"GitHub's answer to {method} {path.partition('?')[0]} is too long")
        try:
            return json.loads(text) if text else None
        except ValueError:
            raise http.client.HTTPException("not JSON") from None


def _waits(status: int, headers: Any) -> float | None:
    """Seconds after which the same request may succeed; None if waiting cannot help."""
    limited = status == 429 or (status == 403 and (headers.get("Retry-After") or _used_up(headers)))
    if not limited and status < 500:
        return None
    after = headers.get("Retry-After", "")
    return max(PAUSE_SECONDS, float(after)) if after.isascii() and after.isdecimal() else PAUSE_SECONDS


def _used_up(headers: Any) -> bool:
    return bool(headers.get("X-RateLimit-Remaining") == "0")


def _expiration(text: str) -> datetime | None:
    """Reads `2026-12-04 09:00:00 UTC` and `2026-12-04 09:00:00 +0200`, the two forms that GitHub sends.

    Forms: https://github.com/google/go-github/blob/master/github/github.go (parseTokenExpiration).
    """
    try:
        return datetime.strptime(text.replace(" UTC", " +0000"), "%Y-%m-%d %H:%M:%S %z").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
