"""From a comparison to an explanation: one more pair of trials, with profilers, and what differs between them.

`compare` calls it with the arms that it has; `explain` prepares the arms again as the record names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pushbench.catalog.suites import Load, find_suite
from pushbench.comparing.arms import ArmName, Arms, prepare_arms
from pushbench.comparing.profiled import ARMS, NO_CONTAINERS, ProfiledTrial, profile_pair
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.foundation.text import MESSAGE, one_line
from pushbench.judging.judged_changes import JudgedChange
from pushbench.measuring import preparation
from pushbench.measuring.checkout import read_commit
from pushbench.measuring.common import Options, bench_of, holding, means_of
from pushbench.measuring.sides import Side, repository_named, side_of
from pushbench.measuring.trial import Bench
from pushbench.profiling import difference, flame
from pushbench.profiling.explanation import Explanation, ProfiledArm, write_explanation
from pushbench.profiling.profile import Unprofiled
from pushbench.records.record import Comparison, Record, Trial
from pushbench.watching.progress import Watch

MOST_BY_ITSELF = 3
"""servers that a comparison explains without being asked: those that got worse the most"""
MOST_REASONS = 5
"""reasons of an arm why its trial would not count; profilers on the generator's CPUs are one"""
SEED = 1


def explain(project: Project, record: Record, server: str, options: Options, watch: Watch) -> Explanation:
    """Explain a server of a comparison. Raises UserError if that is impossible, naming what is missing."""
    compared = _comparison_of(record, server)
    suite = find_suite(project.scenarios, record.suite)
    load = Load(record.suite, record.profile, suite.scenario, record.schedule, record.parameters, record.words)
    repository = repository_named(project, [server])
    head, base = _head(project, repository, record), side_of(project, repository, compared.base.sha)
    if record.environment.driver != "process":
        watch.note(f"{NO_CONTAINERS}: both arms are built and profiled as processes")
    choice = replace(options.driver, wanted="process", workers=record.environment.workers)
    options = replace(options, driver=choice, verify=False)  # the comparison verified both
    chosen = preparation.select_servers(head.project, suite, [server], watch.note, choice)
    chosen = replace(chosen, servers=head.at(chosen.servers))
    means = means_of(load, chosen.driver, options, watch.note)
    with holding(chosen.driver, options, watch):
        binary, built = preparation.build_all(project, chosen, watch.note)
        arms = prepare_arms(head, base, built, chosen.driver, options=options, note=watch.note)
        if arms.one_sided:
            raise UserError(f"{server} cannot be explained: {arms.one_sided[0].reason}")
        _require_same_builds(record, arms, server, watch)
        bench = bench_of(project, binary, chosen.driver, load, means)
        try:
            return explain_arms(project, record, bench, arms, server=server, watch=watch)
        except Unprofiled as failed:
            raise UserError(f"{server} cannot be profiled: {failed}") from None


def explain_arms(
    project: Project, record: Record, bench: Bench, arms: Arms, *, server: str, watch: Watch
) -> Explanation:
    """Profile both arms and write the explanation beside the record. Raises Unprofiled."""
    together = any(trial.together for trial in _last_round(record, server))
    watch.note(f"{server}: one more pair of trials, with profilers")
    pair = profile_pair(
        record, bench, arms, server, together=together, seed=SEED, watch=watch, scratch=project.cache / "profiles"
    )
    found, graph = _explained(record, server, pair)
    path = write_explanation(project.explanations, found, graph)
    watch.note(f"{server}: explained in {project.relative(path)}, flame graph {found.flame_graph} beside it")
    return found


def explain_worse(
    project: Project,
    record: Record,
    bench: Bench,
    arms: Arms,
    *,
    worse: Sequence[JudgedChange],
    seconds: float,
    watch: Watch,
) -> None:
    """Explain the servers with CPU rows that got `worse`, within `seconds`. Notes what cannot be explained."""
    ordered = sorted(worse, key=lambda each: -(each.change or 0.0))
    servers = list(dict.fromkeys(each.server for each in ordered))
    for place, server in enumerate(servers):
        needed = _seconds_of_round(record, server)
        if place >= MOST_BY_ITSELF or needed > seconds:
            why = f"{MOST_BY_ITSELF} servers are enough" if place >= MOST_BY_ITSELF else "there is no time left"
            watch.note(f"{server}: not explained: {why}; `./pushbench explain {record.id} {server}`")
            continue
        seconds -= needed
        try:
            explain_arms(project, record, bench, arms, server=server, watch=watch)
        except Unprofiled as failed:
            watch.note(f"{server}: not explained: {failed}")
        except KeyboardInterrupt:
            watch.note(f"{server}: not explained: interrupted; the comparison is complete")
            return


