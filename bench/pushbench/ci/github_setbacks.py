"""Which answers and faults of GitHub's API are temporary, and how long to wait. Decides, but does not wait.

Sources: "Rate limits for the REST API" and "Best practices for using the REST API" in GitHub's documentation.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpx

from pushbench.ci.github_answers import refusal

LIMITED_SECONDS = 60.0
"""GitHub's minimum for a limit without a time"""
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


@dataclass(frozen=True)
class Setback:
    """Why a request failed that may succeed later."""

    reason: str
    unsure: bool
    """whether the request may have taken effect"""
    asked: float | None = None
    """seconds to wait, according to GitHub"""
    first: float = 1.0
    """seconds for the first wait if GitHub gives no time"""
    status: int | None = None

    def seconds(self, attempts: int) -> float:
        """The wait after that many attempts: GitHub's, or twice as long each time."""
        return self.asked if self.asked is not None else self.first * 2 ** (attempts - 1)


def of_answer(answer: httpx.Response) -> Setback | None:
    """The setback; None if waiting does not help."""
    status = answer.status_code
    if status >= 500:
        return Setback(f"GitHub answers {status}", unsure=True, asked=_asked(answer.headers), status=status)
    if status == 429 or (status == 403 and _is_limit(answer)):
        reason = f"GitHub answers {status}: {refusal(answer.content)}"
        return Setback(reason, unsure=False, asked=_asked(answer.headers), first=LIMITED_SECONDS, status=status)
    return None


def of_fault(error: httpx.RequestError) -> Setback:
    """The setback for a fault of the connection."""
    return Setback(f"no answer: {str(error) or type(error).__name__}", unsure=not isinstance(error, NOT_SENT))


def _is_limit(answer: httpx.Response) -> bool:
    """Whether it is a limit. Without either header, the message tells a secondary limit from a missing permission."""
    return _asked(answer.headers) is not None or "rate limit" in refusal(answer.content).lower()


def _asked(headers: httpx.Headers) -> float | None:
    after, reset = headers.get("retry-after", ""), headers.get("x-ratelimit-reset", "")
    if after.isdecimal():
        return float(after)
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(0.0, float(reset) - _now(headers)) + 1
    return None


def _now(headers: httpx.Headers) -> float:
    """The time by GitHub's clock, as for the reset; in seconds since 1970."""
    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError):
        return time.time()
