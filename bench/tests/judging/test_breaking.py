"""A head that keeps breaking a limit need not be measured further."""

from __future__ import annotations

import pytest

from pushbench.judging.breaking import keeps_breaking
from pushbench.judging.thresholds import Bound, Limit, SuiteThresholds, Thresholds
from pushbench.records.record import Record, Trial
from tests.comparisons import compared
from tests.factories import METRICS, invalid, make_stage, make_trial

LIMIT = Limit(of=METRICS["delivery_seconds.p95"], bound=Bound(side="max", value=0.5), where="x:1")
THRESHOLDS = Thresholds(digest="d", suites={"whiteboard": SuiteThresholds(limits=(LIMIT,))})


def trial(round_: int, *, arm: str = "head", p95: float = 0.9, late: float = 0.0) -> Trial:
    metrics = {"delivery_seconds.p95": p95, "lateness_seconds.p95": late}
    return make_trial("node-ws", round_, arm=arm, results=[make_stage(500, metrics)])


def record(trials: list[Trial]) -> Record:
    return compared(trials)


def test_a_limit_broken_in_three_rounds_ends_it() -> None:
    said = keeps_breaking(record([trial(each) for each in (1, 2, 3)]), THRESHOLDS, "node-ws")
    assert said == "it broke the limit on delivery p95 in 3 rounds"


@pytest.mark.parametrize(
    "trials",
    [
        [trial(1), trial(2)],
        [trial(1), trial(2), trial(3, p95=0.4)],
        [trial(1), trial(2), invalid(trial(3), stage=0)],
        [trial(1), trial(2), trial(3, late=0.5)],
        [trial(each, arm="base") for each in (1, 2, 3)],
    ],
    ids=["two", "kept once", "invalid", "generator late", "the base"],
)
def test_less_than_that_does_not(trials: list[Trial]) -> None:
    assert keeps_breaking(record(trials), THRESHOLDS, "node-ws") == ""
    assert keeps_breaking(record(trials), THRESHOLDS, "go") == ""
