"""One trial: a fresh server, driven once through all stages, watched and ended, and the result.

The effects are here, in order; `results` and `validity` interpret the numbers.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.protocols import declared_by
from pushbench.catalog.servers import Server
from pushbench.catalog.suites import Load
from pushbench.drivers.driver import STOP_SECONDS, Build, Driver, Instance, WrongServer
from pushbench.generator.events import Second, Started
from pushbench.generator.load import Account, Generator, LatencyLimit, LoadFailed, LoadPlan, playing
from pushbench.generator.load import Load as PlayedLoad
from pushbench.generator.needs import spin_us
from pushbench.machine.environment import CpuSplit
from pushbench.machine.processes import affinity, ending
from pushbench.machine.resources import Accounted, Tree
from pushbench.machine.sampling import Sample, Sampler, Watched
from pushbench.measuring import storing
from pushbench.measuring.company import Company
from pushbench.measuring.following import not_followed
from pushbench.measuring.listening import Listener
from pushbench.measuring.outages import Outages, schedule_for, stopping
from pushbench.metrics import results, validity
from pushbench.metrics.told import Telling, within
from pushbench.records.environment import Environment
from pushbench.records.load_report import LoadReport, StageReport
from pushbench.records.record import Failure, Finding, PlannedTrial, ReportedVersions, Trial, Validity
from pushbench.watching.live import Feed, Live, NotLive
from pushbench.watching.progress import LoadWatch


@dataclass(frozen=True)
class Bench:
    """What all trials of a run have in common."""

    driver: Driver
    generator: Generator
    load: Load
    environment: Environment
    live: Live = field(default_factory=NotLive)
    warnings: Sequence[Finding] = ()
    """findings of every trial, known in advance"""


@dataclass
class _Course:
    """What happened so far."""

    began: datetime
    seconds: float = 0.0
    reported: ReportedVersions | None = None
    started: Started | None = None
    samples: list[Sample] = field(default_factory=list)
    told: list[Telling] = field(default_factory=list)
    report: LoadReport | None = None
    failure: Failure | None = None
    died: float | None = None
    """when the server ended under load"""
    invalid: Finding | None = None
    account: Account = field(default_factory=Account)
    """the resources of a load elsewhere"""
    warnings: list[Finding] = field(default_factory=list)
    kills: Mapping[int, float] = field(default_factory=dict)
    """when a kill happened, by the stage"""


@dataclass(frozen=True)
class Cutoff:
    """What ends a load before its schedule does: the load keeps the stages that it has completed."""

    limits: Sequence[LatencyLimit] = ()
    """the seconds count the latencies that exceed them"""
    reached: Callable[[], bool] = lambda: False


NO_CUTOFF = Cutoff()


def run_trial(
    bench: Bench,
    planned: PlannedTrial,
    server: Server,
    build: Build,
    watch: LoadWatch,
    *,
    company: Company | None = None,
) -> Trial:
    """Run a trial. Always returns one: it records what goes wrong with the server or the generator. Raises Cancelled if
    its company has to end early."""
    course = _Course(datetime.now(UTC))
    company = company or Company()
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        stack.callback(company.leave)
        stack.enter_context(affinity(bench.driver.split.generator))
        try:
            with contextlib.ExitStack() as server_stack:
                with company.starting():
                    instance = server_stack.enter_context(bench.driver.running(server, build))
                course.reported = instance.reported
                company.programs += _programs(instance)
                company.meet()
                _load(bench, planned, server, instance, company=company, course=course, watch=watch)
                _end(server, instance, course)
        except ServerFailed as failed:
            course.failure = failed.failure
            if isinstance(failed, WrongServer):
                course.invalid = Finding(code="wrong_server", message=failed.failure.message)
        except LoadFailed as failed:
            course.invalid = Finding(code="generator_failed", message=str(failed))
    course.seconds = time.monotonic() - began
    return _trial(bench, planned, build.digest, course)


def run_load(
    bench: Bench,
    planned: PlannedTrial,
    server: Server,
    build: Build,
    *,
    instance: Instance,
    watch: LoadWatch,
    cutoff: Cutoff,
) -> Trial:
    """Like `run_trial`, for a server that is already running and keeps running."""
    course = _Course(datetime.now(UTC), reported=instance.reported)
    company = Company(programs=_programs(instance))
    began = time.monotonic()
    with affinity(bench.driver.split.generator):
        try:
            _load(bench, planned, server, instance, company=company, course=course, watch=watch, cutoff=cutoff)
        except ServerFailed as failed:
            course.failure = failed.failure
        except LoadFailed as failed:
            course.invalid = Finding(code="generator_failed", message=str(failed))
    course.seconds = time.monotonic() - began
    return _trial(bench, planned, build.digest, course)


def failed_trial(planned: PlannedTrial, build: str, failure: Failure) -> Trial:
    """The trial of a server that could not even be started."""
    return Trial(
        **planned.model_dump(),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=0.0,
        build=build,
        reported=None,
        failure=failure,
        validity=Validity(valid=True, reasons=[], warnings=[]),
        stages=[],
        timeline=None,
        resources=None,
        errors=[],
    )


def _programs(instance: Instance) -> list[Accounted]:
    return [instance.tree, *(service.tree for service in instance.services)]


def _load(
    bench: Bench,
    planned: PlannedTrial,
    server: Server,
    instance: Instance,
    *,
    company: Company,
    course: _Course,
    watch: LoadWatch,
    cutoff: Cutoff = NO_CUTOFF,
) -> None:
    """Drive a running server once through all stages. Raises ServerFailed and LoadFailed."""
    with bench.live.trial(planned) as feed:
        plan = _load_plan(bench, planned, server, instance, company)
        workers = bench.driver.workers or len(bench.driver.split.server)
        schedule, without = schedule_for(plan.schedule, server.spec, workers)
        course.warnings += without
        plan = plan.model_copy(update={"schedule": schedule, "limits": list(cutoff.limits)})
        declared, secrets = declared_by(server), dict[str, str]()
        if declared:
            course.warnings += not_followed(bench.load)
            secrets = declared.environment()
        stock = storing.stock(bench.load.stored, instance.services)
        _drive(_Play(bench, plan, instance, company, feed, secrets, cutoff.reached), course, watch)
        if stock and course.report:
            stock.require(course.report.timeline)


def _load_plan(bench: Bench, planned: PlannedTrial, server: Server, instance: Instance, company: Company) -> LoadPlan:
    words = bench.load.words
    declared = declared_by(server)
    return LoadPlan(
        url=instance.url,
        authorities=str(server.authorities.absolute()) if server.authorities else "",
        protocol=server.spec.protocol,
        declaration=declared.declaration if declared else None,
        seed=planned.seed,
        parameters=bench.load.parameters,
        schedule=bench.load.schedule,
        latencies={latency.until: name for name, latency in words.exchange.latencies.items()},
        headline=words.latencies[words.headline_latency].until,
        spin_us=_spin_us(bench, instance, company),
    )


def _spin_us(bench: Bench, instance: Instance, company: Company) -> int:
    own = set(bench.environment.generator_cpus) - set(bench.environment.server_cpus)
    return spin_us(len(own), bench.generator.processes, company.size, services=bool(instance.services))


@dataclass(frozen=True)
class _Play:
    """A load to play: its target, its company, and where it can be watched."""

    bench: Bench
    plan: LoadPlan
    instance: Instance
    company: Company
    feed: Feed
    secrets: Mapping[str, str]
    """environment variables that the protocol names, for the generator only"""
    enough: Callable[[], bool]
    """whether the load ends here"""


def _drive(play: _Play, course: _Course, watch: LoadWatch) -> None:
    """Play the load and watch. Raises ServerFailed when the server ends before the load, LoadFailed when k6 fails.

    Without a server the load continues until the end of the stage: what was due in it and did not arrive is lost.
    """
    instance, feed = play.instance, play.feed
    environment = {**feed.k6_environment, **play.secrets}
    generator = replace(play.bench.generator, arguments=feed.k6_arguments, environment=environment)
    sampler: Sampler | None = None
    listener: Listener | None = None
    outages: list[Outages] = []
    death: str | None = None
    try:
        with (instance.player or playing)(generator, play.plan) as load, stopping(outages), _accounting(course, load):
            for event in load.events():
                match event:
                    case Started():
                        course.started = event
                        feed.begin(event.windows)
                        sampler = _sampling(play, load.pids, event, watch)
                        listener = Listener(instance.url, play.bench.load.words, event.windows)
                        listener.start()
                        outages.append(Outages(instance, play.plan.schedule, event))
                        outages[0].start()
                        watch.started(event)
                    case Second():
                        watch.second(event)
                play.company.require_going_on()
                if death is None and (death := instance.exited()):
                    course.died = time.monotonic()
                dead = course.died is not None and time.monotonic() >= load.end_of_stage(course.died)
                if dead or play.enough():
                    load.interrupt()
            for each in outages:
                course.kills = each.stop()
            _take_report(course, load)
    except LoadFailed as failed:
        if death is None:
            raise
        message = f"the measurements from before the server ended are lost: {failed}"
        course.warnings.append(Finding(code="no_load_report", message=message))
    finally:
        if sampler:
            course.samples = sampler.stop()
        if listener:
            course.told = listener.stop()
    if death:
        raise ServerFailed("load", f"the server ended under load with {death}", instance.log_tail())


def _take_report(course: _Course, load: PlayedLoad) -> None:
    """Take the report, and the account of a load elsewhere. Raises LoadFailed if there is no report."""
    try:
        course.report = load.report()
    finally:
        _take_account(course, load)


@contextlib.contextmanager
def _accounting(course: _Course, load: PlayedLoad) -> Iterator[None]:
    """Take the account if the load fails within the block after the server ended: a cluster may have ended both."""
    try:
        yield
    except LoadFailed:
        if course.died is not None:
            _take_account(course, load)
        raise


def _take_account(course: _Course, load: PlayedLoad) -> None:
    if account := load.account:
        course.account, course.samples = account, account.samples


def _sampling(play: _Play, generators: Sequence[int], started: Started, watch: LoadWatch) -> Sampler | None:
    """A sampler that has begun; None if nothing runs on this machine."""
    if play.instance.player:
        return None
    sampler = _sampler(play, generators, started, watch)
    sampler.start()
    return sampler


def _sampler(play: _Play, generators: Sequence[int], started: Started, watch: LoadWatch) -> Sampler:
    def show(sample: Sample) -> None:
        play.feed.sample(sample)
        watch.sample(sample)

    environment, instance = play.bench.environment, play.instance
    trees = [Tree(pid) for pid in generators]
    play.company.programs += trees
    watched = Watched(
        instance.tree,
        [service.tree for service in instance.services],
        trees,
        CpuSplit(environment.server_cpus, environment.generator_cpus),
        play.company.programs,
        restarted=any(stage.outage and stage.outage.kill == "server" for stage in play.plan.schedule.stages),
    )
    return Sampler(watched, started.at, [moment for window in started.windows for moment in window], show)


def _end(server: Server, instance: Instance, course: _Course) -> None:
    """End the server. Only the protocols of a suite require an exit code; others may leave SIGTERM to the kernel."""
    allowed = (0, -signal.SIGTERM, 128 + signal.SIGTERM) if server.protocol_file else (0,)
    stopped = instance.terminate(STOP_SECONDS)
    if stopped.killed:
        message = f"the server did not end within {STOP_SECONDS:g} s of SIGTERM"
        course.failure = Failure(step="stop", message=message, log_tail=instance.log_tail())
    elif stopped.code not in allowed:
        message = f"the server ended with {ending(stopped.code)} after SIGTERM, expected exit code 0"
        course.failure = Failure(step="stop", message=message, log_tail=instance.log_tail())


def _happened(course: _Course, stage: int, report: StageReport) -> results.Happened | None:
    """The kill in a stage, if there was one."""
    if report.outage is None or course.report is None or stage not in course.kills:
        return None
    return results.Happened(report.outage, course.kills[stage], course.report.started_monotonic_us / 1e6)


def _trial(bench: Bench, planned: PlannedTrial, build: str, course: _Course) -> Trial:
    environment, report = bench.environment, course.report
    windows = results.windows(course.started, course.samples) if course.started else []
    reports = report.stages[: len(windows)] if report else []
    windows = windows[: len(reports)]
    cpus = len({*environment.server_cpus, *environment.generator_cpus}) or environment.cpus
    words = bench.load.words
    told = [within(course.told, *window) for window in course.started.windows] if course.started else []
    happened = [_happened(course, index, each) for index, each in enumerate(reports)]
    by_second = results.timeline(report.timeline) if report else None
    stages = [
        results.stage_result(each, window, cpus, words, told=said, outage=outage, by_second=by_second)
        for each, window, said, outage in zip(reports, windows, told[: len(reports)], happened, strict=True)
    ]
    judged = validity.judge(
        stages, reports, windows, environment, words=words, shortages=report.shortages if report else ()
    )
    if course.started and course.died is not None:
        judged = validity.without_server(judged, sum(end <= course.died for _, end in course.started.windows))
    if invalid := [*([course.invalid] if course.invalid else []), *course.account.reasons]:
        judged = judged.model_copy(update={"valid": False, "reasons": [*invalid, *judged.reasons]})
    if warnings := [*course.warnings, *course.account.warnings]:
        judged = judged.model_copy(update={"warnings": [*warnings, *judged.warnings]})
    return Trial(
        **planned.model_dump(),
        started=course.began.isoformat(timespec="seconds"),
        seconds=round(course.seconds, 3),
        build=build,
        reported=course.reported,
        failure=course.failure,
        validity=judged,
        stages=stages,
        timeline=by_second,
        resources=results.resources(report, course.samples) if report else None,
        errors=report.errors if report else [],
    )
