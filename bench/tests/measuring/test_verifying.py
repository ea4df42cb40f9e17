"""Slow servers begin, with others between them. All are told of in the order in which they were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from pushbench import conformance
from pushbench.conformance.side_by_side import Watch
from pushbench.drivers.driver import Build
from pushbench.measuring import verifying
from pushbench.measuring.verifying import Built, lanes_of, verify_built


def test_slow_servers_begin_with_others_between_and_each_result_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def built(name: str, toolchain: str, *services: str) -> Built:
        process = SimpleNamespace(toolchains={toolchain: ">=1"})
        server: Any = SimpleNamespace(id=name, spec=SimpleNamespace(process=process, compose=None, services=services))
        nothing: Any = None
        return Built(server, nothing, nothing)

    def verify_each(servers: Sequence[Any], lanes: int, watch: Watch, only: Sequence[str]) -> list[Any]:
        found = [SimpleNamespace(server=start.__self__.server.id) for start in servers]
        for number, each in enumerate(found):
            watch.began(number)
            watch.found(number, each)  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(verifying, "verify_each", verify_each)
    servers = [built("go", "go"), built("spring", "java"), built("node", "node"), built("relay", "java", "rabbitmq")]
    began: list[int] = []
    told: list[tuple[int, str]] = []
    watch = Watch(began.append, lambda *_: None, lambda place, found: told.append((place, found.server)))
    results = verify_built(servers, 2, watch)
    assert began == [3, 0, 1, 2]
    assert told == [(3, "relay"), (0, "go"), (1, "spring"), (2, "node")]
    assert [each.server for each in results] == ["go", "spring", "node", "relay"]


def test_a_jvm_compiles_briefly_unless_the_server_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Build] = []
    monkeypatch.setattr(conformance, "subject", lambda _, build, *__: started.append(build))
    monkeypatch.setattr(verifying, "in_lane", lambda driver, _: driver)
    nothing: Any = None
    for start in ("java", "/opt/jdk/bin/java", "node"):
        process = SimpleNamespace(start=[start, "-jar", "server.jar"])
        server: Any = SimpleNamespace(spec=SimpleNamespace(process=process), process=process)
        Built(server, Build("a", "digest", options=("-own",)), nothing).in_lane(0)
    brief = "-XX:TieredStopAtLevel=1"
    assert [list(build.options) for build in started] == [[brief, "-own"], [brief, "-own"], ["-own"]]


@pytest.mark.parametrize(("cores", "lanes"), [(1, 1), (2, 3), (3, 4), (64, 4)])
def test_two_cores_have_three_lanes(monkeypatch: pytest.MonkeyPatch, cores: int, lanes: int) -> None:
    monkeypatch.setattr(verifying, "physical_cores", lambda _: [[core] for core in range(cores)])
    driver: Any = None
    assert lanes_of(driver) == lanes
