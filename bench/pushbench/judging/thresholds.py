"""Which limits and margins hold for which suite, server and stage. This module judges nothing.

A suite's own file has its defaults, and `thresholds.yml` replaces them by metric. A server's own limit replaces the
suite's in the stages that it names, until the day it expires. Quantities are in base units once read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import inf
from pathlib import Path
from typing import Literal

from pydantic import Field

from pushbench.catalog.limits import LimitEntry, Quantity, RegressionEntry, SuiteEntry
from pushbench.catalog.suites import Suite
from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.foundation.yamlfile import Location, YamlFile, nearest, read_yaml, unknown
from pushbench.judging.thresholds_file import LONGEST_ACCEPTANCE, ThresholdsFile
from pushbench.metrics.definitions import Better, Metric, Metrics, Unit, metrics_of
from pushbench.metrics.units import parse_quantity

CAPACITY = "capacity"
"""in the place of a metric below `regressions`: what `pushbench capacity` finds, which no run measures"""
CAPACITY_MARGIN = 0.15
"""where nothing else is said: two searches on the same server may differ by as much (docs/capacity.md)"""
CAPACITY_MARGIN_LEAST = 0.05
"""a search finds a capacity within 3 %, and may be 1 % above it"""


class Bound(Document):
    """The worst allowed value."""

    side: Literal["max", "min"]
    value: float = Field(description="in the metric's base unit")

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
    """How much worse one metric of one server may get; one of `level`, `change` and `begin` is there."""

    level: float | None = None
    """in base units"""
    change: float | None = None
    """for the worse, as a share of what it was before"""
    begin: date | None = None
    """the day whose runs begin the accepted level"""

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
    """The least that a server may carry, where it carries less than before on purpose."""

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

    @property
    def metric(self) -> str:
        return self.of.name

    def share_of(self, level: float) -> float:
        """The share of a level from which a change counts."""
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
    accepted: tuple[Accepted, ...] = ()
    capacity_margin: float = CAPACITY_MARGIN
    accepted_capacities: tuple[AcceptedCapacity, ...] = ()


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
        """These, and the limits of single servers in another file, which replace those here. The digest stays."""

        def both(name: str, suite: SuiteThresholds) -> SuiteThresholds:
            own = [limit for limit in other.suite(name).limits if limit.server]
            return replace(suite, limits=(*suite.limits, *own))

        return replace(self, suites={name: both(name, suite) for name, suite in self.suites.items()})


KINDS = tuple(SuiteEntry.model_fields)
NO_THRESHOLDS = Thresholds(digest="", suites={})
LARGEST_CHANGE = 100.0
"""as a share: 101 times as much"""


@dataclass(frozen=True)
class KnownSuite:
    """The names that lines about a suite may use, and the entries of the suite's own file."""

    stages: Sequence[str]
    metrics: Metrics
    own: YamlFile | None = None
    """with `limits` and `regressions`, checked against the suite's model"""


def known_suites(suites: Iterable[Suite]) -> dict[str, KnownSuite]:
    """The suites by name. Raises UserError for a file that cannot be read again."""
    return {each.id: KnownSuite(each.stages, metrics_of(each.spec.words), read_yaml(each.file)) for each in suites}


def digest(path: Path, suites: Mapping[str, KnownSuite]) -> str:
    """Identifies the limits and margins: the content of a `thresholds.yml` and of the suites' own entries."""
    content = hashlib.sha256(path.read_bytes() if path.exists() else b"")
    for name in sorted(suites):
        own = suites[name].own
        if own and (asked := {kind: own.data[kind] for kind in KINDS if kind in own.data}):
            content.update(json.dumps([name, asked], sort_keys=True, default=str).encode())
    return content.hexdigest()


def read_thresholds(path: Path, *, suites: Mapping[str, KnownSuite], servers: Mapping[str, str]) -> Thresholds:
    """Read and check a `thresholds.yml`, which may be missing; `servers` has the suite of every known server.

    Raises UserError with file and line for an invalid entry.
    """
    file = read_yaml(path) if path.exists() else YamlFile(path, {"version": 1}, {(): 1})
    return checked(file, digest(path, suites), suites=suites, servers=servers)


