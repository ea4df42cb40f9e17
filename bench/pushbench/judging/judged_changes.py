"""The rows of a comparison in a verdict: each change, its interval, its word, and the smallest visible change. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from math import isfinite, log1p
from statistics import median
from typing import Literal

from pydantic import Field, NonNegativeInt

from pushbench.judging import accepting
from pushbench.judging.changes import Row, decisions, measured_without_lateness, pairs, rows
from pushbench.judging.comparison import Contrast, Scale, as_share, contrast, effect
from pushbench.judging.foresight import rounds_to_decide, visible
from pushbench.judging.judged import JudgedRow, JudgedWord
from pushbench.judging.sequential import Decision, Gated, Word
from pushbench.judging.thresholds import Regression, Thresholds
from pushbench.metrics.definitions import Better, metrics_of
from pushbench.metrics.lateness import sentence
from pushbench.records.record import Accepting, Record

INTERVAL_ALPHA = 0.025
"""on either side: the shown interval holds with 95 % for one metric, whenever the comparison ends"""


class JudgedChange(JudgedRow):
    """What the head did to one metric of one server in one stage."""

    word: JudgedWord
    suspected: Literal["better", "worse"] | None = Field(
        description="change that the evidence suggests for this row alone; null for none"
    )
    scale: Scale = Field(
        description="ratio: changes are relative, 0.05 is 5 % more; difference: changes are in base units"
    )
    base: float | None = Field(
        description="median over the base's trials of all pairs, in base units; null without pairs"
    )
    head: float | None
    change: float | None = Field(description="change from base to head; null without pairs")
    low: float | None = Field(
        description="lower bound of a 95 % interval for the change; null if there are too few pairs"
    )
    high: float | None
    margin: float = Field(description="size from which a change counts, in either direction")
    floor: float | None = Field(
        None, description="absolute change that makes the margin, in base units; null if the relative margin applies"
    )
    ceiling: float | None = Field(
        None, description="largest relative margin that the floor can cause, if it makes the margin; null otherwise"
    )
    bias: float = Field(
        0.0, description="largest cost of a change without a meaning for this server; a smaller change is no evidence"
    )
    visible: float | None = Field(
        description="smallest change that nine of ten comparisons with the same maximum of rounds would call; null "
        "without an estimate"
    )
    pairs: NonNegativeInt = Field(description="number of rounds whose trials are valid in both arms")
    rounds_to_decide: NonNegativeInt | None = Field(
        description="approximate number of rounds that would decide an unknown row; null for other rows, or without "
        "an estimate"
    )
    controlled: float = Field(
        description="how much of the change in the generator's own cost was removed from this change: 0 none, 1 all"
    )
    acceptance: Accepting | None = Field(
        None,
        description="new line of thresholds.yml that covers this row, whether it accepts all of the regression or "
        "not; null without one, or if the row did not get worse",
    )


def judge_changes(record: Record, thresholds: Thresholds) -> list[JudgedChange]:
    """A row for each metric with a margin, of each server that was measured in both arms; none without a base."""
    if not record.comparison:
        return []
    gated = rows(record, thresholds)
    judged = [
        _judge(record, row, gated[row], decision, len(gated)) for row, decision in decisions(record, gated).items()
    ]
    late = {row: each.regression.of.lateness for row, each in gated.items()}
    day = datetime.fromisoformat(record.created).date()
    better = {row: each.regression.better for row, each in gated.items()}
    judged = [_accepted(each, better[_row(each)], record.comparison.accepting, day) for each in judged]
    if not any(each.word in ("worse", "better") and late[_row(each)] for each in judged):
        return judged
    without = decisions(record, rows(record, thresholds, measured_without_lateness))
    return [_believed(record, each, late[_row(each)], without[_row(each)].word) for each in judged]


def left_out(record: Record, found: JudgedChange) -> tuple[float, float] | None:
    """The medians in base and head of the warm-up that a row leaves out; None if it leaves out nothing."""
    warmup = metrics_of(record.words)[found.metric].warmup
    known = pairs(record, _row(found)._replace(metric=warmup)) if warmup else []
    return (median(pair.base for pair in known), median(pair.head for pair in known)) if known else None


def covers(line: Accepting, row: JudgedRow) -> bool:
    """Whether a line of thresholds.yml covers a row."""
    return (line.server, line.metric) == (row.server, row.metric) and (line.stages is None or row.name in line.stages)


def share_of(found: JudgedChange) -> float | None:
    """The size of a change as a share of the base; None if the base is 0."""
    if found.change is None:
        return None
    if found.scale == "ratio":
        return abs(found.change)
    return abs(found.change) / found.base if found.base else None


def _row(found: JudgedChange) -> Row:
    return Row(found.server, found.stage, found.metric)


def _believed(record: Record, found: JudgedChange, late: str | None, without: Word) -> JudgedChange:
    """The row, `invalid` if its word changes `without` the generator's part of the latency, `late`, in both arms."""
    if late is None or found.word not in ("worse", "better") or without == found.word:
        return found
    known = pairs(record, _row(found)._replace(metric=late))
    head, base = (median(getattr(pair, arm) for pair in known) for arm in ("head", "base"))
    detail = sentence(found.metric, head, base=base, without=without)
    return found.model_copy(update={"word": "invalid", "detail": detail})


