"""The rows of a verdict against the history, for a run without a base. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from pydantic import Field, NonNegativeInt

from pushbench.judging.asking import margins
from pushbench.judging.judged import JudgedRow, JudgedWord
from pushbench.judging.thresholds import Accepted, Regression, Thresholds
from pushbench.metrics.definitions import Better
from pushbench.metrics.lateness import sentence, value_without
from pushbench.records.history import entry_of
from pushbench.records.record import Record, StagePlan
from pushbench.records.runs import Past
from pushbench.statistics.trend import Band, band


class JudgedLevel(JudgedRow):
    """One metric of one server in one stage, and its former level."""

    word: JudgedWord
    value: float | None = Field(description="median of the valid trials; null where one of them did not measure it")
    level: float | None = Field(description="of the history, or the accepted one; null where neither is known")
    low: float | None = Field(description="of the band in which runs of that level lie")
    high: float | None
    margin: float | None = Field(description="from which difference on a change counts, in the metric's unit")
    runs: NonNegativeInt = Field(description="of the history that the band was made from")
    accepted: str | None = Field(description="why thresholds.yml has another level than the history, where it does")


def judge_levels(record: Record, thresholds: Thresholds, past: Past) -> list[JudgedLevel]:
    """A row for each metric with a margin; none if the history has nothing to compare with."""
    day = datetime.fromisoformat(record.created).date()
    return list(_levels(record, thresholds, past, day)) if past.runs.heads else []


def _levels(record: Record, thresholds: Thresholds, past: Past, day: date) -> Iterator[JudgedLevel]:
    own = entry_of(record)
    for server in record.servers:
        for index, stage in enumerate(record.schedule.stages):
            for regression in margins(record, thresholds, index):
                if regression.of.added:  # the first runs of its history would all be undecided
                    continue
                values = past.runs.column(server, stage.name, regression.metric)
                line = thresholds.accepted(record.suite, server, stage.name, regression.metric, day)
                value = own.servers[server].stages[stage.name].get(regression.metric)
                usual = band(values)
                accepted = None
                if line:
                    dated = past.runs.dated(server, stage.name, regression.metric)
                    accepted = _acceptance(line, dated, usual, value, regression)
                judged = _judge(
                    server, (index, stage), value, regression, usual=usual, accepted=accepted, runs=len(values)
                )
                yield (
                    judged if accepted else _believed(judged, own.servers[server].stages[stage.name], past, regression)
                )


def _believed(found: JudgedLevel, metrics: Mapping[str, float], past: Past, regression: Regression) -> JudgedLevel:
    """The row, `invalid` if its word changes without the generator's lateness in this run and in those of the history.
    An accepted level is used as written.
    """
    late = regression.of.lateness
    if found.word not in ("worse", "better") or late is None or late not in metrics:
        return found
    usual = band(past.runs.column_without(found.server, found.name, found.metric, late))
    if usual is None:
        return found
    margin = max(regression.margin * usual.level, regression.floor)
    without = word(value_without(metrics, regression.of), usual, margin, regression.better)
    if without == found.word:
        return found
    detail = sentence(found.metric, metrics[late], without=without)
    return found.model_copy(update={"word": "invalid", "detail": detail})


@dataclass(frozen=True)
class _Acceptance:
    """A level that replaces the history's, and the reason."""

    level: float
    reason: str
    asked: bool = False
    """only of what got worse, so that what keeps to it is accepted"""


def _acceptance(
    line: Accepted, values: Sequence[tuple[str, float]], usual: Band | None, value: float | None, regression: Regression
) -> _Acceptance | None:
    """The effect of an accepting line; None if it has none. A `level` replaces the history's. A `change` counts from
    the level that the history had when the line was written, so that it never covers a second regression, and applies
    only if the metric got worse.
    """
    reason = line.reason or ""
    if line.level is not None:
        return _Acceptance(line.level, reason)
    before = band([each for created, each in values if datetime.fromisoformat(created).date() < line.since])
    if before is None or usual is None:
        return None
    margin = max(regression.margin * usual.level, regression.floor)
    if word(value, usual, margin, regression.better) != "worse":
        return None
    return _Acceptance(line.level_from(before.level, regression.better), reason, asked=True)


def _judge(
    server: str,
    at: tuple[int, StagePlan],
    value: float | None,
    regression: Regression,
    *,
    usual: Band | None,
    accepted: _Acceptance | None,
    runs: int,
) -> JudgedLevel:
    around = _around(usual, accepted)
    margin = max(regression.margin * around.level, regression.floor) if around else None
    found: JudgedWord = word(value, around, margin, regression.better) if around and margin is not None else "unknown"
    if accepted and accepted.asked and found in ("same", "better"):
        found = "accepted"
    return JudgedLevel(
        server=server,
        metric=regression.metric,
        title=regression.of.title,
        unit=regression.of.unit,
        stage=at[0],
        name=at[1].name,
        clients=at[1].clients,
        word=found,
        value=value,
        level=around.level if around else None,
        low=around.low if around else None,
        high=around.high if around else None,
        margin=margin,
        runs=usual.runs if usual else runs,
        accepted=accepted.reason if accepted else None,
    )


def _around(usual: Band | None, accepted: _Acceptance | None) -> Band | None:
    """The band around an accepted level, as wide as the history's band."""
    if accepted is None:
        return usual
    below, above, runs = (usual.level - usual.low, usual.high - usual.level, usual.runs) if usual else (0.0, 0.0, 0)
    return Band(accepted.level - below, accepted.level, accepted.level + above, runs)


def word(value: float | None, around: Band, margin: float, better: Better) -> JudgedWord:
    """The word for a value: `same` below the margin, `unknown` inside the band, otherwise `better` or `worse`."""
    if value is None:
        return "unknown"
    if abs(value - around.level) < margin or value == around.level:
        return "same"
    if around.low <= value <= around.high:
        return "unknown"
    return "worse" if (value > around.level) == (better is Better.LOWER) else "better"
