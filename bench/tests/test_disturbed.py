"""A test is run again only if the hypervisor may have caused its failure, and fails if every run fails."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pushbench.machine.disturbance import Since
from tests import disturbed


def runs(monkeypatch: pytest.MonkeyPatch, *failed: bool, stolen: float) -> tuple[bool, list[str]]:
    """Whether a test with these results of its runs fails in the end, and the messages. Each result must be used."""
    coming = iter(failed)
    made: list[None] = []
    item: Any = SimpleNamespace(nodeid="test_it", user_properties=[], _initrequest=lambda: made.append(None))

    def once(*_: object, **__: object) -> list[Any]:
        return [SimpleNamespace(when="call", failed=next(coming), user_properties=list(item.user_properties))]

    with monkeypatch.context() as patched:
        patched.setattr(disturbed, "runtestprotocol", once)
        patched.setattr(Since, "stolen_share", lambda _: stolen)
        [report] = reports = disturbed.run(item, None)
    assert next(coming, None) is None
    assert len(made) == len(failed) - 1, "each run has fixtures of its own"
    return report.failed, disturbed.told(reports)


def test_a_failure_on_a_disturbed_machine_is_run_again_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "test_it failed while the hypervisor took 20% of the CPU"
    assert runs(monkeypatch, True, False, stolen=0.2) == (False, [why])


def test_a_failure_that_comes_each_time_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    failed, told = runs(monkeypatch, True, True, True, stolen=0.2)
    assert failed
    assert len(told) == 2


def test_nothing_else_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert runs(monkeypatch, True, stolen=0.04) == (True, [])
    assert runs(monkeypatch, False, stolen=0.2) == (False, [])