def _accepted(found: JudgedChange, better: Better, lines: Sequence[Accepting], day: date) -> JudgedChange:
    """The row, `accepted` if it got worse by no more than a line accepts. The line applies to the estimate in the row:
    its change, or for a `level` its median of the head.
    """
    line = next((line for line in lines if covers(line, found) and accepting.state(line, day) == "holds"), None)
    if line is None or found.word != "worse":
        return found
    if line.level is None:
        share = share_of(found)
        enough = share is not None and line.change is not None and share <= line.change
    else:
        sign = 1 if better is Better.LOWER else -1
        enough = found.head is not None and sign * found.head <= sign * line.level
    return found.model_copy(update={"word": "accepted" if enough else "worse", "acceptance": line})


def _judge(record: Record, row: Row, gated: Gated, decision: Decision, rows: int) -> JudgedChange:
    stage = record.schedule.stages[row.stage]
    seen = contrast(gated.pairs, gated.regression)
    base = median(pair.base for pair in gated.pairs) if gated.pairs else None
    margin = _margin(seen, gated.regression, base)
    smallest = visible(seen, rows, record.comparison.most_rounds) if record.comparison else None
    return JudgedChange(
        server=row.server,
        metric=row.metric,
        title=gated.regression.of.title,
        unit=gated.regression.of.unit,
        stage=row.stage,
        name=stage.name,
        clients=stage.clients,
        word=decision.word,
        suspected=decision.suspected,
        scale=seen.scale,
        base=base,
        head=median(pair.head for pair in gated.pairs) if gated.pairs else None,
        margin=as_share(seen.scale, margin),
        **_floor(seen, gated.regression, base),
        bias=as_share(seen.scale, seen.bias),
        pairs=len(gated.pairs),
        visible=None if smallest is None else as_share(seen.scale, smallest),
        rounds_to_decide=rounds_to_decide(seen, rows) if decision.word == "unknown" else None,
        controlled=seen.controlled,
        **_numbers(seen, gated.regression),
    )


def _margin(seen: Contrast, regression: Regression, base: float | None) -> float:
    """The margin as a change of the base, as people read it; the decision is symmetric in the arms."""
    if seen.scale == "difference" or not base:
        return seen.margin
    return log1p(regression.share_of(base))


def _floor(seen: Contrast, regression: Regression, base: float | None) -> dict[str, float | None]:
    """What made the margin, if it is not the share in the file."""
    if seen.scale == "difference" or not base or (bound := regression.bound_by(base)) == "margin":
        return {}
    return {"floor": regression.floor, "ceiling": regression.ceiling if bound == "ceiling" else None}


def _numbers(seen: Contrast, regression: Regression) -> dict[str, float | None]:
    """Convert numbers from worse-is-positive to more-is-positive."""
    if not len(seen.differences):
        return dict.fromkeys(("change", "low", "high"))
    found = effect(seen, INTERVAL_ALPHA)
    bounds = (found.low, found.high) if regression.better is Better.LOWER else (-found.high, -found.low)
    estimate = found.estimate if regression.better is Better.LOWER else -found.estimate
    shares = dict(zip(("change", "low", "high"), (estimate, *bounds), strict=True))
    return {name: as_share(seen.scale, each) if isfinite(each) else None for name, each in shares.items()}
