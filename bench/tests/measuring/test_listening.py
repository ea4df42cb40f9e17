"""A server's own metrics are requested once a second, and a busy server does not delay that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import ThreadingHTTPServer

import pytest

from pushbench.measuring import listening
from pushbench.measuring.listening import Listener, ask
from pushbench.records.vocabulary import ORIGINAL, Told
from tests.serving import LOOPBACK, QuietHandler, serving

WORDS = ORIGINAL.model_copy(update={"told": {"delay": Told(title="Delay")}})


@contextmanager
def telling(status: int = 200, pause: float = 0.0) -> Iterator[tuple[str, list[str]]]:
    """Yields the host of a server that counts its requests, and their paths."""
    asked: list[str] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802 - a name that http.server asks for
            asked.append(self.path)
            time.sleep(pause)
            body = b'{"delay":{"p50":0.001,"p99":%d}}' % len(asked)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            with suppress(ConnectionError):  # the client did not wait for the answer
                self.end_headers()
                self.wfile.write(body)

    with serving(ThreadingHTTPServer((LOOPBACK, 0), Handler)) as host:
        yield host, asked


def test_a_server_is_asked_at_every_second_of_the_windows() -> None:
    with telling() as (host, asked):
        begin = time.monotonic() - 0.9
        listener = Listener(f"http://{host}", WORDS, [(begin, begin + 1.0), (begin + 0.2, begin + 1.4)])
        listener.start()
        until = time.monotonic() + 60
        while len(asked) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        told = listener.stop()
    assert asked == ["/metricz", "/metricz"]
    assert [each.at - begin for each in told] == pytest.approx([1.0, 1.2])
    assert [each.values["delay_seconds.p99"] for each in told] == [1, 2]


def test_a_suite_that_has_nothing_told_asks_nobody() -> None:
    with telling() as (host, asked):
        listener = Listener(f"http://{host}", ORIGINAL, [(time.monotonic() - 1, time.monotonic())])
        listener.start()
        assert listener.stop() == []
    assert asked == []


def test_what_is_still_to_be_asked_ends_with_the_load() -> None:
    begin = time.monotonic()
    listener = Listener("http://127.0.0.1:9", WORDS, [(begin, begin + 60)])
    listener.start()
    assert listener.stop() == []
    assert time.monotonic() - begin < 30


def test_no_answer_is_nothing_told() -> None:
    with telling(status=503) as (host, _):
        assert ask(host) is None
    assert ask("127.0.0.1:9") is None


def test_a_late_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "ANSWER_SECONDS", 0.1)
    with telling(pause=60) as (host, _):
        began = time.monotonic()
        assert ask(host) is None
        assert time.monotonic() - began < 30