def worse_in_cpu(record: Record, changes: Sequence[JudgedChange]) -> list[JudgedChange]:
    """The rows about CPU per unit of work that got worse."""
    metric = f"cpu_seconds_per_{record.words.work.name}"
    return [change for change in changes if change.word == "worse" and change.metric == metric]


def _comparison_of(record: Record, server: str) -> Comparison:
    compared = record.comparison
    if compared is None:
        raise UserError(f"{record.id} is not a comparison", hint="`./pushbench compare --base REF` makes one")
    if compared.injected:
        raise UserError(f"{record.id} has an injected fault, which is not part of a server's code")
    if server not in record.servers:
        known = ", ".join(record.servers) or "none"
        raise UserError(f"{record.id} does not compare {server!r}", hint=f"its servers: {known}")
    return compared


def _head(project: Project, repository: Path | None, record: Record) -> Side:
    """The side with the head's sources: the work tree, if its sources are the same."""
    there = read_commit(repository or project.root)
    if record.commit is None or record.commit.dirty or (there and there.sha == record.commit.sha and not there.dirty):
        return side_of(project, repository, None)
    return side_of(project, repository, record.commit.sha)


def _require_same_builds(record: Record, arms: Arms, server: str, watch: Watch) -> None:
    """Raises UserError if the work tree has changed since the record measured it."""
    for trial in _last_round(record, server):
        now = arms[trial.arm].prepared[server].digest
        if record.environment.driver == "process" and trial.build != now:
            if trial.arm == "head" and record.commit and record.commit.dirty:
                hint = "compare again, or commit before you compare"
                raise UserError(f"{server} has changed in the work tree since {record.id}", hint=hint)
            watch.note(f"{server}: the {trial.arm} is built with other toolchains than in {record.id}")


def _last_round(record: Record, server: str) -> Sequence[Trial]:
    own = [trial for trial in record.trials if trial.server == server]
    last = max((trial.round for trial in own), default=0)
    return [trial for trial in own if trial.round == last]


def _seconds_of_round(record: Record, server: str) -> float:
    """How long the pair will take, estimated from the last round of the server; a profiler adds some seconds."""
    trials = _last_round(record, server)
    seconds = [trial.seconds for trial in trials]
    return (max(seconds) if any(trial.together for trial in trials) else sum(seconds)) * 1.5 + 10


def _explained(record: Record, server: str, pair: Mapping[ArmName, ProfiledTrial]) -> tuple[Explanation, str]:
    base, head = pair["base"], pair["head"]
    slug = server.replace("/", "--")
    unit = record.words.work.name
    assert record.comparison
    found = Explanation(
        record=record.id,
        suite=record.suite,
        server=server,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        unit=unit,
        base_commit=record.comparison.base,
        head_commit=record.commit,
        profiler=head.profiler,
        base=_arm(base),
        head=_arm(head),
        functions=difference.compare(base.measured, head.measured),
        flame_graph=f"{slug}.svg",
        notes=[
            one_line(f"{arm}: {reason.message}", MESSAGE)
            for arm in ARMS
            for reason in pair[arm].trial.validity.reasons[:MOST_REASONS]
        ],
    )
    title = f"{server}: CPU per {unit}, {record.comparison.base.sha[:12]} to the head"
    return found, flame.draw(title, unit, base.measured.per_work(), head.measured.per_work())


def _arm(of: ProfiledTrial) -> ProfiledArm:
    measured = of.measured
    return ProfiledArm(
        build=of.trial.build, work=measured.work, cpu_seconds=measured.cpu_seconds, samples=measured.profile.count
    )
