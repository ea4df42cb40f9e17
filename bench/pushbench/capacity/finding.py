"""The capacities of servers, from the request to the record: a search on each of several fresh starts.

`searching` decides what to ask next, and `answering` what an answer means; this module has the order of the steps.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pushbench.capacity.answering import Asking, limits_of
from pushbench.capacity.asked import Ask, Asked, Sweep
from pushbench.capacity.hinting import Ended, hint_of
from pushbench.capacity.probing import Probing, asked_of, rest
from pushbench.capacity.ramping import load_of, sweep_seconds
from pushbench.capacity.searching import Found, Plan, ramps_slowly
from pushbench.capacity.sweeping import next_sweep
from pushbench.capacity.warming import compiled_busy, warms
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.suites import Load, Suite, find_suite
from pushbench.drivers.driver import Build, Driver
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.generator.limits import read_limits
from pushbench.judging.thresholds import Thresholds
from pushbench.machine.processes import affinity
from pushbench.measuring import preparation
from pushbench.measuring.checkout import read_commit
from pushbench.measuring.common import (
    Options,
    bench_of,
    harness_of,
    holding,
    means_of,
    require_no_cluster,
)
from pushbench.measuring.preparation import Prepared
from pushbench.measuring.trial import Bench
from pushbench.metrics.carrying import probe_sentence
from pushbench.records import store
from pushbench.records.capacity import CLIENTS, CapacityRecord, Probe, Search, ServerCapacity, Start
from pushbench.records.capacity_store import write_capacity
from pushbench.records.record import Failure, PlannedTrial, ReportedVersions
from pushbench.watching.progress import SearchWatch

RULES = 13
"""number of the rules for choosing a load and judging its answer, here and in `searching` and `answering`: other rules
may find another capacity"""
FIRST_START = 0.45
"""the least share of the time of all starts: the first start has no hint where to look"""


@dataclass(frozen=True)
class CapacityRequest:
    """What to search for. No `servers` means all of the suite that can be built here."""

    suite: str
    servers: Sequence[str] = ()
    starts: int = 3
    seconds: float = 300.0
    """for each server, its starts included"""
    seed: int = 1


class SearchInterrupted(Exception):
    """The user ended the search; the starts until then are on disk at `path`."""

    def __init__(self, record: CapacityRecord, path: Path) -> None:
        super().__init__(record.id)
        self.record, self.path = record, path


def find_capacities(
    project: Project, request: CapacityRequest, options: Options, thresholds: Thresholds, watch: SearchWatch
) -> CapacityRecord:
    """Search for the capacities. Raises UserError before anything is started when the request is invalid."""
    why = "a search plays tens of short loads, and the k6 operator takes as long to start a load as the load lasts"
    require_no_cluster(options.driver, why)
    suite = find_suite(project.scenarios, request.suite)
    search = _search_of(suite)
    limits = limits_of(thresholds, suite.id)
    if not limits:
        raise UserError(f"{suite.id} has no limits that a server could break", where=str(suite.file))
    chosen = preparation.select_servers(project, suite, request.servers, watch.note, options.driver)
    search = _playable(search, suite, chosen.driver, options)
    load = _base_load(suite, search)
    means = means_of(load, chosen.driver, options, watch.note)
    with holding(chosen.driver, options, watch):
        binary, prepared = preparation.build_all(project, chosen, watch.note)
        if options.verify:
            prepared = preparation.verify_all(project, prepared, chosen.driver, watch.note)
        bench = bench_of(project, binary, chosen.driver, load, means)
        record = CapacityRecord(
            id=store.new_id(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            commit=read_commit(project.root),
            harness=harness_of(bench.generator),
            environment=bench.environment,
            suite=suite.id,
            words=suite.spec.words,
            parameters=load.parameters,
            search=search,
            most_by="suite" if search == _search_of(suite) else "generator",
            limits=limits,
            thresholds_digest=thresholds.digest,
            rules=RULES,
            wanted_starts=request.starts,
            skipped=list(chosen.skipped),
            servers=[],
        )
        return _search_all(project.capacities, record, bench, prepared, _Course(request, watch))


@dataclass(frozen=True)
class _Course:
    """The request, and the watch that is notified."""

    request: CapacityRequest
    watch: SearchWatch


def _search_of(suite: Suite) -> Search:
    if suite.spec.capacity is None:
        hint = "docs/capacity.md describes the section"
        raise UserError(f"the suite {suite.id} has no section `capacity`", where=str(suite.file), hint=hint)
    return suite.spec.capacity


def _base_load(suite: Suite, search: Search) -> Load:
    """The load with the schedule of the largest probe, which determines what the generator needs."""
    parameters = suite.spec.parameters | search.parameters
    schedule = next(iter(suite.spec.profiles.values())).schedule(parameters)
    connections = max(suite.spec.connections.values(), default=1)
    base = Load(suite.id, "capacity", suite.scenario, schedule, parameters, suite.spec.words, connections=connections)
    return load_of(base, search, (Ask(search.most),))


def _playable(search: Search, suite: Suite, driver: Driver, options: Options) -> Search:
    """The search limited to the clients that the generators of this machine have files and ports for."""
    found = read_limits()
    room = found.connections_of_process * (options.generators or 1)
    if driver.name != "process":
        room = min(room, found.connections_of_address * max(1, len(options.sources or ())))
    clients = room // max(suite.spec.connections.values(), default=1)
    most = clients if search.searched == CLIENTS else int(clients / search.clients_each)
    whole = min(search.most, most) // search.step * search.step
    if whole < search.first:
        raise UserError(
            f"no search is possible: this machine has file descriptors and ports for only {clients:,} clients",
            hint="raise `ulimit -n`",
        )
    return search.model_copy(update={"most": whole})


def _search_all(
    folder: Path, record: CapacityRecord, bench: Bench, prepared: Sequence[Prepared], course: _Course
) -> CapacityRecord:
    """Search every server, and write each start as soon as it ends. A first write shows that the disk has room.

    The servers take turns, a start each, so that a machine that gets slower does so for all of them.
    """
    path = write_capacity(folder, record)
    found = [_before(each) for each in prepared]
    done = record
    try:
        for _ in range(course.request.starts):
            for place, each in enumerate(prepared):
                if not found[place].failure:
                    found[place] = _search_start(record, bench, each, found[place], course)
                known = [server for server in found if server.starts or server.failure]
                done = record.model_copy(update={"servers": known})
                write_capacity(folder, done)
    except KeyboardInterrupt:
        raise SearchInterrupted(done, path) from None
    return done


def _before(prepared: Prepared) -> ServerCapacity:
    """What is known of a server before its first start."""
    return ServerCapacity(
        server=prepared.server.id,
        build=prepared.digest,
        reported=None,
        verified=prepared.verified,
        failure=prepared.result if isinstance(prepared.result, Failure) else None,
        starts=[],
    )


def _search_start(
    record: CapacityRecord, bench: Bench, prepared: Prepared, server: ServerCapacity, course: _Course
) -> ServerCapacity:
    """`server` with one more start. It has a share of the time that the earlier ones left."""
    request, number = course.request, len(server.starts) + 1
    planned = PlannedTrial(server=server.server, round=number, order=number - 1, seed=request.seed + number)
    asking = Asking(record.limits, record.words, record.search.closed)
    probing = Probing(bench, prepared, record.search, asking, planned)
    one = _OneStart(probing, _plan(record, server.starts), course.watch, request.starts)
    left = request.seconds - sum(start.seconds for start in server.starts)
    share = max(FIRST_START, 1 / request.starts) if number == 1 else 1 / (request.starts - number + 1)
    return one.search(server, left * share)


def _plan(record: CapacityRecord, before: Sequence[Start]) -> Plan:
    search = record.search
    hint = hint_of([_ended(start, record) for start in before])
    return Plan(search.first, search.step, search.most, hint, sweeps=search.searched == CLIENTS)


def _ended(start: Start, record: CapacityRecord) -> Ended:
    asked = [asked_of(each, record.search, record.environment, record.words) for each in start.probes]
    used = next((each.used for each in asked if each.load == start.carried and each.answer == "carried"), None)
    return Ended(
        start.carried, start.refused, start.end, used, warms(asked), compiled_busy(asked), slow=ramps_slowly(asked)
    )


@dataclass(frozen=True)
class _OneStart:
    """The search on one fresh start."""

    probing: Probing
    plan: Plan
    watch: SearchWatch
    starts: int

    def search(self, server: ServerCapacity, seconds: float) -> ServerCapacity:
        """`server` with this start, or with the reason why it could not begin."""
        began, started = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
        probes: list[Probe] = []
        try:
            with affinity(self.probing.bench.environment.generator_cpus):
                found, reported = self._ask(probes, began + seconds)
        except ServerFailed as failed:
            self.watch.note(f"{self._title}: failed to {failed.failure.step}: {failed.failure.message}")
            return server.model_copy(update={"failure": failed.failure})
        start = Start(
            number=self.probing.planned.round,
            seed=self.probing.planned.seed,
            started=started,
            seconds=round(time.monotonic() - began, 3),
            carried=found.carried,
            refused=found.refused,
            end=found.end,
            confirmed=found.confirmed,
            probes=probes,
        )
        return server.model_copy(update={"reported": reported, "starts": [*server.starts, start]})

    def _ask(self, probes: list[Probe], ends: float) -> tuple[Found, ReportedVersions | None]:
        """Ask until the capacity is found, and add to `probes`. A server that ends under a load is started again."""
        bench, prepared = self.probing.bench, self.probing.prepared
        assert isinstance(prepared.result, Build), "what cannot be started is not asked"
        asked: list[Asked] = []
        while True:
            with bench.driver.running(prepared.server, prepared.result) as instance:
                fresh, overloaded = True, False
                while fresh or not instance.exited():
                    sweep = next_sweep(self.plan, asked, ends - time.monotonic(), self._cost)
                    if isinstance(sweep, Found):
                        return sweep, instance.reported
                    if overloaded:
                        rest(instance)
                        overloaded = False
                        continue
                    sweep = (replace(sweep[0], first=fresh), *sweep[1:])
                    stages = load_of(bench.load, self.probing.search, sweep).schedule.stages
                    self.watch.sweep(self._title, stages, ends - time.monotonic())
                    for probe in self.probing.play(instance, sweep, self.watch):
                        sentence = probe_sentence(probe, self.probing.search, bench.load.words)
                        self.watch.note(f"{self._title}: {sentence}")
                        probes.append(probe)
                        asked.append(asked_of(probe, self.probing.search, bench.environment, bench.load.words))
                    fresh, overloaded = False, asked[-1].answer != "carried"

    def _cost(self, sweep: Sweep) -> float:
        return sweep_seconds(self.probing.bench.load, self.probing.search, sweep)

    @property
    def _title(self) -> str:
        return f"[{self.probing.planned.round}/{self.starts}] {self.probing.planned.server}"
