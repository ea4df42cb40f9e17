"""Which limits and margins apply to which suite, server and stage. This module judges nothing, and reads no file.

A suite's own file has its defaults, and `thresholds.yml` replaces them by metric. A server's own limit replaces the
suite's in the stages that it names, until the day it expires. Quantities are in base units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from math import inf
from typing import Literal

from pydantic import Field

from pushbench.foundation.model import Document
from pushbench.judging.thresholds_file import LONGEST_ACCEPTANCE
from pushbench.metrics.definitions import Better, Metric

CAPACITY_MARGIN = 0.15
"""default: two searches on the same server may differ by as much (docs/capacity.md)"""


class Bound(Document):
    """The worst allowed value."""

    side: Literal["max", "min"]
    value: float = Field(description="worst allowed value in the metric's base unit")

    def allows(self, value: float) -> bool:
        return value <= self.value if self.side == "max" else value >= self.value

    def worst(self, values: Iterable[tuple[float, int]]) -> tuple[float, int]:
        """The worst of (value, round) pairs; the first round of equals."""
        sign = 1 if self.side == "max" else -1
        return min(values, key=lambda pair: (-sign * pair[0], pair[1]))


@dataclass(frozen=True, kw_only=True)
class _Line:
    """The common fields of lines for one metric; `server` is None for a whole suite, `stages` is None for all."""

    of: Metric
    where: str
    server: str | None = None
    stages: frozenset[str] | None = None
    reason: str | None = None
    until: date | None = None

    @property
    def metric(self) -> str:
        return self.of.name

    def expired(self, day: date) -> bool:
        return self.until is not None and self.until < day

    def covers(self, stage: str) -> bool:
        return self.stages is None or stage in self.stages


@dataclass(frozen=True, kw_only=True)
class Limit(_Line):
    """One bound on one metric."""

    bound: Bound


@dataclass(frozen=True, kw_only=True)
class Accepted(_Line):
    """How much worse one metric of one server may get; exactly one of `level`, `change` and `begin` is set."""

    level: float | None = None
    """in base units"""
    change: float | None = None
    """change for the worse, as a share of the value before"""
    begin: date | None = None
    """the day from which runs form the accepted level"""

    @property
    def since(self) -> date:
        """The first day on which a line with `until` may have been written."""
        return (self.until or date.max) - LONGEST_ACCEPTANCE

    def level_from(self, before: float, better: Better) -> float:
        """The accepted level of a metric that was at `before`."""
        if self.level is not None:
            return self.level
        assert self.change is not None, "the model of the file asks for exactly one"
        return before * (1 + self.change if better is Better.LOWER else 1 - self.change)


@dataclass(frozen=True)
class AcceptedCapacity:
    """The least that a server may carry, if it carries less than before on purpose."""

    server: str
    level: float
    reason: str
    until: date
    where: str

    def holds(self, day: date) -> bool:
        return self.until - LONGEST_ACCEPTANCE <= day <= self.until


@dataclass(frozen=True)
class Regression:
    """The relative and absolute change from which a metric counts as better or worse."""

    of: Metric
    margin: float
    floor: float
    better: Better
    ceiling: float = inf
    """the largest share that the floor may make of the margin"""
    bias: float = 0.0
    """the share, below the margin, that a meaningless change may cost: a smaller change is no evidence"""
    noise: float | None = None
    """standard deviation of a round's logarithm of head / base, for the same code; None if unknown"""
    reason: str | None = None
    """why a server has a margin of its own"""

    @property
    def metric(self) -> str:
        return self.of.name

    def share_of(self, level: float) -> float:
        """The share of a level at which a change counts."""
        return max(self.margin, min(self.floor / level, self.ceiling))

    def bound_by(self, level: float) -> Literal["margin", "floor", "ceiling"]:
        """What makes that share of a level."""
        share = self.share_of(level)
        return "margin" if share <= self.margin else "ceiling" if share >= self.ceiling else "floor"


@dataclass(frozen=True)
class SuiteThresholds:
    """The limits and margins of one suite, and the limits of its servers, which replace them."""

    limits: tuple[Limit, ...] = ()
    regressions: tuple[Regression, ...] = ()
    own_regressions: Mapping[str, tuple[Regression, ...]] = field(default_factory=dict)
    """margins of single servers, by id: they replace those of the suite"""
    accepted: tuple[Accepted, ...] = ()
    capacity_margin: float = CAPACITY_MARGIN
    accepted_capacities: tuple[AcceptedCapacity, ...] = ()

    def margins(self, server: str) -> list[Regression]:
        """The margins for a server, one per metric, in the order of the suite."""
        own = {each.metric: each for each in self.own_regressions.get(server, ())}
        return list(({each.metric: each for each in self.regressions} | own).values())

    def with_own(self, other: SuiteThresholds) -> SuiteThresholds:
        """These thresholds, and the lines of another file about single servers, which take precedence."""
        margins = dict(self.own_regressions)
        for server, own in other.own_regressions.items():
            margins[server] = (*margins.get(server, ()), *own)  # the last one of a metric counts
        return replace(
            self,
            limits=(*self.limits, *(limit for limit in other.limits if limit.server)),  # here, the last one counts, too
            own_regressions=margins,
            accepted=(*other.accepted, *self.accepted),  # the first one that holds counts
            accepted_capacities=(*self.accepted_capacities, *other.accepted_capacities),
        )

    @property
    def all_regressions(self) -> Iterator[tuple[str | None, Regression]]:
        """The margins of the suite, then those of single servers, each with the server's id."""
        yield from ((None, each) for each in self.regressions)
        yield from ((server, each) for server, own in self.own_regressions.items() for each in own)


@dataclass(frozen=True)
class Thresholds:
    """The content of a `thresholds.yml`; `digest` identifies it."""

    digest: str
    suites: Mapping[str, SuiteThresholds]

    def limits(self, suite: str, server: str, stage: str, day: date) -> list[Limit]:
        """The limits for a server in a stage on a day, one per metric, by the metric's name."""
        chosen = {
            limit.metric: limit
            for limit in self.suite(suite).limits
            if limit.server in (None, server) and limit.covers(stage) and not limit.expired(day)
        }
        return [chosen[metric] for metric in sorted(chosen)]

    def margins(self, suite: str, server: str) -> list[Regression]:
        return self.suite(suite).margins(server)

    def accepted(self, suite: str, server: str, stage: str, metric: str, day: date) -> Accepted | None:
        """The line that accepts a regression of a metric of a server in a stage on a day."""
        for each in self.suite(suite).accepted:
            early = each.begin > day if each.begin else each.change is not None and each.since > day
            holds = not each.expired(day) and not early
            if (each.server, each.metric) == (server, metric) and each.covers(stage) and holds:
                return each
        return None

    def expired(self, suite: str, server: str, day: date) -> list[Limit | Accepted]:
        """The server's own limits and levels that no longer hold."""
        lines: list[Limit | Accepted] = [*self.suite(suite).limits, *self.suite(suite).accepted]
        return [line for line in lines if line.server == server and line.expired(day)]

    def suite(self, name: str) -> SuiteThresholds:
        return self.suites.get(name, SuiteThresholds())

    def with_own(self, other: Thresholds) -> Thresholds:
        """These thresholds, and another file's lines about single servers, which take precedence. The digest stays."""
        return replace(self, suites={name: suite.with_own(other.suite(name)) for name, suite in self.suites.items()})


NO_THRESHOLDS = Thresholds(digest="", suites={})
