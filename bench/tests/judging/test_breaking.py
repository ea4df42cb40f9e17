"""A head that repeatedly breaks a limit need not be measured further."""

from __future__ import annotations

import pytest

from pushbench.judging.breaking import keeps_breaking
from pushbench.judging.thresholds import Bound, Limit, Regression, SuiteThresholds, Thresholds
from pushbench.judging.verdict import judge
from pushbench.metrics.definitions import Better
from pushbench.records.record import Record, Trial
from tests.comparisons import compared
from tests.factories import METRICS, invalid, make_stage, make_trial

LIMIT = Limit(of=METRICS["delivery_seconds.p95"], bound=Bound(side="max", value=0.5), where="x:1")
MARGIN = Regression(METRICS["delivery_seconds.p95"], 0.15, 1e-3, Better.LOWER)
THRESHOLDS = Thresholds(digest="d", suites={"whiteboard": SuiteThresholds(limits=(LIMIT,), regressions=(MARGIN,))})
NO_MARGIN = Thresholds(digest="d", suites={"whiteboard": SuiteThresholds(limits=(LIMIT,))})


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


def both(heads: list[float], bases: list[float]) -> Record:
    trials = []
    for round_, (head, base) in enumerate(zip(heads, bases, strict=True), 1):
        trials += [trial(round_, p95=head), trial(round_, arm="base", p95=base)]
    return record(trials)


def test_a_limit_that_the_base_breaks_in_the_same_rounds_fails_no_comparison() -> None:
    found = both([0.9, 0.8, 0.4, 0.9], [0.8, 0.9, 0.9, 0.4])
    verdict = judge(found, THRESHOLDS)
    [limit] = verdict.limits
    assert (limit.outcome, limit.shared) == ("fail", True)
    assert verdict.outcome != "fail"
    assert (
        "node-ws: delivery p95 900 ms at 500 clients in round 1, limit 500 ms: the base breaks it, too" in verdict.notes
    )
    assert keeps_breaking(found, THRESHOLDS, "node-ws") == ""


@pytest.mark.parametrize(
    ("bases", "thresholds"),
    [
        ([0.9, 0.4, 0.4, 0.9], THRESHOLDS),
        ([0.4, 0.4, 0.4, 0.9], THRESHOLDS),
        ([0.9, 0.9, 0.9, 0.9], NO_MARGIN),
    ],
    ids=["half of them", "other rounds", "no margin would see more of it"],
)
def test_a_limit_that_the_head_breaks_fails_it(bases: list[float], thresholds: Thresholds) -> None:
    found = both([0.9, 0.9, 0.9, 0.9] if bases[0] == 0.9 else [0.9, 0.9, 0.9, 0.4], bases)
    verdict = judge(found, thresholds)
    assert verdict.outcome == "fail"
    assert not any(limit.shared for limit in verdict.limits)
    assert keeps_breaking(found, thresholds, "node-ws")
