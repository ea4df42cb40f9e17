"""Reads a server's own metrics once a second while a load is played.

A thread requests them on a connection of its own. If a server is too busy to answer in time, the thread tries again a
second later.
"""

from __future__ import annotations

import http
import http.client
import threading
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from pushbench.metrics.told import ROUNDING_SECONDS, Telling, read_telling
from pushbench.records.vocabulary import Vocabulary

ANSWER_SECONDS = 0.9  # less than the second until the next request
MOST_BYTES = 64 << 10


class Listener(threading.Thread):
    """Requests the metrics at every whole second of the windows."""

    def __init__(self, url: str, words: Vocabulary, windows: Sequence[tuple[float, float]]) -> None:
        super().__init__(name="listener", daemon=True)
        self._host = urlsplit(url).netloc if url.startswith("http://") else ""  # a server elsewhere owes no metrics
        self._words = words
        self._moments = [begin + second for begin, end in windows for second in _whole_seconds(end - begin)]
        self._enough = threading.Event()
        self._told: list[Telling] = []

    def run(self) -> None:
        if not self._words.told or not self._host:
            return
        for moment in self._moments:
            if self._enough.wait(max(0.0, moment - time.monotonic())):
                return
            body = ask(self._host)
            if body is not None:
                self._told.append(read_telling(moment, body, self._words))

    def stop(self) -> list[Telling]:
        """Stop, and return the answers so far; outstanding requests are dropped."""
        self._enough.set()
        self.join()
        return self._told


def _whole_seconds(length: float) -> range:
    return range(1, int(length + ROUNDING_SECONDS) + 1)


def ask(host: str) -> bytes | None:
    """The body of GET /metricz; None if none arrives in time."""
    connection = http.client.HTTPConnection(host, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/metricz", headers={"Connection": "close"})
        answer = connection.getresponse()
        return answer.read(MOST_BYTES) if answer.status == http.HTTPStatus.OK else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
