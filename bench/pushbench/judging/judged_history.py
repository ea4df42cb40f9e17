"""The rows of a verdict against the history, for a run without a base. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Literal, NamedTuple

from pydantic import Field, NonNegativeInt, PositiveInt

from pushbench.foundation.model import Document
from pushbench.judging import levels, speed
from pushbench.judging.asking import margins
from pushbench.judging.judged import JudgedRow, JudgedWord
from pushbench.judging.levels import Standing, standing
from pushbench.judging.thresholds import Accepted, Regression, Thresholds
from pushbench.metrics.definitions import Better
from pushbench.metrics.lateness import sentence, value_without
from pushbench.records.history import Entry, entry_of
from pushbench.records.record import Instant, Record, StagePlan
from pushbench.records.runs import Past, first_since
from pushbench.statistics.trend import RECENT, SHORTEST_LEVEL, changes


class Begun(Document):
    """Where a change began, as far as the history shows it."""

    runs: PositiveInt = Field(description="number of runs that show the change, including the judged one")
    commit: str | None = Field(description="commit of the first of these runs")
    created: Instant = Field(description="time of the first of these runs")
    before: str | None = Field(description="commit of the last run without the change")


class JudgedLevel(JudgedRow):
    """One metric of one server in one stage, and its accepted level."""

    word: JudgedWord
    suspected: Literal["better", "worse"] | None = Field(
        None, description="apparent change that is not certain enough for one row of many; null for none"
    )
    value: float | None = Field(
        description="median over the valid trials; null if one of them did not measure the metric"
    )
    level: float | None = Field(description="accepted level; null if the history has too few runs for one")
    low: float | None = Field(
        description="lower end of the band in which single runs of the level lie; null without a level"
    )
    high: float | None
    margin: float | None = Field(
        description="difference from which a change counts, in the metric's unit; null without a level"
    )
    runs: NonNegativeInt = Field(
        description="number of runs that make the level, or of all runs of the history if they are too few"
    )
    begun: Begun | None = Field(None, description="where the change began; null for a row without a change")
    accepted: str | None = Field(
        description="why thresholds.yml accepts the level; null if it has no line about the level"
    )


def judge_levels(record: Record, thresholds: Thresholds, past: Past) -> list[JudgedLevel]:
    """A row for each metric with a margin; none if the history has nothing to compare with."""
    if not past.runs.heads:
        return []
    asked = list(_asked(record, thresholds))
    day = datetime.fromisoformat(record.created).date()
    own = entry_of(record)
    return [_Row(record, own, past, each, len(asked)).judged(thresholds, day) for each in asked]


class _Asked(NamedTuple):
    server: str
    number: int
    stage: StagePlan
    regression: Regression


def _asked(record: Record, thresholds: Thresholds) -> Iterator[_Asked]:
    for server in record.servers:
        for index, stage in enumerate(record.schedule.stages):
            for regression in margins(record, thresholds, server, index):
                if not regression.of.added:  # the first runs of its history would all be undecided
                    yield _Asked(server, index, stage, regression)


@dataclass(frozen=True)
class _Row:
    """One metric of one server in one stage, with its past."""

    record: Record
    own: Entry
    past: Past
    asked: _Asked
    rows: int
    """of the run"""

    def judged(self, thresholds: Thresholds, day: date) -> JudgedLevel:
        metric = self.asked.regression.metric
        line = thresholds.accepted(self.record.suite, self.asked.server, self.asked.stage.name, metric, day)
        begin = first_since(self.past.runs, self.runs, line.begin) if line and line.begin else 0
        plain = self._standing(begin)
        acceptance = self._acceptance(line, plain) if line else None
        if acceptance is None:
            return self._believed(self._level(plain, line.reason if line and line.begin else None), begin)
        instead = (plain.accepted, acceptance.level) if plain.accepted else None
        found = self._standing(begin, instead)
        level = self._level(found, acceptance.reason)
        return level.model_copy(update={"word": "accepted"}) if acceptance.covers(found, self.value) else level

    @cached_property
    def runs(self) -> list[int]:
        """The runs of the history that measured the metric."""
        return self.past.runs.measured(self.asked.server, self.asked.stage.name, self.asked.regression.metric)

    @cached_property
    def values(self) -> list[float]:
        return self._column(self.asked.regression.metric)

    def _column(self, metric: str) -> list[float]:
        return self.past.runs.column(self.asked.server, self.asked.stage.name, metric)

    @property
    def metrics(self) -> Mapping[str, float]:
        return self.own.servers[self.asked.server].stages[self.asked.stage.name]

    @property
    def value(self) -> float | None:
        return self.metrics.get(self.asked.regression.metric)

    def _standing(self, begin: int, instead: tuple[levels.Accepted, float] | None = None) -> Standing:
        return standing(self.values, self.value, self.asked.regression, self.rows, begin=begin, instead=instead)

    def _acceptance(self, line: Accepted, plain: Standing) -> _Acceptance | None:
        """The effect of an accepting line; None if it has none. A `level` replaces the history's. A `change` counts
        from the level that was accepted when the line was written, so that it never covers a second regression, and
        applies only if the metric got worse.
        """
        better, reason = self.asked.regression.better, line.reason or ""
        if line.level is not None:
            return _Acceptance(line.level, reason, better)
        if line.change is None or "worse" not in (plain.word, plain.suspected):
            return None
        before = self.values[: first_since(self.past.runs, self.runs, line.since)]
        known = standing(before, None, self.asked.regression, self.rows).accepted
        return _Acceptance(line.level_from(known.level, better), reason, better, asked=True) if known else None

    def _believed(self, found: JudgedLevel, begin: int) -> JudgedLevel:
        """The row, `invalid` if the generator or the machine explains its word. Accepted levels are used as written."""
        said = found.suspected or found.word
        if said not in ("worse", "better"):
            return found
        detail = self._by_lateness(said, begin) or self._by_speed(said, begin)
        return found.model_copy(update={"word": "invalid", "suspected": None, "detail": detail}) if detail else found

    def _by_lateness(self, said: str, begin: int) -> str | None:
        """A sentence if the word changes without the generator's lateness in this run and in those of the history."""
        regression, late = self.asked.regression, self.asked.regression.of.lateness
        if late is None or late not in self.metrics:
            return None
        values = self.past.runs.column_without(self.asked.server, self.asked.stage.name, regression.metric, late)
        own = value_without(self.metrics, regression.of)
        missing = len(self.values) - len(values)  # runs without a lateness are older than runs with one
        without = standing(values, own, regression, self.rows, begin=max(0, begin - missing))
        if without.accepted is None or said in (without.word, without.suspected):
            return None
        return sentence(regression.metric, self.metrics[late], without=without.word)

    def _by_speed(self, said: str, begin: int) -> str | None:
        """A sentence if the word changes without a change of the machine's speed, which the generator's own CPU for the
        same work shows.
        """
        regression, control = self.asked.regression, self.asked.regression.of.control
        now = self.metrics.get(control or "")
        if control is None or now is None or self.value is None:
            return None
        change = speed.relative_change(self._column(control), now, regression.margin)
        if change is None:
            return None
        without = standing(self.values, speed.without(change, self.value), regression, self.rows, begin=begin)
        return None if said in (without.word, without.suspected) else speed.sentence(change)

    def _level(self, found: Standing, accepted: str | None) -> JudgedLevel:
        of, usual = self.asked.regression.of, found.accepted
        return JudgedLevel(
            server=self.asked.server,
            metric=of.name,
            title=of.title,
            unit=of.unit,
            stage=self.asked.number,
            name=self.asked.stage.name,
            clients=self.asked.stage.clients,
            word=found.word,
            suspected=found.suspected if found.word == "unknown" else None,
            value=self.value,
            level=usual.level if usual else None,
            low=usual.low if usual else None,
            high=usual.high if usual else None,
            margin=found.margin,
            runs=usual.runs if usual else len(self.values),
            begun=self._begun(found) if found.newest else None,
            accepted=accepted,
        )

    def _begun(self, found: Standing) -> Begun:
        """Where the newest level begins, or the runs that are nearer to it than to the accepted one."""
        assert self.value is not None, "only values change"
        assert found.accepted
        assert found.now is not None
        values = [*self.values, self.value][-RECENT:]
        moved = changes(values) if min(values) > 0 else []
        nearer = [abs(each - found.now) < abs(each - found.accepted.level) for each in reversed(values)]
        runs = len(values) - moved[-1].index if moved else 0
        runs = runs if runs > SHORTEST_LEVEL else [*nearer, False].index(False)
        runs = max(1, min(runs, len(self.values) + 1 - found.accepted.end))
        heads = self.past.runs.heads
        first = heads[self.runs[1 - runs]] if runs > 1 else None
        return Begun(
            runs=runs,
            commit=first.commit if first else self.own.commit,
            created=first.created if first else self.record.created,
            before=heads[self.runs[-runs]].commit,
        )


@dataclass(frozen=True)
class _Acceptance:
    """A level that replaces the history's, and the reason."""

    level: float
    reason: str
    better: Better
    asked: bool = False
    """whether it covers only what got worse, so that values within the level are accepted"""

    def covers(self, found: Standing, value: float | None) -> bool:
        """Whether a row that got worse is within the level, or beyond it by less than the margin."""
        if not self.asked or value is None or found.margin is None or found.word == "worse":
            return False
        beyond = value - self.level if self.better is Better.LOWER else self.level - value
        return beyond < found.margin
