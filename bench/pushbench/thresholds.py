"""`thresholds.yml`: which limits and margins hold for which suite, server and stage. Nothing is judged here.

Quantities are in base units once read. A server's own limit replaces the suite's limit of the same metric in the
stages that it names, until the day it expires.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import Field

from pushbench.errors import UserError
from pushbench.metrics import METRICS, Better, Unit
from pushbench.model import Document
from pushbench.thresholds_file import (
    LONGEST_ACCEPTANCE,
    LimitEntry,
    Quantity,
    RegressionEntry,
    ServerLimitEntry,
    ThresholdsFile,
)
from pushbench.units import parse_quantity
from pushbench.yamlfile import Location, YamlFile, nearest, read_yaml, unknown


class Bound(Document):
    """The worst value that a limit allows, itself allowed."""

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
    """What lines about one metric have in common; `server` is None for a whole suite, `stages` is None for all."""

    metric: str
    where: str
    server: str | None = None
    stages: frozenset[str] | None = None
    reason: str | None = None
    until: date | None = None

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
    """How much worse one metric of one server may get; one of `level` and `change` is None."""

    until: date
    level: float | None = None
    """in base units"""
    change: float | None = None
    """for the worse, as a share of what it was before"""

    @property
    def since(self) -> date:
        """The first day on which the line can have been written."""
        return self.until - LONGEST_ACCEPTANCE

    def level_from(self, before: float, better: Better) -> float:
        """The accepted level of a metric that was at `before`."""
        if self.level is not None:
            return self.level
        assert self.change is not None, "the model of the file asks for exactly one"
        return before * (1 + self.change if better is Better.LOWER else 1 - self.change)


@dataclass(frozen=True)
class Regression:
    """From which relative and absolute change a metric counts as better or worse."""

    metric: str
    margin: float
    floor: float
    better: Better


@dataclass(frozen=True)
class SuiteThresholds:
    """What holds in one suite: first the limits of the suite, then those of its servers, which replace them."""

    limits: tuple[Limit, ...] = ()
    regressions: tuple[Regression, ...] = ()
    accepted: tuple[Accepted, ...] = ()


@dataclass(frozen=True)
class Thresholds:
    """The content of a `thresholds.yml`; `digest` identifies it."""

    digest: str
    suites: Mapping[str, SuiteThresholds]

    def limits(self, suite: str, server: str, stage: str, day: date) -> list[Limit]:
        """What holds for a server in a stage on a day, one limit a metric, by the metric's name."""
        chosen = {
            limit.metric: limit
            for limit in self.suite(suite).limits
            if limit.server in (None, server) and limit.covers(stage) and not limit.expired(day)
        }
        return [chosen[metric] for metric in sorted(chosen)]

    def accepted(self, suite: str, server: str, stage: str, metric: str, day: date) -> Accepted | None:
        """The line that accepts a regression of a metric of a server in a stage on a day."""
        for each in self.suite(suite).accepted:
            holds = not each.expired(day) and (each.change is None or each.since <= day)
            if (each.server, each.metric) == (server, metric) and each.covers(stage) and holds:
                return each
        return None

    def expired(self, suite: str, server: str, day: date) -> list[Limit | Accepted]:
        """The server's own limits and levels that no longer hold."""
        lines: list[Limit | Accepted] = [*self.suite(suite).limits, *self.suite(suite).accepted]
        return [line for line in lines if line.server == server and line.expired(day)]

    def suite(self, name: str) -> SuiteThresholds:
        return self.suites.get(name, SuiteThresholds())


NO_THRESHOLDS = Thresholds(digest="", suites={})
LARGEST_CHANGE = 100.0
"""as a share: 101 times as much"""


