"""The rows of a verdict against the history: where a run without a base lies among the runs before it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime

from pydantic import Field, NonNegativeInt

from pushbench.history import entry_of
from pushbench.judged import JudgedRow
from pushbench.metrics import Better
from pushbench.record import Record, StagePlan
from pushbench.runs import Past
from pushbench.sequential import Word
from pushbench.thresholds import Accepted, Regression, Thresholds
from pushbench.trend import Band, band


class JudgedLevel(JudgedRow):
    """One metric of one server in one stage, beside the level that it had."""

    word: Word
    value: float | None = Field(description="median of the valid trials; null where one of them did not measure it")
    level: float | None = Field(description="of the history, or the accepted one; null where neither is known")
    low: float | None = Field(description="of the band in which runs of that level lie")
    high: float | None
    margin: float | None = Field(description="from which difference on a change counts, in the metric's unit")
    runs: NonNegativeInt = Field(description="of the history that the band was made from")
    accepted: str | None = Field(description="why thresholds.yml has another level than the history, where it does")


def judge_levels(record: Record, thresholds: Thresholds, past: Past) -> list[JudgedLevel]:
    """A row for each metric with a margin; none where the history has nothing to compare with."""
    day = datetime.fromisoformat(record.created).date()
    return list(_levels(record, thresholds, past, day)) if past.runs.heads else []


def _levels(record: Record, thresholds: Thresholds, past: Past, day: date) -> Iterator[JudgedLevel]:
    own = entry_of(record)
    for server in record.servers:
        for index, stage in enumerate(record.schedule.stages):
            for regression in thresholds.suite(record.suite).regressions:
                values = past.runs.column(server, stage.name, regression.metric)
                accepted = thresholds.accepted(record.suite, server, stage.name, regression.metric, day)
                value = own.servers[server].stages[stage.name].get(regression.metric)
                yield _judge(
                    server, (index, stage), value, regression, usual=band(values), accepted=accepted, runs=len(values)
                )


def _judge(
    server: str,
    at: tuple[int, StagePlan],
    value: float | None,
    regression: Regression,
    *,
    usual: Band | None,
    accepted: Accepted | None,
    runs: int,
) -> JudgedLevel:
    around = _around(usual, accepted)
    margin = max(regression.margin * around.level, regression.floor) if around else None
    return JudgedLevel(
        server=server,
        metric=regression.metric,
        stage=at[0],
        name=at[1].name,
        clients=at[1].clients,
        word=word(value, around, margin, regression.better) if around and margin is not None else "unknown",
        value=value,
        level=around.level if around else None,
        low=around.low if around else None,
        high=around.high if around else None,
        margin=margin,
        runs=usual.runs if usual else runs,
        accepted=accepted.reason if accepted else None,
    )


def _around(usual: Band | None, accepted: Accepted | None) -> Band | None:
    """An accepted level has the width of the band that the history has."""
    if accepted is None:
        return usual
    below, above, runs = (usual.level - usual.low, usual.high - usual.level, usual.runs) if usual else (0.0, 0.0, 0)
    return Band(accepted.level - below, accepted.level, accepted.level + above, runs)


def word(value: float | None, around: Band, margin: float, better: Better) -> Word:
    """A change counts from the margin on, and is believed outside of the band; between them nobody can know."""
    if value is None:
        return "unknown"
    if abs(value - around.level) < margin or value == around.level:
        return "same"
    if around.low <= value <= around.high:
        return "unknown"
    return "worse" if (value > around.level) == (better is Better.LOWER) else "better"
