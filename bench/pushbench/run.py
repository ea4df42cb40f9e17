"""A run, from the request to the record: hold the machine, prepare, measure, write after every trial.

Each step is a module of its own; here is their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from pushbench import preparation, store
from pushbench.checkout import read_commit
from pushbench.driver_choice import DriverChoice
from pushbench.errors import UserError
from pushbench.measuring import (
    GaveWay,
    GiveWay,
    Interrupted,
    Options,
    bench_of,
    holding_machine,
    means_of,
    measure_one,
    new_record,
    once_more,
    require_live,
    streaming,
)
from pushbench.plan import make_plan, trial_seconds
from pushbench.preparation import Prepared, Selection
from pushbench.progress import Watch
from pushbench.project import Project
from pushbench.record import Environment, PlannedTrial, Record, Trial
from pushbench.suites import Load, find_suite
from pushbench.trial import Bench


@dataclass(frozen=True)
class Request:
    """What is to be measured. No `servers` means all of the suite that can be built here."""

    suite: str
    profile: str
    servers: Sequence[str] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    rounds: int = 1
    seed: int = 1


def run(project: Project, request: Request, options: Options, watch: Watch) -> Record:
    """Measure. Raises UserError before anything is started when the request cannot be meant."""
    require_live(options)
    suite = find_suite(project.scenarios, request.suite)
    load = suite.load(request.profile, request.parameters)
    chosen = preparation.select_servers(project, suite, request.servers, watch.note, options.driver)
    means = means_of(load, chosen.driver, options, watch.note)
    with holding_machine(options, watch):
        binary, prepared = _prepare(project, chosen, options, watch)
        bench = bench_of(project, binary, chosen.driver, load, means)
        record = new_record(
            project,
            load,
            bench,
            commit=read_commit(project.root),
            skipped=chosen.skipped,
            live=options.live is not None,
            plan=make_plan([each.server.id for each in prepared], rounds=request.rounds, seed=request.seed),
        )
        bench = streaming(bench, options, record, watch)
        return _measure(project.records, record, bench, prepared, watch, give_way=options.give_way)


def resume(project: Project, path: Path, options: Options, watch: Watch) -> Record:
    """Do the trials that a record lacks, into the same file. Raises UserError when they would not belong to it."""
    record = store.read_record(path)
    if record.comparison:
        raise UserError("a comparison is not resumed, its rounds depend on their order in time", where=str(path))
    if record.complete:
        watch.note(f"{record.id}: all {len(record.plan)} trials are there")
        return record
    require_live(options)
    suite = find_suite(project.scenarios, record.suite)
    load = Load(record.suite, record.profile, suite.scenario, record.schedule, record.parameters)
    names = list(dict.fromkeys(planned.server for planned in record.plan))
    choice = DriverChoice(record.environment.driver, options.driver.port, record.environment.workers)
    chosen = preparation.select_servers(project, suite, names, watch.note, choice)
    if chosen.skipped:
        first = chosen.skipped[0]
        raise UserError(f"cannot be resumed: {first.server} {first.reason}", where=str(path))
    generators = options.generators or record.environment.generators or 1
    means = means_of(load, chosen.driver, replace(options, generators=generators), watch.note)
    with holding_machine(options, watch):
        binary, prepared = _prepare(project, chosen, options, watch)
        bench = bench_of(project, binary, chosen.driver, load, means)
        _require_same(path, record, bench.environment, prepared)
        watch.note(f"{record.id}: going on with trial {len(record.trials) + 1} of {len(record.plan)}")
        record = record.model_copy(update={"live": record.live or options.live is not None})
        bench = streaming(bench, options, record, watch)
        return _measure(path.parent, record, bench, prepared, watch, give_way=options.give_way)


def _prepare(project: Project, chosen: Selection, options: Options, watch: Watch) -> tuple[Path, list[Prepared]]:
    """The generator, and the servers built and verified."""
    binary, prepared = preparation.build_all(project, chosen, watch.note)
    if options.verify:
        prepared = preparation.verify_all(project, prepared, chosen.driver, watch.note)
    return binary, prepared


def _measure(
    records: Path,
    record: Record,
    bench: Bench,
    prepared: Sequence[Prepared],
    watch: Watch,
    *,
    give_way: GiveWay | None,
) -> Record:
    """The trials that `record` lacks, each written as soon as it is there. A first write shows that there is room.

    Nothing is given way to before the first of them, so runs that give way to each other all come to an end.
    """
    by_server = {each.server.id: each for each in prepared}
    path = store.write_record(records, record)
    try:
        for position, planned in enumerate(record.plan[len(record.trials) :]):
            if position and give_way and (reason := give_way()):
                raise GaveWay(record, path, reason)
            trial = once_more(partial(_trial, bench, record, planned, by_server[planned.server], watch), watch.note)
            watch.finished(trial)
            longer = record.model_copy(update={"trials": [*record.trials, trial]})
            store.write_record(records, longer)
            record = longer
    except KeyboardInterrupt:
        raise Interrupted(record, path) from None
    return record


def _trial(bench: Bench, record: Record, planned: PlannedTrial, prepared: Prepared, watch: Watch) -> Trial:
    left = (len(record.plan) - planned.order) * trial_seconds(record.schedule)
    watch.trial(planned, len(record.plan), record.schedule, left)
    return measure_one(bench, planned, prepared, watch)


def _require_same(path: Path, record: Record, environment: Environment, prepared: Sequence[Prepared]) -> None:
    hint = "start a new run"
    then, now = record.environment, environment
    if then.method_number != now.method_number:
        methods = f"method {then.method_number}, this Pushbench measures by method {now.method_number}"
        raise UserError(f"cannot be resumed: it was begun by {methods}", where=str(path), hint=hint)
    if then.generators != now.generators:
        generators = f"{then.generators or 1} generators, now {now.generators or 1}"
        how = f"add --generators {then.generators or 1}"
        raise UserError(f"cannot be resumed: it was begun with {generators}", where=str(path), hint=how)
    if environment.key != record.environment.key:
        keys = f"{record.environment.key}, now {environment.key}"
        raise UserError(f"cannot be resumed: it was begun in another environment ({keys})", where=str(path), hint=hint)
    digests = {each.server.id: each.digest for each in prepared}
    for trial in record.trials:
        if trial.build != digests[trial.server]:
            raise UserError(f"cannot be resumed: {trial.server} has changed since", where=str(path), hint=hint)
