"""Failed pulls are distinguished: absent, not allowed, too slow. A pull with a temporary failure is repeated."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.building.engine import TRANSFER_SECONDS, Engine, EngineFailed, EngineTimedOut
from pushbench.building.pulling import WAITS, PullFailed, kind_of, pull
from tests.registry_double import Registry, forget

ENGINE = Engine.find()
needs_engine = [
    pytest.mark.slow,
    pytest.mark.engine,
    pytest.mark.skipif(ENGINE is None, reason="needs a container engine that answers"),
]


class Answers(Engine):
    """An engine with one prepared answer per pull; None is a success."""

    def __init__(self, *answers: EngineFailed | None) -> None:
        super().__init__("docker", "1")
        self.__dict__.update(answers=list(answers), seconds=[])

    def run(self, *arguments: str, seconds: float = 0.0) -> str:
        assert arguments == ("pull", "--quiet", "x:1")
        self.__dict__["seconds"].append(seconds)
        answer = self.__dict__["answers"].pop(0)
        if answer:
            raise answer
        return ""


def pulled(*answers: EngineFailed | None) -> tuple[Answers, list[float], list[str]]:
    engine, waits, notes = Answers(*answers), list[float](), list[str]()
    pull(engine, "x:1", notes.append, sleep=waits.append)
    return engine, waits, notes


def test_what_passes_is_tried_again_with_growing_waits_and_told() -> None:
    busy = EngineFailed("Get https://ghcr.io/v2/: net/http: TLS handshake timeout")
    _, waits, notes = pulled(busy, EngineFailed("received unexpected HTTP status: 503 Service Unavailable"), None)
    assert waits == list(WAITS[:2])
    assert notes[0] == f"x:1: {busy}; retrying in 5 s"
    with pytest.raises(PullFailed, match="in time"):
        pulled(*[busy] * 4)


def test_a_pull_has_ten_minutes_in_all() -> None:
    engine, _, _ = pulled(None)
    assert engine.__dict__["seconds"] == [pytest.approx(TRANSFER_SECONDS, abs=5)]
    assert TRANSFER_SECONDS == 600
    times = iter([0.0, 0.0, 598.0])
    with pytest.raises(PullFailed):
        pull(
            Answers(EngineFailed("unexpected EOF")),
            "x:1",
            lambda _: None,
            sleep=lambda _: None,
            clock=lambda: next(times),
        )


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (
            "Error response from daemon: manifest for ghcr.io/a/b:1 not found: manifest unknown",
            "absent",
        ),
        ("Error response from daemon: manifest unknown", "absent"),
        ("Error response from daemon: denied", "denied"),
        ("Error response from daemon: unauthorized: authentication required", "denied"),
        ("Error response from daemon: Head https://ghcr.io/v2/a/b/manifests/1: denied: denied", "denied"),
        ("pull access denied for x, repository does not exist or may require 'docker login'", "denied"),
        ("Error response from daemon: Get https://ghcr.io/v2/: context deadline exceeded", "timeout"),
        ("Error response from daemon: no space left on device", "other"),
    ],
)
def test_why_a_pull_failed_is_told_in_the_engine_s_own_words(said: str, kind: str) -> None:
    assert kind_of(EngineFailed(said)) == kind
    if kind in ("absent", "denied", "other"):
        with pytest.raises(PullFailed) as raised:
            pulled(EngineFailed(said))
        assert said in str(raised.value)
        assert raised.value.kind == kind


def test_a_pull_that_took_too_long_is_not_repeated() -> None:
    with pytest.raises(PullFailed) as raised:
        pulled(EngineTimedOut("`pull --quiet` did not answer within 600 s"))
    assert raised.value.kind == "timeout"


@pytest.fixture
def pushed(tmp_path: Path) -> Iterator[tuple[Registry, str]]:
    """A registry with one tiny image, and the image's name. The engine no longer has the image."""
    assert ENGINE
    registry = Registry()
    with registry.served() as host:
        name = f"{host}/acme/pushbench/tiny:1"
        (tmp_path / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
        subprocess.run(["docker", "build", "--quiet", "--tag", name, str(tmp_path)], check=True, capture_output=True)
        ENGINE.run("push", "--quiet", name)
        ENGINE.run("image", "rm", name)
        yield registry, name
        forget(ENGINE, host)


class TestWithAnEngine:
    pytestmark = needs_engine

    def test_what_was_pushed_is_pulled_by_tag_and_by_digest(self, pushed: tuple[Registry, str]) -> None:
        assert ENGINE
        registry, name = pushed
        registry.faults = [503]
        waits: list[float] = []
        pull(ENGINE, name, lambda _: None, sleep=waits.append)
        assert ENGINE.image(name)
        by_digest = f"{name.rpartition(':')[0]}@{registry.digest_of('acme/pushbench/tiny', '1')}"
        pull(ENGINE, by_digest, lambda _: None)

    def test_nothing_else_is_there(self, pushed: tuple[Registry, str]) -> None:
        assert ENGINE
        registry, name = pushed
        with pytest.raises(PullFailed) as absent:
            pull(ENGINE, f"{name}2", lambda _: None)
        assert absent.value.kind == "absent", str(absent.value)
        registry.denied.add("acme/pushbench/tiny")
        with pytest.raises(PullFailed) as denied:
            pull(ENGINE, name, lambda _: None)
        assert denied.value.kind == "denied", str(denied.value)
