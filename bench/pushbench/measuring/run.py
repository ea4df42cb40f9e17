"""A run, from the request to the record: hold the machine, prepare, measure, write after every trial.

Each step is a module of its own; this module has their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pushbench.building.builds import Note
from pushbench.catalog.elsewhere import server_at
from pushbench.catalog.servers import Server
from pushbench.catalog.suites import Load, Suite, find_suite
from pushbench.drivers.choice import DriverChoice
from pushbench.drivers.kubectl import digest_of
from pushbench.drivers.kubernetes import ClusterChoice
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.foundation.text import counted
from pushbench.machine.awake import DEVICE, SWITCH
from pushbench.measuring import preparation
from pushbench.measuring.checkout import read_commit
from pushbench.measuring.common import (
    GaveWay,
    GiveWay,
    Interrupted,
    Options,
    bench_of,
    holding,
    means_of,
    measure_one,
    new_record,
    require_live,
    streaming,
)
from pushbench.measuring.consenting import CEILING, elsewhere_of, needs_no_consent, profiles_below, require_consent
from pushbench.measuring.conversing import require_conversations
from pushbench.measuring.plan import make_plan, trial_seconds
from pushbench.measuring.preparation import Prepared, Selection
from pushbench.measuring.sides import root_of
from pushbench.measuring.trial import Bench
from pushbench.metrics.validity import is_disturbed
from pushbench.records import store
from pushbench.records.environment import Environment
from pushbench.records.record import Cluster, Elsewhere, Record, Trial
from pushbench.watching.progress import Watch


@dataclass(frozen=True)
class RunRequest:
    """What to measure. No `servers` means all of the suite that can be built here."""

    suite: str
    profile: str
    servers: Sequence[str] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    rounds: int = 1
    seed: int = 1
    given: Server | None = None
    """a server that is not in the catalog, instead of `servers`"""
    or_smaller: bool = False
    """the user did not choose the profile: if its load needs an owner's consent, a smaller one is played instead"""


def run(project: Project, request: RunRequest, options: Options, watch: Watch) -> Record:
    """Measure. Raises UserError before anything is started when the request is invalid."""
    require_live(options)
    suite = find_suite(project.scenarios, request.suite)
    load = suite.load(request.profile, request.parameters)
    if request.given:
        chosen = preparation.select_given(project, suite, request.given, watch.note, options.driver)
    else:
        chosen = preparation.select_servers(project, suite, request.servers, watch.note, options.driver)
    elsewhere = elsewhere_of(chosen.servers, owner_agreed=options.owner_agreed)
    load = _allowed(load, suite, request, elsewhere, watch.note)
    means = means_of(load, chosen.driver, options, watch.note)
    with holding(chosen.driver, options, watch):
        binary, prepared = _prepare(project, chosen, options, watch)
        bench = bench_of(project, binary, chosen.driver, load, means)
        record = new_record(
            project,
            load,
            bench,
            commit=read_commit(root_of(project, [each.server for each in prepared])),
            skipped=chosen.skipped,
            live=options.live is not None,
            watched=options.watched,
            elsewhere=elsewhere,
            cluster=cluster_of(chosen.driver.name, options.driver.cluster),
            plan=make_plan([each.server.id for each in prepared], rounds=request.rounds, seed=request.seed),
        )
        bench = streaming(bench, options, record, watch)
        return _measure(project.records, record, bench, prepared, watch, give_way=options.give_way)


def resume(project: Project, path: Path, options: Options, watch: Watch) -> Record:
    """Run the trials that a record lacks, and add them to its file. Raises UserError if they would not fit it."""
    record = store.read_record(path)
    if record.comparison:
        raise UserError("a comparison cannot be resumed: its rounds depend on their order in time", where=str(path))
    place = _next(record)
    if place is None:
        watch.note(f"{record.id} is complete: {counted(len(record.plan), 'trial')}")
        return record
    require_live(options)
    suite = find_suite(project.scenarios, record.suite)
    load = Load(record.suite, record.profile, suite.scenario, record.schedule, record.parameters, record.words)
    chosen = _chosen_again(project, suite, record, options, watch.note)
    require_consent(load, suite.spec.offered, record.elsewhere)
    if chosen.skipped:
        first = chosen.skipped[0]
        raise UserError(f"cannot be resumed: {first.server} {first.reason}", where=str(path))
    generators = options.generators or record.environment.generators or 1
    means = means_of(load, chosen.driver, replace(options, generators=generators), watch.note)
    with holding(chosen.driver, options, watch):
        binary, prepared = _prepare(project, chosen, options, watch)
        bench = bench_of(project, binary, chosen.driver, load, means)
        _require_same(path, record, bench.environment, prepared)
        watch.note(f"{record.id}: continuing with trial {place + 1} of {len(record.plan)}")
        live, watched = record.live or options.live is not None, record.watched or options.watched
        record = record.model_copy(update={"live": live, "watched": watched})
        bench = streaming(bench, options, record, watch)
        return _measure(path.parent, record, bench, prepared, watch, give_way=options.give_way)


def _allowed(
    load: Load, suite: Suite, request: RunRequest, elsewhere: Mapping[str, Elsewhere] | None, note: Note
) -> Load:
    """The requested load, or a smaller one. Raises UserError for a load that needs the consent of an owner."""
    if needs_no_consent(elsewhere):
        return load
    smaller = profiles_below(suite, request.parameters)
    if request.or_smaller and smaller and request.profile not in smaller:
        load = suite.load(smaller[0], request.parameters)
        note(f"profile {load.profile}: {request.profile} is above the ceiling of {CEILING}, which --owner-agreed lifts")
    require_consent(load, suite.spec.offered, elsewhere, smaller)
    return load