def digest(path: Path) -> str:
    """Identifies the content of a `thresholds.yml`, as a record stores it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_thresholds(path: Path, *, suites: Mapping[str, Sequence[str]], servers: Mapping[str, str]) -> Thresholds:
    """Read and check a `thresholds.yml`; `suites` has every suite's stages, `servers` the suite of every known server.

    Raises UserError with file and line for whatever could not be meant.
    """
    return checked(read_yaml(path), digest(path), suites=suites, servers=servers)


def checked(
    file: YamlFile, digest: str, *, suites: Mapping[str, Sequence[str]], servers: Mapping[str, str]
) -> Thresholds:
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
                        _known(file, f"stage of {name}", stage, suites[name], at)
    names = dict.fromkeys([*content.suites, *(name for own in content.servers.values() for name in own)])
    return Thresholds(
        digest=digest,
        suites={
            name: SuiteThresholds(
                limits=(*_suite_limits(file, content, name), *_server_limits(file, content, name)),
                regressions=tuple(_regressions(file, content, name)),
                accepted=tuple(_accepted(file, content, name)),
            )
            for name in names
        },
    )


def _suite_limits(file: YamlFile, content: ThresholdsFile, suite: str) -> Iterator[Limit]:
    if suite in content.suites:
        for metric, entry in content.suites[suite].limits.items():
            at = ("suites", suite, "limits", metric)
            yield Limit(metric=metric, bound=_bound(file, at, metric, entry), where=_where(file, at))


def _server_limits(file: YamlFile, content: ThresholdsFile, suite: str) -> Iterator[Limit]:
    for server, own in content.servers.items():
        for metric, entry in own[suite].limits.items() if suite in own else ():
            at = ("servers", server, suite, "limits", metric)
            yield _server_limit(file, at, server, metric, entry)


def _server_limit(file: YamlFile, at: Location, server: str, metric: str, entry: ServerLimitEntry) -> Limit:
    return Limit(
        metric=metric,
        bound=_bound(file, at, metric, entry),
        where=_where(file, at),
        server=server,
        stages=frozenset(entry.stages) if entry.stages else None,
        reason=entry.reason,
        until=entry.until,
    )


def _accepted(file: YamlFile, content: ThresholdsFile, suite: str) -> Iterator[Accepted]:
    for server, own in content.servers.items():
        for metric, entry in own[suite].accepted.items() if suite in own else ():
            at = ("servers", server, suite, "accepted", metric)
            unit = _unit(file, at, metric)
            yield Accepted(
                metric=metric,
                level=None if entry.level is None else _quantity(file, (*at, "level"), entry.level, unit),
                change=None if entry.change is None else _share(file, (*at, "change"), metric, entry.change),
                where=_where(file, at),
                server=server,
                stages=frozenset(entry.stages) if entry.stages else None,
                reason=entry.reason,
                until=entry.until,
            )


def _regressions(file: YamlFile, content: ThresholdsFile, suite: str) -> Iterator[Regression]:
    if suite in content.suites:
        for metric, entry in content.suites[suite].regressions.items():
            yield _regression(file, ("suites", suite, "regressions", metric), metric, entry)


def _regression(file: YamlFile, at: Location, metric: str, entry: RegressionEntry) -> Regression:
    unit = _unit(file, at, metric)
    return Regression(
        metric=metric,
        margin=_quantity(file, (*at, "margin"), entry.margin, Unit.RATIO),
        floor=0.0 if entry.floor is None else _quantity(file, (*at, "floor"), entry.floor, unit),
        better=entry.better or METRICS[metric].better,
    )


def _bound(file: YamlFile, at: Location, metric: str, entry: LimitEntry) -> Bound:
    unit = _unit(file, at, metric)
    if entry.max is not None:
        return Bound(side="max", value=_quantity(file, (*at, "max"), entry.max, unit))
    assert entry.min is not None, "the model of the file asks for exactly one"
    return Bound(side="min", value=_quantity(file, (*at, "min"), entry.min, unit))


def _unit(file: YamlFile, at: Location, metric: str) -> Unit:
    if metric not in METRICS:
        guess = nearest(metric, METRICS)
        raise file.error(at, "unknown metric", f"did you mean {guess}?" if guess else "docs/thresholds.md lists them")
    return METRICS[metric].unit


def _quantity(file: YamlFile, at: Location, value: Quantity, unit: Unit) -> float:
    try:
        quantity = parse_quantity(str(value), unit)
    except UserError as error:
        raise file.error(at, error.what) from None
    if quantity < 0:
        raise file.error(at, f"cannot be below 0, found {value}")
    return quantity


def _share(file: YamlFile, at: Location, metric: str, value: Quantity) -> float:
    """By how much a metric may get worse. One that is better when it is higher can lose less than all of it."""
    share = _quantity(file, at, value, Unit.RATIO)
    most = LARGEST_CHANGE if METRICS[metric].better is Better.LOWER else 1.0
    if not 0 < share < most:
        raise file.error(at, f"expected a change between 0 % and {most:.0%}, found {value}")
    return share


def _known(file: YamlFile, kind: str, name: str, known: Iterable[str], at: Location) -> None:
    known = list(known)
    if name not in known:
        raise unknown(kind, name, known, where=f"{file.path}:{file.lines[at]}")


def _where(file: YamlFile, at: Location) -> str:
    """For verdicts, which must be the same on every machine: without folders."""
    return f"{file.path.name}:{file.lines[at]}"