def checked(file: YamlFile, digest: str, *, suites: Mapping[str, KnownSuite], servers: Mapping[str, str]) -> Thresholds:
    """The content of a file that was read; see `read_thresholds`."""
    content = file.validate(ThresholdsFile)
    for name in content.suites:
        _known(file, "suite", name, suites, ("suites", name))
    for server, own in content.servers.items():
        _known(file, "server", server, servers, ("servers", server))
        for name in own:
            _known(file, "suite", name, suites, ("servers", server, name))
            if name != servers[server]:
                raise file.error(("servers", server, name), f"{server} has the suite {servers[server]!r}")
            for kind, entries in (("limits", own[name].limits), ("accepted", own[name].accepted)):
                for metric, entry in entries.items():
                    for index, stage in enumerate(entry.stages or ()):
                        at = ("servers", server, name, kind, metric, "stages", index)
                        _known(file, f"stage of {name}", stage, suites[name].stages, at)
    return Thresholds(
        digest=digest,
        suites={name: _Reader(file, name, known.metrics).read(content, known.own) for name, known in suites.items()},
    )


@dataclass(frozen=True)
class _Reader:
    """Reads the lines about one suite."""

    file: YamlFile
    suite: str
    metrics: Metrics

    def read(self, content: ThresholdsFile, own: YamlFile | None) -> SuiteThresholds:
        """Read `content`, whose entries replace those of the suite's own file for the same metric."""
        asked = content.suites.get(self.suite, SuiteEntry())
        defaults, before = SuiteEntry(), self
        if own:
            defaults = SuiteEntry.model_validate({kind: own.data[kind] for kind in KINDS if kind in own.data})
            before = replace(self, file=own)
        own_margin = before.capacity(defaults, ())
        limits = {**before.limits(defaults, ()), **self.limits(asked, ("suites", self.suite))}
        regressions = {**before.regressions(defaults, ()), **self.regressions(asked, ("suites", self.suite))}
        return SuiteThresholds(
            limits=(*limits.values(), *self._server_limits(content)),
            regressions=tuple(regressions.values()),
            accepted=tuple(self._accepted(content)),
            capacity_margin=self.capacity(asked, ("suites", self.suite)) or own_margin or CAPACITY_MARGIN,
            accepted_capacities=tuple(self._accepted_capacities(content)),
        )

    def limits(self, asked: SuiteEntry, at: Location) -> dict[str, Limit]:
        return {metric: self._limit((*at, "limits", metric), metric, entry) for metric, entry in asked.limits.items()}

    def regressions(self, asked: SuiteEntry, at: Location) -> dict[str, Regression]:
        return {
            metric: self._regression((*at, "regressions", metric), metric, entry)
            for metric, entry in asked.regressions.items()
            if metric != CAPACITY
        }

    def capacity(self, asked: SuiteEntry, at: Location) -> float | None:
        """The margin of capacities, or None for none of its own."""
        entry = asked.regressions.get(CAPACITY)
        if entry is None:
            return None
        at = (*at, "regressions", CAPACITY)
        if entry.floor is not None or entry.better is not None:
            raise self.file.error(at, "a capacity has a margin and nothing else")
        margin = self._quantity((*at, "margin"), entry.margin, Unit.RATIO)
        if not CAPACITY_MARGIN_LEAST <= margin < 1:
            what = f"expected a margin from {CAPACITY_MARGIN_LEAST:.0%} to below 100%, found {entry.margin}"
            raise self.file.error((*at, "margin"), what, "a search is no finer")
        return margin

    def _limit(self, at: Location, metric: str, entry: LimitEntry) -> Limit:
        of = self._metric(at, metric)
        return Limit(of=of, bound=self._bound(at, of, entry), where=_where(self.file, at))

    def _server_limits(self, content: ThresholdsFile) -> Iterator[Limit]:
        for server, own in content.servers.items():
            for metric, entry in own[self.suite].limits.items() if self.suite in own else ():
                at = ("servers", server, self.suite, "limits", metric)
                yield replace(
                    self._limit(at, metric, entry),
                    server=server,
                    stages=frozenset(entry.stages) if entry.stages else None,
                    reason=entry.reason,
                    until=entry.until,
                )

    def _accepted(self, content: ThresholdsFile) -> Iterator[Accepted]:
        for server, own in content.servers.items():
            for metric, entry in own[self.suite].accepted.items() if self.suite in own else ():
                if metric == CAPACITY:
                    continue
                at = ("servers", server, self.suite, "accepted", metric)
                of = self._metric(at, metric)
                yield Accepted(
                    of=of,
                    level=None if entry.level is None else self._quantity((*at, "level"), entry.level, of.unit),
                    change=None if entry.change is None else self._share((*at, "change"), of, entry.change),
                    begin=entry.since,
                    where=_where(self.file, at),
                    server=server,
                    stages=frozenset(entry.stages) if entry.stages else None,
                    reason=entry.reason,
                    until=entry.until,
                )

    def _accepted_capacities(self, content: ThresholdsFile) -> Iterator[AcceptedCapacity]:
        for server, own in content.servers.items():
            entry = own[self.suite].accepted.get(CAPACITY) if self.suite in own else None
            if entry is None:
                continue
            at = ("servers", server, self.suite, "accepted", CAPACITY)
            if entry.level is None or entry.until is None or entry.stages:
                raise self.file.error(at, "a capacity is accepted by its level alone", "such as level: 4000")
            level = self._quantity((*at, "level"), entry.level, Unit.COUNT)
            yield AcceptedCapacity(server, level, entry.reason, entry.until, _where(self.file, at))

    def _regression(self, at: Location, metric: str, entry: RegressionEntry) -> Regression:
        of = self._metric(at, metric)
        return Regression(
            of=of,
            margin=self._quantity((*at, "margin"), entry.margin, Unit.RATIO),
            floor=0.0 if entry.floor is None else self._quantity((*at, "floor"), entry.floor, of.unit),
            better=Better(entry.better) if entry.better else of.better,
            ceiling=inf if entry.ceiling is None else self._quantity((*at, "ceiling"), entry.ceiling, Unit.RATIO),
        )

    def _bound(self, at: Location, of: Metric, entry: LimitEntry) -> Bound:
        if entry.max is not None:
            return Bound(side="max", value=self._quantity((*at, "max"), entry.max, of.unit))
        assert entry.min is not None, "the model of the file asks for exactly one"
        return Bound(side="min", value=self._quantity((*at, "min"), entry.min, of.unit))

    def _metric(self, at: Location, name: str) -> Metric:
        if name not in self.metrics:
            guess = nearest(name, self.metrics)
            hint = f"did you mean {guess}?" if guess else f"`pushbench suites {self.suite}` lists them"
            raise self.file.error(at, "unknown metric", hint)
        return self.metrics[name]

    def _quantity(self, at: Location, value: Quantity, unit: Unit) -> float:
        try:
            quantity = parse_quantity(str(value), unit)
        except UserError as error:
            raise self.file.error(at, error.what) from None
        if quantity < 0:
            raise self.file.error(at, f"cannot be below 0, found {value}")
        return quantity

    def _share(self, at: Location, of: Metric, value: Quantity) -> float:
        """How much worse a metric may get, as a share; below 100 % for a metric that is better when it is higher."""
        share = self._quantity(at, value, Unit.RATIO)
        most = LARGEST_CHANGE if of.better is Better.LOWER else 1.0
        if not 0 < share < most:
            raise self.file.error(at, f"expected a change between 0 % and {most:.0%}, found {value}")
        return share


def _known(file: YamlFile, kind: str, name: str, known: Iterable[str], at: Location) -> None:
    known = list(known)
    if name not in known:
        raise unknown(kind, name, known, where=f"{file.path}:{file.lines[at]}")


def _where(file: YamlFile, at: Location) -> str:
    """The place of a line without folders, because verdicts must be the same on every machine."""
    return f"{file.path.name}:{file.lines[at]}"
