"""Requests to GitHub's API: the token, retries after limits and faults, pages, and errors with a remedy.

The token goes only to the API's own origin, and appears in no message. API calls follow no redirects. `github` has the
requests and the meaning of answers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError

from pushbench.ci.github_answers import refusal
from pushbench.ci.github_setbacks import Setback, of_answer, of_fault
from pushbench.foundation.errors import UserError
from pushbench.foundation.text import MESSAGE, one_line

T = TypeVar("T")

API_VERSION = "2022-11-28"
"""supported until March 2028 at least (GitHub's changelog of 12 March 2026)"""
TIMEOUT = httpx.Timeout(30, connect=10)
MOST_ATTEMPTS = 8
"""of one request: waits of 1 + 2 + 4 ... + 64 s, about two minutes"""
MOST_WAITING_SECONDS = 300.0
"""of all requests together"""
JITTER = 0.25
MOST_JITTER_SECONDS = 20.0
"""up to this fraction of a wait, or of that many seconds, is added: jobs that failed together must not retry at once"""
TOLD_SECONDS = 4.0
"""the shortest wait with a note"""
MOST_PAGES = 100
"""of 100 each"""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class GitHubError(UserError):
    """`status` is None if no answer arrived."""

    def __init__(self, what: str, *, where: str, hint: str | None = None, status: int | None = None) -> None:
        super().__init__(what, where=where, hint=hint)
        self.status = status


@dataclass(frozen=True)
class Call:
    """One request below the API's address. `permission` is what a job needs for it: `checks: write`."""

    method: str
    path: str
    permission: str
    query: Mapping[str, str | int] | None = None
    body: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Bearer(httpx.Auth):
    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request


class Connection:
    def __init__(
        self,
        token: str,
        api: str,
        transport: httpx.BaseTransport | None,
        sleep: Callable[[float], None],
        note: Callable[[str], None],
    ) -> None:
        """Raises UserError for an invalid token or address."""
        if not re.fullmatch(r"[\x21-\x7e]+", token):  # the HTTP library would quote it in its error
            raise UserError("the token for GitHub is empty, or has an invalid character")
        self._api = _base(api)
        self._token, self._sleep, self._note = token, sleep, note
        self._bearer = Bearer(token)
        self._waited = 0.0
        self._client = httpx.Client(
            transport=transport, timeout=TIMEOUT, follow_redirects=False, headers={"User-Agent": "pushbench"}
        )

    def close(self) -> None:
        self._client.close()

    def ask(self, call: Call, shape: TypeAdapter[T], already: Callable[[], T | None] | None = None) -> T:
        """The answer. Raises GitHubError.

        A request that must not be repeated needs `already`, which checks before a retry whether GitHub has done it.
        """

        def once() -> T | Setback:
            answer = self._send(call, self._url(call))
            return answer if isinstance(answer, Setback) else self._parsed(call, answer, shape)

        return self._patiently(call, once, already)

    def pages(self, call: Call, shape: TypeAdapter[T]) -> Iterator[T]:
        """The pages in order, each requested when it is needed. Raises GitHubError."""
        url = self._url(call).copy_merge_params({"per_page": 100})
        for _ in range(MOST_PAGES):
            answer = self._patiently(call, partial(self._send, call, url))
            yield self._parsed(call, answer, shape)
            following = answer.links.get("next", {}).get("url")
            if following is None:
                return
            url = self._below_api(call, following)
        raise self._error(call, f"has more than {MOST_PAGES} pages")

    def download(self, call: Call, most_bytes: int) -> bytes:
        """The target of the call's redirect, on other storage; requested without the token. Raises GitHubError."""
        return self._patiently(call, lambda: self._download(call, most_bytes))

    def _download(self, call: Call, most_bytes: int) -> bytes | Setback:
        answer = self._send(call, self._url(call), redirects=True)
        if isinstance(answer, Setback):
            return answer
        url = answer.next_request.url if answer.next_request else None
        if url is None or url.scheme not in ("https", self._api.scheme):
            raise self._error(call, "gives no https address for the download")
        with self._client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as stored:
            status = stored.status_code
            if status >= 500 or status == 429:
                return Setback(f"{url.host} answers {status}", unsure=False, status=status)
            if status != httpx.codes.OK:  # the address has a signature, so it is not shown
                raise self._error(call, f"{url.host} answers {status}", status=status)
            declared = stored.headers.get("content-length", "")
            if declared.isdecimal() and int(declared) > most_bytes:
                raise self._too_large(call, most_bytes)
            content = bytearray()
            for chunk in stored.iter_raw():
                content += chunk
                if len(content) > most_bytes:
                    raise self._too_large(call, most_bytes)
            return bytes(content)

    def _url(self, call: Call) -> httpx.URL:
        url = httpx.URL(f"{self._api}{call.path}")
        return url.copy_merge_params(call.query) if call.query else url

    def _below_api(self, call: Call, following: str) -> httpx.URL:
        try:
            url = httpx.URL(following)
        except httpx.InvalidURL:
            url = httpx.URL()
        if (url.scheme, url.host, url.port) != (self._api.scheme, self._api.host, self._api.port):
            raise self._error(call, "links to a next page outside GitHub's API")
        return url

    def _send(self, call: Call, url: httpx.URL, redirects: bool = False) -> httpx.Response | Setback:
        answer = self._client.request(
            call.method,
            url,
            json=call.body,
            headers={"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": API_VERSION},
            auth=self._bearer,
        )
        if setback := of_answer(answer):
            return setback
        if not (answer.is_redirect if redirects else answer.is_success):
            raise self._refused(call, answer)
        return answer

    def _patiently(
        self, call: Call, once: Callable[[], T | Setback], already: Callable[[], T | None] | None = None
    ) -> T:
        attempts = 0
        while True:
            attempts += 1
            try:
                found = once()
            except httpx.RequestError as error:
                found = of_fault(error)
            if not isinstance(found, Setback):
                return found
            self._wait(call, found, attempts)
            if found.unsure and already and (there := already()) is not None:
                return there

    def _wait(self, call: Call, setback: Setback, attempts: int) -> None:
        """Wait before another attempt. Raises GitHubError if waiting is futile or would take too long."""
        seconds = setback.seconds(attempts)
        if attempts == MOST_ATTEMPTS or self._waited + seconds > MOST_WAITING_SECONDS:
            tried = f"tried {attempts} time{'s' if attempts > 1 else ''}"
            hint = f"run the job again in {seconds:.0f} s" if setback.asked else "run the job again"
            raise self._error(call, f"{setback.reason} ({tried})", hint=hint, status=setback.status)
        seconds += random.uniform(0, min(seconds, MOST_JITTER_SECONDS) * JITTER)  # noqa: S311
        if seconds >= TOLD_SECONDS:
            self._note(self._clean(f"{call}: {setback.reason}; trying again in {seconds:.0f} s"))
        self._waited += seconds
        self._sleep(seconds)

    def _parsed(self, call: Call, answer: httpx.Response, shape: TypeAdapter[T]) -> T:
        try:
            return shape.validate_json(answer.content or b"null")  # 204 has no content
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or answer.headers.get("content-type", "no content type")
            raise self._error(
                call, f"GitHub's answer is not as documented: {place}: {first['msg']}", status=answer.status_code
            ) from None

    def _refused(self, call: Call, answer: httpx.Response) -> GitHubError:
        status = answer.status_code
        return self._error(
            call,
            f"GitHub answers {status}: {refusal(answer.content)}",
            hint=_hint(status, call.permission),
            status=status,
        )

    def _too_large(self, call: Call, most_bytes: int) -> GitHubError:
        return self._error(call, f"the download is larger than {most_bytes:,} bytes")

    def _error(self, call: Call, what: str, *, hint: str | None = None, status: int | None = None) -> GitHubError:
        return GitHubError(self._clean(what), where=str(call), hint=hint, status=status)

    def _clean(self, text: str) -> str:
        return one_line(text.replace(self._token, "***"), MESSAGE)


def _base(api: str) -> httpx.URL:
    """The validated address. Raises UserError."""
    try:
        url = httpx.URL(api.rstrip("/"))
    except httpx.InvalidURL:
        url = httpx.URL()
    safe = url.scheme == "https" or (url.scheme == "http" and url.host in LOOPBACK)
    if not safe or not url.host or url.userinfo or url.query or url.fragment:
        raise UserError(f"expected the https address of GitHub's API, found {one_line(api, MESSAGE)!r}")
    return url


def _hint(status: int, permission: str) -> str | None:
    match status:
        case 401:
            return "does the token belong to this job? It expires with the job"
        case 403:
            return f"the job needs `permissions: {permission}`"
        case 404:
            return f"does it exist? GitHub also answers 404 if the job lacks `permissions: {permission}`"
        case 410:
            return "it was deleted, or its retention period is over"
        case _ if 300 <= status < 400:
            return "was the repository renamed? Use its new name"
    return None
