"""Servers are verified with the slowest first, and told of in the order in which they were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from pushbench.conformance.side_by_side import Watch
from pushbench.measuring import verifying
from pushbench.measuring.verifying import Built, verify_built


def test_servers_on_the_jvm_begin_and_each_result_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def built(name: str, toolchain: str) -> Built:
        process = SimpleNamespace(toolchains={toolchain: ">=1"})
        server: Any = SimpleNamespace(id=name, spec=SimpleNamespace(process=process, compose=None))
        nothing: Any = None
        return Built(server, nothing, nothing)

    def verify_each(servers: Sequence[Any], lanes: int, watch: Watch, only: Sequence[str]) -> list[Any]:
        found = [SimpleNamespace(server=start.__self__.server.id) for start in servers]
        for number, each in enumerate(found):
            watch.began(number)
            watch.found(number, each)  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(verifying, "verify_each", verify_each)
    servers = [built("go", "go"), built("spring", "java"), built("node", "node"), built("stomp", "java")]
    began: list[int] = []
    told: list[tuple[int, str]] = []
    watch = Watch(began.append, lambda *_: None, lambda place, found: told.append((place, found.server)))
    results = verify_built(servers, 2, watch)
    assert began == [1, 3, 0, 2]
    assert told == [(1, "spring"), (3, "stomp"), (0, "go"), (2, "node")]
    assert [each.server for each in results] == ["go", "spring", "node", "stomp"]
