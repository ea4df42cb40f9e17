"""What runs of one arm and of two have in common: who may measure and how, one trial, and who measured.

Nothing here depends on what a run consists of; `run` and `compare` define that.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from pushbench import __version__
from pushbench.building.builds import Note
from pushbench.catalog.servers import Server, of_suite, read_catalog
from pushbench.catalog.suites import Load, read_suites
from pushbench.drivers.choice import DriverChoice
from pushbench.drivers.driver import Build, Driver
from pushbench.drivers.service_images import needed_by
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.generator import limits, needs
from pushbench.generator.load import Generator
from pushbench.generator.needs import Means
from pushbench.judging.thresholds import NO_THRESHOLDS, Thresholds
from pushbench.judging.thresholds_reader import digest, known_suites
from pushbench.machine.environment import read_environment
from pushbench.machine.ports import require_free
from pushbench.machine.processes import raise_open_files
from pushbench.measuring.alone import alone, is_kept_awake
from pushbench.measuring.company import Company
from pushbench.measuring.preparation import Prepared
from pushbench.measuring.trial import Bench, failed_trial, run_trial
from pushbench.records import store
from pushbench.records.environment import Commit, Harness
from pushbench.records.record import Cluster, Comparison, Elsewhere, Finding, PlannedTrial, Record, Skipped, Trial
from pushbench.watching.live import open_stream
from pushbench.watching.live_endpoint import Endpoint
from pushbench.watching.progress import LoadWatch, SearchWatch, Watch

ARMS_APART = "both arms of a comparison run on the same CPUs at the same time, but each pod has its own"
GiveWay = Callable[[], str | None]
"""Called between two servers: the reason to end the run, if there is one."""


class Interrupted(Exception):
    """The user ended the run; `record` is what was measured until then, and is on disk at `path`."""

    def __init__(self, record: Record, path: Path) -> None:
        super().__init__(record.id)
        self.record, self.path = record, path


class GaveWay(Interrupted):
    """The run ended between two servers because of `reason`."""

    def __init__(self, record: Record, path: Path, reason: str) -> None:
        super().__init__(record, path)
        self.reason = reason


@dataclass(frozen=True)
class Options:
    """How to measure. A resumed run may have other options."""

    driver: DriverChoice = field(default_factory=DriverChoice)
    generators: int | None = None
    """None: as many as the file limit requires"""
    sources: Sequence[str] | None = None
    """addresses that the generators connect from; None: as many as the ports require"""
    wait: bool = False
    """wait for another run on this machine, instead of giving up"""
    verify: bool = True
    live: str | None = None
    """URL of a VictoriaMetrics to stream to"""
    thresholds: Thresholds = NO_THRESHOLDS
    """the limits that the stream shows"""
    watched: bool = False
    """whether the load is drawn in a terminal"""
    give_way: GiveWay | None = None
    owner_agreed: bool = False
    """the owner of a server that runs elsewhere agreed to a load above the ceiling"""


@contextlib.contextmanager
def holding(driver: Driver, options: Options, watch: Watch | SearchWatch) -> Iterator[None]:
    """Hold the place where the driver measures. Raises UserError if another run holds it, or its port is not free."""
    with alone([driver], watch.note, wait=options.wait):
        if options.driver.port is not None:
            require_free(options.driver.port)
        raise_open_files()
        yield


def means_of(load: Load, driver: Driver, options: Options, note: Note) -> Means:
    """How to play the largest stage on this machine. Notes anything unusual; raises UserError if it is impossible.

    The process driver's servers listen on the loopback device, containers do not.
    """
    if driver.name == "kubernetes":
        if options.live is not None or options.watched:
            raise UserError("--live and --watch show this machine, so they do not work with the driver kubernetes")
        if any(stage.outage for stage in load.schedule.stages):
            raise UserError("the driver kubernetes supports no outages yet", hint="choose a profile without outages")
        return Means(options.generators or 1)
    found, connections = limits.read_limits(), load.most_connections
    loopback = driver.name == "process"
    generators = needs.generators_for(connections, found, options.generators)
    sources = needs.sources_for(connections, found, options.sources, loopback=loopback)
    limits.require_own(sources)
    if generators > (options.generators or 1):
        has = f"each may open {found.open_files:,} files, and there are {connections:,} connections"
        note(f"{generators} generators: {has}")
    if len(sources) > len(options.sources or ()):
        ports = found.connections_of_address
        note(f"clients connect from {len(sources)} addresses, because each has {ports:,} ports for them")
    doubt = needs.server_doubt(connections, found) if loopback else None
    if doubt:
        note(doubt)
    return Means(generators, sources, doubt)


def require_no_cluster(choice: DriverChoice, why: str) -> None:
    """Raises UserError if the driver kubernetes is asked for something it does not support."""
    if choice.wanted == "kubernetes":
        raise UserError(f"the driver kubernetes only runs and verifies servers: {why}", hint="choose process or docker")


def bench_of(project: Project, binary: Path, driver: Driver, load: Load, means: Means) -> Bench:
    generator = Generator(
        binary,
        project.generator,
        load.scenario,
        driver.split.generator,
        project.cache / "load",
        means.generators,
        means.sources,
    )
    # The services of the whole suite, so that the choice of servers does not decide the environment of a run.
    here = driver.name != "remote"
    needed = needed_by(of_suite(read_catalog(project.servers), load.suite)) if here else []
    environment = read_environment(
        driver.split,
        driver.name,
        driver.engine,
        driver.workers,
        generators=means.generators,
        services=driver.products(needed),
        awake=is_kept_awake(driver),
        elsewhere=driver.facts,
    )
    doubts = [Finding(code="server_open_files", message=means.doubt)] if means.doubt else []
    return Bench(driver, generator, load, environment, warnings=doubts)


def require_live(options: Options) -> None:
    """Raises UserError if nothing answers at the URL to stream to."""
    if options.live is not None:
        Endpoint.parse(options.live).require_answer()


def streaming(bench: Bench, options: Options, record: Record, watch: Watch) -> Bench:
    """The bench with the stream that the trials of `record` go to."""
    return replace(bench, live=open_stream(options.live, record, options.thresholds, watch.note))


def measure_one(
    bench: Bench, planned: PlannedTrial, prepared: Prepared, watch: LoadWatch, company: Company | None = None
) -> Trial:
    if not isinstance(prepared.result, Build):
        if company:
            company.leave()
        return failed_trial(planned, prepared.digest, prepared.result)
    trial = run_trial(bench, planned, prepared.server, prepared.result, watch, company=company)
    warnings = list(bench.warnings)
    if not prepared.verified:
        message = f"the server was measured without being verified{_unverified(bench.driver, prepared.server)}"
        warnings.append(Finding(code="not_verified", message=message))
    validity = trial.validity.model_copy(update={"warnings": [*trial.validity.warnings, *warnings]})
    return trial.model_copy(update={"validity": validity})


def _unverified(driver: Driver, server: Server) -> str:
    if server.spec.url:
        return ": it runs elsewhere"
    if driver.name == "kubernetes":
        return ": `pushbench verify --driver kubernetes` verifies it if this machine can reach the pods"
    return " (--skip-verify)"


def new_record(
    project: Project,
    load: Load,
    bench: Bench,
    *,
    commit: Commit | None,
    skipped: Sequence[Skipped],
    live: bool = False,
    watched: bool = False,
    plan: Sequence[PlannedTrial] = (),
    comparison: Comparison | None = None,
    elsewhere: dict[str, Elsewhere] | None = None,
    cluster: Cluster | None = None,
) -> Record:
    """A record without trials."""
    return Record(
        id=store.new_id(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=commit,
        harness=harness_of(bench.generator),
        environment=bench.environment,
        suite=load.suite,
        words=load.words,
        profile=load.profile,
        parameters=load.parameters,
        schedule=load.schedule,
        repeats_disturbed=load.repeats_disturbed,
        judges_times=load.judges_times,
        thresholds_digest=digest(project.thresholds, known_suites(read_suites(project.scenarios))),
        live=live,
        watched=watched,
        skipped=list(skipped),
        comparison=comparison,
        elsewhere=elsewhere,
        cluster=cluster,
        plan=list(plan),
        trials=[],
    )


def harness_of(generator: Generator) -> Harness:
    """The harness. The extension has no release of its own: the digest of its sources identifies it."""
    said = subprocess.run([generator.binary, "version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"k6 (v\S+) \((go[^,]+)", said)
    k6, go = found.groups() if found else ("unknown", "unknown")
    return Harness(pushbench=__version__, k6=k6, extension=generator.binary.parent.name.partition("-")[0], go=go)
