"""The result of a run: its servers by the suite's headline; servers within noise of each other share a place. Pure.

The rule of noise is in `statistics/ties`. A server that failed, or that has no valid trial, has no place; the reason is
given instead. Comparisons have no ranking: they show changes. Stages with an outage have none: they show how a server
recovers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from pushbench.foundation.model import Document
from pushbench.judging.changes import value_of
from pushbench.judging.verdict import ServerVerdict, Verdict
from pushbench.metrics.definitions import Unit, in_sentence, metrics_of
from pushbench.records.record import Record, Trial
from pushbench.statistics import ties


class Place(Document):
    """One server of a ranking, in base units."""

    place: PositiveInt = Field(description="place in the ranking; servers within noise of each other share one")
    server: str
    value: float = Field(description="median of the metric over the valid trials")
    min: float
    max: float
    trials: PositiveInt
    times_best: float | None = Field(description="value as a multiple of the first server's value; null if that is 0")
    outcome: Literal["pass", "inconclusive"]


class Unplaced(Document):
    """A server without a place."""

    server: str
    outcome: Literal["fail", "invalid", "not measured"]
    reason: str


class Ranking(Document):
    """The servers of one stage by the headline; lower is better."""

    metric: str
    title: str
    unit: Unit
    stage: NonNegativeInt
    name: str = Field(description="name of the stage")
    places: list[Place]
    unplaced: list[Unplaced]
    basis: str = Field(description="sentence about the rule that decides ties; empty with fewer than two servers")


def rank(record: Record, verdict: Verdict, stage: int) -> Ranking | None:
    """The ranking of a stage; None for comparisons, for stages with an outage, and if times are meaningless."""
    if record.comparison or not record.judges_times or not verdict.servers or record.schedule.stages[stage].outage:
        return None
    metric = metrics_of(record.words)[record.words.headline]
    subjects, unplaced = [], []
    for server in verdict.servers:
        subject = _subject(record, server, stage)
        if isinstance(subject, Unplaced):
            unplaced.append(subject)
        else:
            subjects.append(subject)
    outcomes = {server.server: server.outcome for server in verdict.servers}
    return Ranking(
        metric=metric.name,
        title=metric.title,
        unit=metric.unit,
        stage=stage,
        name=record.schedule.stages[stage].name,
        places=_places(subjects, outcomes),
        unplaced=unplaced,
        basis=basis(subjects),
    )


def _subject(record: Record, server: ServerVerdict, stage: int) -> ties.Subject | Unplaced:
    if server.outcome in ("fail", "invalid"):
        reason = server.reasons[0].removeprefix(f"{server.server}: ") if server.reasons else server.outcome
        return Unplaced(server=server.server, outcome=server.outcome, reason=reason)
    trials = [each for each in record.trials if (each.server, each.arm) == (server.server, "head")]
    valid = [each for each in trials if each.validity.valid]
    values = _values(valid, stage, record.words.headline)
    if not values:
        reason = f"no {in_sentence(metrics_of(record.words)[record.words.headline].title)} was measured"
        return Unplaced(server=server.server, outcome="not measured", reason=reason)
    late = _values(valid, stage, metrics_of(record.words)[record.words.headline].lateness or "")
    return ties.Subject(server.server, values, max(late, default=0.0))


def _values(trials: Sequence[Trial], stage: int, metric: str) -> list[float]:
    return [value for trial in trials if (value := value_of(trial, stage, metric)) is not None]


def _places(subjects: Sequence[ties.Subject], outcomes: Mapping[str, str]) -> list[Place]:
    found: list[Place] = []
    for group in ties.groups(subjects):
        place = len(found) + 1
        best = found[0].value if found else group[0].middle
        found += [
            Place(
                place=place,
                server=each.name,
                value=each.middle,
                min=min(each.values),
                max=max(each.values),
                trials=len(each.values),
                times_best=each.middle / best if best else None,
                outcome="pass" if outcomes[each.name] == "pass" else "inconclusive",
            )
            for each in group
        ]
    return found


def basis(subjects: Sequence[ties.Subject]) -> str:
    """The rule that separates servers in this ranking. With few rounds it is not the run's own noise, and says so."""
    if len(subjects) < 2:
        return ""
    rounds = min(len(each.values) for each in subjects)
    if ties.is_tested(subjects):
        return f"Servers share a place where a rank-sum test over {rounds} rounds does not tell them apart (5 %)."
    apart = f"less than {(ties.alike(rounds, rounds) - 1) * 100:.0f} %"
    if rounds == 1:
        rule = f"Servers that differ by {apart} share a place. One round does not show the noise"
    else:
        rule = (
            f"Servers share a place where their rounds overlap or differ by {apart}. {rounds} rounds show little noise"
        )
    return (
        f"{rule}: this rests on how much starts of the same code differ elsewhere (docs/method.md). "
        f"--rounds {ties.ENOUGH} measures it."
    )