def cluster_of(driver: str, choice: ClusterChoice) -> Cluster | None:
    """The options of a cluster that a record keeps."""
    if driver != "kubernetes":
        return None
    return Cluster(context=choice.context and digest_of(choice.context), namespace_prefix=choice.prefix)


def _cluster_again(record: Record, now: ClusterChoice) -> ClusterChoice:
    """The cluster of a record, with the options given now in place of its own."""
    then = record.cluster or Cluster()
    prefix = then.namespace_prefix if now.prefix is None else now.prefix
    generators = max(now.generators, record.environment.generators or 1)
    return replace(now, context=now.context or then.context, prefix=prefix, generators=generators)


def _chosen_again(project: Project, suite: Suite, record: Record, options: Options, note: Note) -> Selection:
    """The servers of a record."""
    environment = record.environment
    choice = DriverChoice(
        environment.driver,
        options.driver.port,
        environment.workers,
        elsewhere=environment.remote,
        cluster=_cluster_again(record, options.driver.cluster),
    )
    for name, each in (record.elsewhere or {}).items():
        if each.protocol is not None:
            server = server_at(each.url, suite.id, each.protocol, name=name, authorities=each.ca or "")
            return preparation.select_given(project, suite, server, note, choice)
    names = list(dict.fromkeys(planned.server for planned in record.plan))
    return preparation.select_servers(project, suite, names, note, choice)


def _prepare(project: Project, chosen: Selection, options: Options, watch: Watch) -> tuple[Path, list[Prepared]]:
    """The generator, and the servers, built and verified. A server elsewhere is checked by a conversation instead."""
    binary, prepared = preparation.build_all(project, chosen, watch.note)
    if chosen.driver.name == "remote":
        require_conversations(project, binary, [each.server for each in prepared], watch.note)
    elif options.verify and chosen.driver.name != "kubernetes":  # the rules inspect a server's memory and sockets
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
    """Measure the trials that `record` lacks, and write each as soon as it ends. A first write shows that the disk has
    room.

    The run never gives way before its first new trial, so that runs that give way to each other all finish. It never
    gives way before a second measurement either: a record that has all trials is complete.
    """
    by_server = {each.server.id: each for each in prepared}
    path = store.write_record(records, record)
    first = len(record.trials)
    try:
        while (place := _next(record)) is not None:
            if first < place == len(record.trials) and give_way and (reason := give_way()):
                raise GaveWay(record, path, reason)
            trial = _trial(bench, record, place, by_server[record.plan[place].server], watch)
            watch.finished(trial)
            longer = record.model_copy(update={"trials": [*record.trials[:place], trial, *record.trials[place + 1 :]]})
            store.write_record(records, longer)
            record = longer
    except KeyboardInterrupt:
        raise Interrupted(record, path) from None
    return record


def _next(record: Record) -> int | None:
    """The place of the next trial in the plan: first those that are missing, then those to measure again. Repeats come
    last, because a disturbance of a machine often lasts longer than a trial."""
    if len(record.trials) < len(record.plan):
        return len(record.trials)
    return next(iter(_again(record)), None)


def _again(record: Record) -> list[int]:
    """The places of trials that were only disturbed, were measured once so far, and are worth a second measurement."""
    if not record.repeats_disturbed:
        return []
    return [place for place, trial in enumerate(record.trials) if is_disturbed(trial) and not trial.repeated]


def _trial(bench: Bench, record: Record, place: int, prepared: Prepared, watch: Watch) -> Trial:
    """Measure the trial of that place. A second one replaces the first, valid or not, and records why."""
    planned, before = record.plan[place], record.trials[place] if place < len(record.trials) else None
    reasons = before.validity.reasons if before else []
    if reasons:
        watch.note(f"{planned.server}: measured again, once: {reasons[0].message}")
    more = len(_again(record)) if before else len(record.plan) - place + len(_again(record))
    left = more * trial_seconds(record.schedule)
    watch.trial(planned, len(record.plan), record, left)
    return measure_one(bench, planned, prepared, watch).model_copy(update={"repeated": reasons})


def _require_same(path: Path, record: Record, environment: Environment, prepared: Sequence[Prepared]) -> None:
    hint = "start a new run"
    then, now = record.environment, environment
    if then.method_number != now.method_number:
        methods = f"method {then.method_number}, this Pushbench uses method {now.method_number}"
        raise UserError(f"cannot be resumed: it was started with {methods}", where=str(path), hint=hint)
    if then.generators != now.generators:
        generators = f"{then.generators or 1} generators, now {now.generators or 1}"
        how = f"add --generators {then.generators or 1}"
        raise UserError(f"cannot be resumed: it was started with {generators}", where=str(path), hint=how)
    if then.awake != now.awake:
        idle = "kept its CPUs awake, now they may halt" if then.awake else "let its CPUs halt, now they are kept awake"
        how = f"let this user write {DEVICE}" if then.awake else f"set {SWITCH}=0"
        raise UserError(f"cannot be resumed: it {idle}", where=str(path), hint=how)
    if environment.key != record.environment.key:
        keys = f"{record.environment.key}, now {environment.key}"
        raise UserError(
            f"cannot be resumed: it was started in another environment ({keys})", where=str(path), hint=hint
        )
    digests = {each.server.id: each.digest for each in prepared}
    for trial in record.trials:
        if trial.build != digests[trial.server]:
            raise UserError(f"cannot be resumed: {trial.server} has changed since", where=str(path), hint=hint)
