"""Reads a `thresholds.yml` and the suites' own entries, and checks every line. `thresholds` defines their meaning."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from pushbench.catalog.limits import LimitEntry, Quantity, RegressionEntry, SuiteEntry
from pushbench.catalog.suites import Suite
from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import Location, YamlFile, nearest, read_yaml, unknown
from pushbench.judging.thresholds import (
    CAPACITY_MARGIN,
    Accepted,
    AcceptedCapacity,
    Bound,
    Limit,
    Regression,
    SuiteThresholds,
    Thresholds,
)
from pushbench.judging.thresholds_file import CAPACITY, ThresholdsFile
from pushbench.metrics.definitions import Better, Metric, Metrics, Unit, metrics_of
from pushbench.metrics.units import parse_quantity

CAPACITY_MARGIN_LEAST = 0.05
"""a search finds a capacity within 3 %, and may be 1 % above it"""
LARGEST_CHANGE = 100.0
"""as a share: 101 times as much"""
ELSEWHERE = "; one that runs elsewhere needs a folder in servers/: docs/own-server.md"
COPIED = "; this file is only about its own server: in a copied folder, delete it or write lines for the copy"
KINDS = tuple(SuiteEntry.model_fields)


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


def read_own_thresholds(path: Path, *, suites: Mapping[str, KnownSuite], servers: Mapping[str, str]) -> Thresholds:
    """Like `read_thresholds`, for the file beside a server's description, which has lines about that server alone.

    `servers` are those of the description. Raises UserError for lines about a whole suite, too.
    """
    file = read_yaml(path)
    found = checked(file, digest(path, suites), suites=suites, servers=servers, more=COPIED)
    if "suites" in file.data:
        what = "lines about a whole suite, but this file is only about its own server"
        raise file.error(("suites",), what, f"write them below `servers`, `{min(servers)}` and the suite")
    return found


def checked(
    file: YamlFile,
    digest: str,
    *,
    suites: Mapping[str, KnownSuite],
    servers: Mapping[str, str],
    more: str = ELSEWHERE,
) -> Thresholds:
    """The content of a file that was read; see `read_thresholds`. `more` ends the hint about an unknown server."""
    content = file.validate(ThresholdsFile)
    for name in content.suites:
        _known(file, "suite", name, suites, ("suites", name))
    for server, own in content.servers.items():
        _known(file, "server", server, servers, ("servers", server), more=more)
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
            own_regressions=self._server_regressions(content),
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
        """The suite's own margin of capacities; None if it has none."""
        entry = asked.regressions.get(CAPACITY)
        if entry is None:
            return None
        at = (*at, "regressions", CAPACITY)
        if {entry.floor, entry.ceiling, entry.better, entry.bias, entry.noise} != {None}:
            raise self.file.error(at, "a capacity has a margin and nothing else")
        margin = self._quantity((*at, "margin"), entry.margin, Unit.RATIO)
        if not CAPACITY_MARGIN_LEAST <= margin < 1:
            what = f"expected a margin from {CAPACITY_MARGIN_LEAST:.0%} to below 100%, found {entry.margin}"
            raise self.file.error((*at, "margin"), what, "a search is not more precise")
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

    def _server_regressions(self, content: ThresholdsFile) -> dict[str, tuple[Regression, ...]]:
        own = {server: each[self.suite].regressions for server, each in content.servers.items() if self.suite in each}
        found: dict[str, list[Regression]] = {}
        for server, entries in own.items():
            for metric, entry in entries.items():
                at = ("servers", server, self.suite, "regressions", metric)
                if metric == CAPACITY:
                    raise self.file.error(at, "a capacity has a margin for the whole suite", "write it below `suites`")
                found.setdefault(server, []).append(replace(self._regression(at, metric, entry), reason=entry.reason))
        return {server: tuple(each) for server, each in found.items()}

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
        margin = self._quantity((*at, "margin"), entry.margin, Unit.RATIO)
        bias = 0.0 if entry.bias is None else self._quantity((*at, "bias"), entry.bias, Unit.RATIO)
        if bias and bias >= margin:
            raise self.file.error((*at, "bias"), f"expected less than the margin of {entry.margin}, found {entry.bias}")
        return Regression(
            of=of,
            margin=margin,
            floor=0.0 if entry.floor is None else self._quantity((*at, "floor"), entry.floor, of.unit),
            better=Better(entry.better) if entry.better else of.better,
            ceiling=inf if entry.ceiling is None else self._quantity((*at, "ceiling"), entry.ceiling, Unit.RATIO),
            bias=bias,
            noise=None if entry.noise is None else self._quantity((*at, "noise"), entry.noise, Unit.RATIO),
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


def _known(file: YamlFile, kind: str, name: str, known: Iterable[str], at: Location, *, more: str = "") -> None:
    known = list(known)
    if name not in known:
        error = unknown(kind, name, known, where=f"{file.path}:{file.lines[at]}")
        raise UserError(error.what, where=error.where, hint=f"{error.hint}{more}")


def _where(file: YamlFile, at: Location) -> str:
    """The place of a line without folders, because verdicts must be the same on every machine."""
    return f"{file.path.name}:{file.lines[at]}"
