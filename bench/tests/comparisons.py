"""Records that compare two arms, and the margins for judging them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pushbench.judging.thresholds import Regression, SuiteThresholds, Thresholds
from pushbench.metrics.definitions import Better
from pushbench.records.environment import Commit
from pushbench.records.record import Comparison, Record, StagePlan, Trial
from tests.factories import METRICS, SCHEDULE, make_record, make_stage, make_trial

BASE = Commit(
    sha="0123456789abcdef0123456789abcdef01234567",
    ref="main",
    subject="Measure twice",
    author_time="2026-11-20T09:00:00+00:00",
    dirty=False,
)
MARGINS = (
    Regression(METRICS["cpu_seconds_per_delivery"], 0.05, 0.0, Better.LOWER),
    Regression(METRICS["delivery_seconds.p95"], 0.15, 1e-3, Better.LOWER),
    Regression(METRICS["loss_ratio"], 0.10, 1e-3, Better.LOWER),
)
THRESHOLDS = Thresholds(digest="d", suites={"whiteboard": SuiteThresholds(regressions=MARGINS)})
ONE_STAGE = SCHEDULE.model_copy(
    update={"stages": [StagePlan(clients=500, ramp_seconds=1, settle_seconds=1, steady_seconds=8)]}
)


def arms(server: str, *, rounds: int = 20, cpu: float = 0.0, loss: float = 0.0, noise: float = 0.02) -> list[Trial]:
    """Both arms of a server; the head uses `cpu` more CPU and loses `loss`."""
    random = np.random.default_rng(len(server))
    trials = []
    for round_ in range(1, rounds + 1):
        for arm in ("base", "head"):
            spread = float(np.exp(random.normal(0, noise)))
            changed = {"cpu_seconds_per_delivery": 20e-6 * spread, "loss_ratio": 0.0}
            if arm == "head":
                changed = {"cpu_seconds_per_delivery": 20e-6 * spread * (1 + cpu), "loss_ratio": loss}
            trials.append(make_trial(server, round_, arm=arm, results=[make_stage(500, changed)]))
    return trials


def with_compilers(trials: list[Trial], *shares: float, of_head: float = 1.0) -> list[Trial]:
    """The trials with CPU of compilers added to the server's, as a share of it by round; more in the head."""

    def compiling(trial: Trial) -> Trial:
        stage = trial.stages[0]
        spent = stage.metrics["cpu_seconds_per_delivery"] or 0.0
        took = spent * shares[trial.round % len(shares)] * (of_head if trial.arm == "head" else 1.0)
        both = {"cpu_seconds_per_delivery": spent + took, "compilers_cpu_seconds_per_delivery": took}
        return trial.model_copy(update={"stages": [stage.model_copy(update={"metrics": {**stage.metrics, **both}})]})

    return [compiling(each) for each in trials]


def compared(trials: list[Trial], **changed: Any) -> Record:
    values = {"base": BASE, "most_rounds": 20, "identical": [], "one_sided": []}
    return make_record(trials, schedule=ONE_STAGE, comparison=Comparison(**(values | changed)))
