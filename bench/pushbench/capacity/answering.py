"""The answer of a probe: whether the server carried the load, or why it did not. Pure.

Only the suite's limits apply, the same ones to every server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt

from pushbench.capacity.asked import Answer
from pushbench.judging.thresholds import Bound, Thresholds
from pushbench.metrics.definitions import OF_CONNECTING, metrics_of
from pushbench.records.capacity import AskedLimit, Broken
from pushbench.records.record import Finding, StageResult, Trial
from pushbench.records.vocabulary import Vocabulary

THROUGHPUT = "throughput_per_second"
KEPT_UP = 0.99
"""of what was due. The rest grows into a queue, and a queue breaks a latency limit only after a while"""
QUEUED = 0.25
"""the least median latency, as a share of a queue's growth. It is half of the growth if a queue grows all the time, and
far less if something stalled for a moment at the end of the window"""
SETTLING = 0.2
"""share of the headline latency's limit. A queue that grew by less, in a probe that is not a hold, may vary around a
steady length: within the limits, the queue of `spring-websocket` grew by up to 0.08 s in windows of 3 s, and not over
20 s (docs/capacity.md)"""
EXCHANGES = 5
"""how many more may be in flight at the end of a window than at its beginning: in a short one they exceed 1 %"""
CHANCE = 3.0
"""standard deviations of that number if exchanges arrive at random. The number in flight at either end of the window is
Poisson-distributed, and its variance is its mean: rate times latency, by Little's law"""
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
"""codes of findings: the generator could not play the load, or could not report it"""


@dataclass(frozen=True)
class Asking:
    """The limits that apply to every probe of a search."""

    limits: Sequence[AskedLimit]
    words: Vocabulary
    closed: bool


def limits_of(thresholds: Thresholds, suite: str) -> list[AskedLimit]:
    """The suite's limits, sorted by metric, without exceptions for single servers. A search kills nothing, so limits of
    outages are left out."""
    own = (each for each in thresholds.suite(suite).limits if each.server is None and not each.of.of_outage)
    found = (AskedLimit(metric=each.metric, side=each.bound.side, value=each.bound.value) for each in own)
    return sorted(found, key=lambda each: each.metric)


@dataclass(frozen=True)
class Answered:
    """The answer of one stage, and why."""

    answer: Answer
    broken: list[Broken]
    findings: list[Finding]
    """reasons to distrust the stage"""
    failed: bool = False
    """the server ended in this stage"""


def answer_of(trial: Trial, index: int, asking: Asking, *, slow: bool, hold: bool = False) -> Answered:
    """The answer of the stage with this index; `slow` if clients connected slowly already, `hold` for a longer one."""
    stage = trial.stages[index] if index < len(trial.stages) else None
    last = index >= len(trial.stages) - 1
    broken = broken_limits(stage, asking) if stage else []
    findings = [
        reason
        for reason in trial.validity.reasons
        if reason.stage == index or (reason.stage is None and (broken or last))
    ]
    failed = trial.failure is not None and last
    answer = _answer(stage, broken, findings, asking, slow=slow, hold=hold, failed=failed)
    return Answered(answer, broken, findings, failed)


def _answer(
    stage: StageResult | None,
    broken: Sequence[Broken],
    findings: Sequence[Finding],
    asking: Asking,
    *,
    slow: bool,
    hold: bool,
    failed: bool,
) -> Answer:
    codes = {finding.code for finding in findings}
    if failed:
        return "broken"
    if stage is None or codes & OF_GENERATOR:
        return "generator"
    if not broken:
        return "carried"
    if codes or all(_is_lateness(each, stage.metrics, asking.words) for each in broken):
        return "disturbed"
    if not slow and any(each.metric.startswith(OF_CONNECTING) for each in broken):
        return "connecting"
    return "unsettled" if not hold and _may_settle(stage, broken, asking) else "broken"


def broken_limits(stage: StageResult, asking: Asking) -> list[Broken]:
    """The limits that the stage broke; last, that the server fell behind. A metric without a value breaks none."""
    values = [(limit, stage.metrics.get(limit.metric)) for limit in asking.limits]
    broken = [
        Broken(**limit.model_dump(), found=value)
        for limit, value in values
        if value is not None and not _allows(limit, value)
    ]
    behind = _behind(stage, asking.words, closed=asking.closed)
    return [*broken, behind] if behind else broken


def _behind(stage: StageResult, words: Vocabulary, *, closed: bool) -> Broken | None:
    """Whether less arrives than is due. A closed load depends on the server's answers: it is behind if none arrive."""
    arrived, due, sent = (
        stage.metrics.get(name) or 0.0 for name in (THROUGHPUT, "offered_per_second", "messages_per_second")
    )
    least = due * KEPT_UP
    if arrived and (closed or arrived >= least or not _queues(stage, words, due - arrived, due / sent if sent else 0)):
        return None
    return Broken(metric=THROUGHPUT, side="min", value=least, found=arrived) if due else None


def _may_settle(stage: StageResult, broken: Sequence[Broken], asking: Asking) -> bool:
    """Whether the server only fell behind, and by little, so that a longer window has to decide."""
    headline = asking.words.headline
    limit = next((each.value for each in asking.limits if each.metric == headline and each.side == "max"), 0.0)
    if any(each.metric != THROUGHPUT for each in broken):
        return False
    arrived, due = (stage.metrics.get(name) or 0.0 for name in (THROUGHPUT, "offered_per_second"))
    return _grown_seconds(stage, due - arrived) < SETTLING * limit


def _grown_seconds(stage: StageResult, missing: float) -> float:
    """How much longer the queue is at the end of the window, in seconds of the server's work."""
    arrived = stage.metrics.get(THROUGHPUT)
    return missing * (stage.end_seconds - stage.begin_seconds) / arrived if arrived else inf


def _queues(stage: StageResult, words: Vocabulary, missing: float, receipts: float) -> bool:
    """Whether the receipts missing each second wait in a queue. Each exchange owes `receipts` receipts."""
    grown = missing * (stage.end_seconds - stage.begin_seconds)
    typical = stage.metrics.get(f"{words.headline_latency}_seconds.p50")
    seconds = _grown_seconds(stage, missing)
    on_their_way = (stage.metrics.get("messages_per_second") or 0.0) * (typical or 0.0)
    by_chance = max(EXCHANGES, CHANCE * sqrt(2 * on_their_way))
    return grown > by_chance * receipts and (typical is None or typical >= QUEUED * seconds)


def _is_lateness(broken: Broken, metrics: Mapping[str, float | None], words: Vocabulary) -> bool:
    """Whether the limit would be kept without the generator's own share of the latency."""
    metric = metrics_of(words).get(broken.metric)
    late = metrics.get(metric.lateness) if metric and metric.lateness else None
    return late is not None and _allows(broken, broken.found - late)


def _allows(limit: AskedLimit, value: float) -> bool:
    return Bound(side=limit.side, value=limit.value).allows(value)
