"""The sentences of a verdict. They name server, metric, stage, value and bound, so that each can stand alone."""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.metrics import METRICS
from pushbench.record import PlannedTrial, Skipped, Trial
from pushbench.stages import Stage, places
from pushbench.text import MESSAGE, one_line
from pushbench.thresholds import Bound, Limit
from pushbench.units import format_quantity

CLOSE = 0.005
"""relative: a value nearer to its bound is shown with the same three digits"""


def breach(server: str, metric: str, *, stage: Stage, value: float, bound: Bound, round_: int | None) -> str:
    """`node-ws: loss 2.1 % at 700 clients, limit 1 %`."""
    at = places([stage]) + (f" in round {round_}" if round_ is not None else "")
    unit = METRICS[metric].unit
    limit = format_quantity(bound.value, unit)
    if abs(value - bound.value) < CLOSE * bound.value:
        judged = f"just {'above' if bound.side == 'max' else 'below'} the limit of {limit}"
    else:
        judged = f"limit {limit}" if bound.side == "max" else f"limit at least {limit}"
    return f"{server}: {metric_in_sentence(metric)} {format_quantity(value, unit)} {at}, {judged}"


def unmeasured(server: str, metric: str, stages: Sequence[Stage]) -> str:
    return f"{server}: {metric_in_sentence(metric)} has a limit but was not measured {places(stages)}"


def missing(trial: PlannedTrial) -> str:
    return f"{trial.server}: the trial of {which_trial(trial)} was planned and is not in the record"


def skipped(server: Skipped) -> str:
    return f"{server.server}: skipped: {one_line(server.reason, MESSAGE)}"


def failure(trial: Trial) -> str:
    assert trial.failure, "only for trials that failed"
    message = one_line(trial.failure.message, MESSAGE)
    return f"{trial.server}: failed in {which_trial(trial)}: {trial.failure.step}: {message}"


def none_valid(server: str, trials: Sequence[Trial]) -> str:
    codes = sorted({finding.code for trial in trials for finding in trial.validity.reasons})
    return f"{server}: no valid trial ({', '.join(codes)})"


def some_invalid(server: str, valid: int, trials: int) -> str:
    return f"{server}: {valid} of {trials} trials are valid, only those are judged"


def expired(server: str, limit: Limit) -> str:
    return f"{server}: its own limit for {limit.metric} expired on {limit.until} and was not used ({limit.where})"


def unreplaced(server: str, limit: Limit) -> str:
    return f"{server}: {limit.metric} has no limit any more: its own expired on {limit.until} ({limit.where})"


def which_trial(trial: PlannedTrial | Trial) -> str:
    return f"round {trial.round}" + ("" if trial.arm == "head" else f" of the {trial.arm}")


def metric_in_sentence(metric: str) -> str:
    """The metric's title as it stands inside a sentence: `Loss` is `loss`, `CPU` stays."""
    title = METRICS[metric].title
    return title if title[1:2].isupper() else title[0].lower() + title[1:]
