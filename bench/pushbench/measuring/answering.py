"""What a probe says of a load: whether the server carried it, or what else ended it. Pure.

Only the suite's limits are asked, of every server alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from pushbench.judging.thresholds import Bound, Thresholds
from pushbench.measuring.searching import Answer
from pushbench.metrics.definitions import OF_CONNECTING, metrics_of
from pushbench.records.capacity import AskedLimit, Broken
from pushbench.records.record import StageResult, Trial
from pushbench.records.vocabulary import Vocabulary

KEPT_UP = 0.99
"""of what was due: what is missing grows into a queue, and a queue breaks a limit of latency only after a while"""
QUEUED = 0.25
"""of a queue's growth, at least: the median latency. It is half of the growth where a queue grows all the time, and far
less where something stood still for a moment at the end of the window"""
EXCHANGES = 5
"""that may be on their way at the end of a window more than at its beginning: in a short one they are above 1 %"""
CHANCE = 3.0
"""standard deviations of that number where exchanges come at random. Both ends of the window have a Poisson number of
them on their way, whose variance is its mean: rate times latency, by Little's law"""
OF_GENERATOR = frozenset(
    {
        "generator_cpu",
        "generator_shortage",
        "generator_failed",
        "clients_missing",
        "too_many_receipts",
        "exchange_missing",
    }
)
"""codes of findings: the generator could not play the load, or tell of it"""


@dataclass(frozen=True)
class Asking:
    """What every probe of a search is held against."""

    limits: Sequence[AskedLimit]
    words: Vocabulary
    closed: bool


def limits_of(thresholds: Thresholds, suite: str) -> list[AskedLimit]:
    """Those of the suite, by the metric's name, without exceptions for single servers; nothing is killed in a search,
    so those of outages are not asked."""
    own = (each for each in thresholds.suite(suite).limits if each.server is None and not each.of.of_outage)
    found = (AskedLimit(metric=each.metric, side=each.bound.side, value=each.bound.value) for each in own)
    return sorted(found, key=lambda each: each.metric)


def answer(trial: Trial, asking: Asking, *, slow: bool) -> tuple[Answer, list[Broken]]:
    """What a load of one stage says, and the limits that it broke; `slow` where the ramp was longer already."""
    codes = {reason.code for reason in trial.validity.reasons}
    stage = trial.stages[0] if trial.stages else None
    broken = broken_limits(stage, asking) if stage else []
    if trial.failure:
        return "broken", broken
    if stage is None or codes & OF_GENERATOR:
        return "generator", broken
    if not broken:
        return "carried", []
    if codes or all(_is_lateness(each, stage.metrics, asking.words) for each in broken):
        return "disturbed", broken
    if not slow and all(each.metric.startswith(OF_CONNECTING) for each in broken):
        return "connecting", broken
    return "broken", broken


def broken_limits(stage: StageResult, asking: Asking) -> list[Broken]:
    """The limits that the stage broke, and last that the server fell behind. What was not measured breaks none."""
    values = [(limit, stage.metrics.get(limit.metric)) for limit in asking.limits]
    broken = [
        Broken(**limit.model_dump(), found=value)
        for limit, value in values
        if value is not None and not _allows(limit, value)
    ]
    behind = _behind(stage, asking.words, closed=asking.closed)
    return [*broken, behind] if behind else broken


def _behind(stage: StageResult, words: Vocabulary, *, closed: bool) -> Broken | None:
    """Where less arrives than is due. A closed load is due only as the server answers: there, where nothing does."""
    arrived, due, sent = (
        stage.metrics.get(name) or 0.0
        for name in ("throughput_per_second", "offered_per_second", "messages_per_second")
    )
    least = due * KEPT_UP
    if arrived and (closed or arrived >= least or not _queues(stage, words, due - arrived, due / sent if sent else 0)):
        return None
    return Broken(metric="throughput_per_second", side="min", value=least, found=arrived) if due else None


def _queues(stage: StageResult, words: Vocabulary, missing: float, receipts: float) -> bool:
    """Whether what is missing each second waits in a queue. An exchange owes so many receipts."""
    grown = missing * (stage.end_seconds - stage.begin_seconds)
    typical = stage.metrics.get(f"{words.headline_latency}_seconds.p50")
    seconds = grown / (stage.metrics["throughput_per_second"] or 1.0)
    on_their_way = (stage.metrics.get("messages_per_second") or 0.0) * (typical or 0.0)
    by_chance = max(EXCHANGES, CHANCE * sqrt(2 * on_their_way))
    return grown > by_chance * receipts and (typical is None or typical >= QUEUED * seconds)


def _is_lateness(broken: Broken, metrics: Mapping[str, float | None], words: Vocabulary) -> bool:
    """Whether the limit is kept without the generator's own part of the latency."""
    metric = metrics_of(words).get(broken.metric)
    late = metrics.get(metric.lateness) if metric and metric.lateness else None
    return late is not None and _allows(broken, broken.found - late)


def _allows(limit: AskedLimit, value: float) -> bool:
    return Bound(side=limit.side, value=limit.value).allows(value)
