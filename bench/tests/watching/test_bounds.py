"""The display of a trial shows the limits that its verdict will check."""

from __future__ import annotations

from pathlib import Path

from pushbench.watching.bounds import limits_of
from tests.factories import LIMITS, make_record, make_thresholds

OWN = """\
servers:
  node-ws:
    whiteboard:
      limits:
        delivery_seconds.p95: {max: 50ms, stages: ["300"], reason: measured}
"""


def test_limits_are_those_of_the_server_and_the_stage(tmp_path: Path) -> None:
    thresholds, record = make_thresholds(tmp_path, LIMITS + OWN), make_record([])

    def p95(server: str, stage: str) -> float:
        return limits_of(thresholds, record, server, stage)["delivery_seconds.p95"].value

    assert (p95("node-ws", "300"), p95("node-ws", "700"), p95("fastapi", "300")) == (0.05, 0.5, 0.5)


def test_a_profile_that_asks_no_times_has_no_limit_on_them(tmp_path: Path) -> None:
    record = make_record([], judges_times=False)
    assert list(limits_of(make_thresholds(tmp_path), record, "node-ws", "100")) == ["loss_ratio"]
