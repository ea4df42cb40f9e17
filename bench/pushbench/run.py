"""A run, from the request to the record: hold the machine, prepare, measure, write after every trial.

Each step is a module of its own; here is their order.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from pushbench import __version__, preparation, store
from pushbench.checkout import read_commit
from pushbench.driver_choice import DriverChoice
from pushbench.drivers import Build
from pushbench.environment import read_environment
from pushbench.errors import UserError
from pushbench.live import open_stream
from pushbench.live_endpoint import Endpoint
from pushbench.load import Generator
from pushbench.ownership import only_run_on_machine
from pushbench.plan import make_plan, trial_seconds
from pushbench.preparation import Prepared, Selection
from pushbench.process_driver import require_free
from pushbench.processes import raise_open_files
from pushbench.progress import Watch
from pushbench.project import Project
from pushbench.record import Environment, Finding, Harness, PlannedTrial, Record, Trial
from pushbench.suites import Load, find_suite
from pushbench.thresholds import digest
from pushbench.trial import Bench, failed_trial, run_trial


@dataclass(frozen=True)
class Request:
    """What is to be measured. No `servers` means all of the suite that can be built here."""

    suite: str
    profile: str
    servers: Sequence[str] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    rounds: int = 1
    seed: int = 1


class Interrupted(Exception):
    """Somebody ended the run; `record` is what was measured until then, and is on disk at `path`."""

    def __init__(self, record: Record, path: Path) -> None:
        super().__init__(record.id)
        self.record, self.path = record, path


@dataclass(frozen=True)
class Options:
    """How it is measured. A resumed run may have others."""

    driver: DriverChoice = field(default_factory=DriverChoice)
    generators: int = 1
    wait: bool = False
    """for another run on this machine, instead of giving up"""
    verify: bool = True
    live: str | None = None
    """URL of a VictoriaMetrics to stream to"""


def run(project: Project, request: Request, options: Options, watch: Watch) -> Record:
    """Measure. Raises UserError before anything is started when the request cannot be meant."""
    _require_live(options)
    suite = find_suite(project.scenarios, request.suite)
    load = suite.load(request.profile, request.parameters)
    chosen = preparation.select_servers(project, suite, request.servers, watch.note, options.driver)
    with _holding_machine(options, watch):
        bench, prepared = _prepare(project, chosen, load, options, watch)
        record = Record(
            id=store.new_id(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            commit=read_commit(project.root),
            harness=_harness(bench.generator),
            environment=bench.environment,
            suite=load.suite,
            profile=load.profile,
            parameters=load.parameters,
            schedule=load.schedule,
            thresholds_digest=_thresholds_digest(project),
            live=options.live is not None,
            skipped=list(chosen.skipped),
            plan=make_plan([each.server.id for each in prepared], rounds=request.rounds, seed=request.seed),
            trials=[],
        )
        return _measure(project.records, record, _watched(bench, options, record, watch), prepared, watch)


def resume(project: Project, path: Path, options: Options, watch: Watch) -> Record:
    """Do the trials that a record lacks, into the same file. Raises UserError when they would not belong to it."""
    record = store.read_record(path)
    if record.complete:
        watch.note(f"{record.id}: all {len(record.plan)} trials are there")
        return record
    _require_live(options)
    suite = find_suite(project.scenarios, record.suite)
    load = Load(record.suite, record.profile, suite.scenario, record.schedule, record.parameters)
    names = list(dict.fromkeys(planned.server for planned in record.plan))
    choice = DriverChoice(record.environment.driver, options.driver.port, record.environment.workers)
    chosen = preparation.select_servers(project, suite, names, watch.note, choice)
    if chosen.skipped:
        first = chosen.skipped[0]
        raise UserError(f"cannot be resumed: {first.server} {first.reason}", where=str(path))
    with _holding_machine(options, watch):
        bench, prepared = _prepare(project, chosen, load, options, watch)
        _require_same(path, record, bench.environment, prepared)
        watch.note(f"{record.id}: going on with trial {len(record.trials) + 1} of {len(record.plan)}")
        record = record.model_copy(update={"live": record.live or options.live is not None})
        return _measure(path.parent, record, _watched(bench, options, record, watch), prepared, watch)


@contextlib.contextmanager
def _holding_machine(options: Options, watch: Watch) -> Iterator[None]:
    with only_run_on_machine(watch.note, wait=options.wait):
        if options.driver.port is not None:
            require_free(options.driver.port)
        raise_open_files()
        yield


def _prepare(
    project: Project, chosen: Selection, load: Load, options: Options, watch: Watch
) -> tuple[Bench, list[Prepared]]:
    driver = chosen.driver
    binary, prepared = preparation.build_all(project, chosen, watch.note)
    if options.verify:
        prepared = preparation.verify_all(project, prepared, driver, watch.note)
    generator = Generator(
        binary, project.generator, load.scenario, driver.split.generator, project.cache / "load", options.generators
    )
    return Bench(
        driver, generator, load, read_environment(driver.split, driver.name, driver.engine, driver.workers)
    ), prepared


def _require_live(options: Options) -> None:
    if options.live is not None:
        Endpoint.parse(options.live).require_answer()


def _watched(bench: Bench, options: Options, record: Record, watch: Watch) -> Bench:
    """With the stream that its trials go to."""
    return replace(bench, live=open_stream(options.live, record.id, watch.note))


def _measure(records: Path, record: Record, bench: Bench, prepared: Sequence[Prepared], watch: Watch) -> Record:
    """The trials that `record` lacks, each written as soon as it is there. A first write shows that there is room."""
    by_server = {each.server.id: each for each in prepared}
    path = store.write_record(records, record)
    try:
        for planned in record.plan[len(record.trials) :]:
            left = (len(record.plan) - planned.order) * trial_seconds(record.schedule)
            watch.trial(planned, len(record.plan), record.schedule, left)
            trial = _one(bench, planned, by_server[planned.server], watch)
            watch.finished(trial)
            longer = record.model_copy(update={"trials": [*record.trials, trial]})
            store.write_record(records, longer)
            record = longer
    except KeyboardInterrupt:
        raise Interrupted(record, path) from None
    return record


def _one(bench: Bench, planned: PlannedTrial, prepared: Prepared, watch: Watch) -> Trial:
    if not isinstance(prepared.result, Build):
        return failed_trial(planned, prepared.digest, prepared.result)
    trial = run_trial(bench, planned, prepared.server, prepared.result, watch)
    if prepared.verified:
        return trial
    warning = Finding(code="not_verified", message="the server was measured without being verified (--skip-verify)")
    validity = trial.validity.model_copy(update={"warnings": [*trial.validity.warnings, warning]})
    return trial.model_copy(update={"validity": validity})


def _require_same(path: Path, record: Record, environment: Environment, prepared: Sequence[Prepared]) -> None:
    hint = "start a new run"
    if environment.key != record.environment.key:
        keys = f"{record.environment.key}, now {environment.key}"
        raise UserError(f"cannot be resumed: it was begun in another environment ({keys})", where=str(path), hint=hint)
    digests = {each.server.id: each.digest for each in prepared}
    for trial in record.trials:
        if trial.build != digests[trial.server]:
            raise UserError(f"cannot be resumed: {trial.server} has changed since", where=str(path), hint=hint)


def _harness(generator: Generator) -> Harness:
    """The extension has no release of its own: it is named by the digest of its sources."""
    said = subprocess.run([generator.binary, "version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"k6 (v\S+) \((go[^,]+)", said)
    k6, go = found.groups() if found else ("unknown", "unknown")
    return Harness(pushbench=__version__, k6=k6, extension=generator.binary.parent.name.partition("-")[0], go=go)


def _thresholds_digest(project: Project) -> str | None:
    return digest(project.thresholds) if project.thresholds.exists() else None
