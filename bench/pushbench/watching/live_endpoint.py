"""The VictoriaMetrics that a run writes to: its address, and the thread that writes.

Nothing here may delay or fail a trial: data that VictoriaMetrics does not accept in time is dropped, with one note.
"""

from __future__ import annotations

import http.client
import threading
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlsplit

from pushbench.foundation.errors import UserError

PATIENCE_SECONDS = 2.0  # for one request; it takes a millisecond
BACKLOG = 10  # seconds that wait for a slow VictoriaMetrics before they are dropped


@dataclass(frozen=True)
class Endpoint:
    """Its base URL in parts; the path is the prefix that a proxy puts in front of the API."""

    scheme: str
    address: str
    path: str

    @classmethod
    def parse(cls, url: str) -> Endpoint:
        """Raises UserError for anything but the http:// or https:// URL of a base."""
        parts = urlsplit(url)
        try:
            usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # of a port that is not a number
            usable = False
        if not usable or parts.username is not None or parts.query or parts.fragment:
            raise UserError(
                f"--live: expected the URL of a VictoriaMetrics, such as http://127.0.0.1:8428, found {url!r}"
            )
        return cls(parts.scheme, parts.netloc, parts.path.rstrip("/"))

    def __str__(self) -> str:
        return f"{self.scheme}://{self.address}{self.path}"

    @property
    def remote_write(self) -> str:
        return f"{self}/api/v1/write"

    def post(self, text: str) -> None:
        """Import samples in Prometheus' text format. Raises OSError or HTTPException with a message for people."""
        kind = http.client.HTTPSConnection if self.scheme == "https" else http.client.HTTPConnection
        with closing(kind(self.address, timeout=PATIENCE_SECONDS)) as connection:
            connection.request("POST", f"{self.path}/api/v1/import/prometheus", text.encode())
            status = connection.getresponse().status
        if status // 100 != 2:
            raise http.client.HTTPException(f"answers {status}")

    def require_answer(self) -> None:
        """Raises UserError unless a service that accepts metrics answers."""
        try:
            self.post("")
        except (OSError, http.client.HTTPException) as error:
            raise UserError(
                f"--live: no VictoriaMetrics at {self}: {reason(error)}",
                hint="`make stack` starts one; docs/live.md says how to run one without containers",
            ) from None


class Writer(threading.Thread):
    """Posts what is put into it, one request after the other. Calls `fail` with the reason if a request fails."""

    def __init__(self, endpoint: Endpoint, fail: Callable[[str], None]) -> None:
        super().__init__(name="live", daemon=True)
        self._endpoint, self._fail = endpoint, fail
        self._waiting: deque[str] = deque(maxlen=BACKLOG)
        self._woken = threading.Event()
        self._closing = False

    def put(self, text: str) -> None:
        """Queue a text. Never waits."""
        self._waiting.append(text)
        self._woken.set()

    def run(self) -> None:
        closing = False
        while not closing:
            self._woken.wait()
            self._woken.clear()
            closing = self._closing  # read before the rest is taken, so that no text is left behind
            if self._waiting:
                self._post()

    def close(self) -> None:
        """Post the rest, for at most as long as one request may take."""
        self._closing = True
        self._woken.set()
        self.join(PATIENCE_SECONDS)

    def _post(self) -> None:
        text = "".join(self._waiting.popleft() for _ in range(len(self._waiting)))
        try:
            self._endpoint.post(text)
        except (OSError, http.client.HTTPException) as error:
            self._fail(reason(error))


def reason(error: Exception) -> str:
    """The error in a few words."""
    if isinstance(error, TimeoutError):
        return f"no answer within {PATIENCE_SECONDS:g} s"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
