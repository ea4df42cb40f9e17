"""The words of a report beside its tables: heading, environment, reasons, doubts, logs.

Text from elsewhere is passed on unchanged: `terminal` and `markdown` make it safe, each for its format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pushbench.foundation.text import MESSAGE, last_lines, one_line
from pushbench.judging.sentences import failure, which_trial
from pushbench.judging.verdict import Outcome, Verdict
from pushbench.metrics.units import format_elapsed
from pushbench.records import stages
from pushbench.records.environment import METHOD, Environment
from pushbench.records.overlap import most_rounds_at_once
from pushbench.records.record import Finding, Parameters, Record, StagePlan, Trial
from pushbench.reporting.again import value_of

RATE = "_per_second"
"""the suffix of parameters that are rates"""
ERRORS_SHOWN = 3  # of each server, the most frequent first
_NUMBER = re.compile(r"(?<![A-Za-z\d.,])[\d.,]+")
"""except digits that are part of a name: p95 is not p99"""
LOG_LINES_SHOWN = 12  # enough for the end of a stack trace; the record has more


@dataclass(frozen=True)
class Note:
    text: str
    log: Sequence[str] = ()


@dataclass(frozen=True)
class Section:
    title: str
    notes: list[Note]


def heading(record: Record, stage: int | None = None) -> str:
    """`whiteboard, profile quick, 1,000 clients (board_size 10, pattern steady)`."""
    whole = f"{record.suite}, profile {record.profile}"
    if stage is not None:
        planned = record.schedule.stages[stage]
        return f"{whole}, {_load(planned, {**record.parameters, **planned.parameters})}"
    return whole + _bracketed({name: value for name, value in record.parameters.items() if value or RATE not in name})


def stage_heading(stage: StagePlan) -> str:
    """Below a heading of the record: `1,000 clients`, `classroom-1000: 1,000 clients (board_size 100)`."""
    return _load(stage, stage.parameters)


def _load(stage: StagePlan, parameters: Parameters) -> str:
    """`open-200: 500 clients, 200 streams/s (arrivals poisson)`, `closed-10: 10 clients in a closed loop`. A rate of 0
    is omitted, and a closed loop has no arrivals.
    """
    rates, others = [], {}
    for name, value in parameters.items():
        if not name.endswith(RATE):
            others[name] = value
        elif value:
            rates.append(f"{value_of(value)} {name.removesuffix(RATE)}/s")
    if stage.closed:
        others.pop("arrivals", None)
    load = stages.heading(stage) + (" in a closed loop" if stage.closed else "")
    return ", ".join([load, *rates]) + _bracketed(others)


def environment(of: Environment) -> str:
    """`AMD EPYC 7763, 4 CPUs, Linux 6.18, process driver, 2 generators`. Names the method if it is an older one."""
    engine = f" with {of.engine}" if of.engine else ""
    workers = f", {of.workers} workers" if of.workers else ""
    generators = f", {of.generators} generators" if of.generators else ""
    method = f", method {of.method_number}" if of.method_number != METHOD else ""
    awake = ", CPUs kept awake" if of.awake else ""
    apart = f", apart on {of.machine}" if of.machine else ""
    cpus = "1 CPU" if of.cpus == 1 else f"{of.cpus} CPUs"
    settings = f"{engine}{workers}{generators}{awake}{method}{apart}"
    return f"{of.cpu_model}, {cpus}, Linux {of.kernel}, {of.driver} driver{settings}"


def machines(record: Record) -> str:
    """`bench-1: go, node-ws; bench-2: fastapi`; empty where one machine measured everything."""
    return "; ".join(f"{each.name}: {', '.join(each.servers)}" for each in record.machines)


def split(of: Environment) -> str:
    """`server on CPUs 0-1, generator on CPUs 2-3`; `server elsewhere` where it is on another machine.

    With the driver kubernetes, it names the nodes instead.
    """
    if of.driver == "kubernetes":
        return "server on a node of its own, each generator on another"
    server = "elsewhere" if of.remote else f"on CPUs {_ranges(of.server_cpus)}"
    return f"server {server}, generator on CPUs {_ranges(of.generator_cpus)}"


def origin(record: Record) -> str:
    """`record 20261121T101500Z-1a2b3c, commit 770fdf8 (main), 24 rounds, up to 3 at the same time`."""
    parts = [f"record {record.id}"]
    if record.commit:
        changed = ", changed" if record.commit.dirty else ""
        parts.append(f"commit {record.commit.sha[:7]} ({record.commit.ref}{changed})")
    rounds = len({planned.round for planned in record.plan})
    parts.append("1 round" if rounds == 1 else f"{rounds} rounds")
    if (most := most_rounds_at_once(record.trials)) > 1:
        parts.append(f"up to {most} at the same time")
    return ", ".join([*parts, *(f"{name} at {where.url}" for name, where in (record.elsewhere or {}).items())])


def against(record: Record) -> str:
    """`against base 770fdf8: Make it faster`."""
    compared = record.comparison
    assert compared, "asked of comparisons only"
    if compared.injected:
        return f"against itself, injected in the head: {compared.injected}"
    return f"against base {compared.base.sha[:7]}: {compared.base.subject}"


def tally(verdict: Verdict) -> str:
    """The servers by outcome, the worst first: `fail: fastapi; pass: node-ws, spring-stomp`."""
    outcomes: Sequence[Outcome] = ("fail", "invalid", "inconclusive", "pass")
    found = {
        outcome: [server.server for server in verdict.servers if server.outcome == outcome] for outcome in outcomes
    }
    return "; ".join(f"{outcome}: {', '.join(servers)}" for outcome, servers in found.items() if servers) or "no server"


def sections(record: Record, verdict: Verdict) -> list[Section]:
    return _those_that_speak(
        Section("Reasons", [Note(reason) for reason in verdict.reasons]),
        *_of_trials(record, sorted(record.trials, key=lambda trial: (trial.server, trial.arm, trial.round))),
        Section("Notes", [Note(note) for note in verdict.notes]),
    )


def trial_heading(record: Record, trial: Trial) -> str:
    return f"{trial.server}, {which_trial(trial)}: {heading(record)}"


def trial_sections(record: Record, trial: Trial) -> list[Section]:
    said = trial.reported
    about = [f"started {trial.started}, took {format_elapsed(trial.seconds)}, build {trial.build[:12]}"]
    about += [f"{said.framework}, {said.runtime}"] if said else []
    failed = [failure(trial)] if trial.failure else []
    return _those_that_speak(Section("Trial", [Note(text) for text in [*about, *failed]]), *_of_trials(record, [trial]))


def versions(record: Record) -> dict[str, str]:
    """The versions that the servers reported, by id."""
    said = {trial.server: trial.reported for trial in record.trials if trial.reported}
    return {server: f"{said[server].framework}, {said[server].runtime}" for server in sorted(said)}


def _of_trials(record: Record, trials: Sequence[Trial]) -> Iterator[Section]:
    invalid = [Note(f"{_of(record, trial)}: {each}") for trial in trials for each in _invalid(record, trial)]
    yield Section("Logs of failures", list(_logs(record, trials)))
    yield Section("Invalid trials, not judged", [*invalid, *_advice(record, trials)])
    yield Section("Warnings", list(_warnings(record, trials)))
    yield Section("Errors that clients saw", list(_errors(record, trials)))


def _those_that_speak(*sections: Section) -> list[Section]:
    return [section for section in sections if section.notes]


def _logs(record: Record, trials: Sequence[Trial]) -> Iterator[Note]:
    for trial in trials:
        if trial.failure and (lines := last_lines(trial.failure.log_tail, LOG_LINES_SHOWN)):
            yield Note(_of(record, trial), lines)


def _invalid(record: Record, trial: Trial) -> Iterator[str]:
    return _sentences(record, trial.validity.reasons)


def _advice(record: Record, trials: Sequence[Trial]) -> Iterator[Note]:
    stolen = any(reason.code == "steal" for trial in trials for reason in trial.validity.reasons)
    if stolen and not record.environment.awake and record.environment.driver != "kubernetes":
        yield Note('a hypervisor takes less where idle CPUs are kept awake: see docs/method.md, "Idle CPUs"')


def _warnings(record: Record, trials: Sequence[Trial]) -> Iterator[Note]:
    """A warning that many trials share becomes one note."""
    by_sentence: dict[str, list[str]] = {}
    for trial in trials:
        again = (f"measured again: {sentence}" for sentence in _sentences(record, trial.repeated))
        for sentence in (*again, *_sentences(record, trial.validity.warnings)):
            by_sentence.setdefault(sentence, []).append(_of(record, trial))
    for sentence, of in by_sentence.items():
        yield Note(f"all trials: {sentence}" if len(of) == len(trials) > 1 else f"{'; '.join(of)}: {sentence}")


def _errors(record: Record, trials: Sequence[Trial]) -> Iterator[Note]:
    for trial in trials:
        most = sorted(trial.errors, key=lambda error: (-error.count, error.reason))
        for error in most[:ERRORS_SHOWN]:
            yield Note(f"{_of(record, trial)}: {error.count:,} x {one_line(error.reason, 200)}")
        if len(most) > ERRORS_SHOWN:
            yield Note(f"{_of(record, trial)}: {len(most) - ERRORS_SHOWN} more kinds of errors in the record")


def _of(record: Record, trial: Trial) -> str:
    several = len({planned.round for planned in record.plan}) > 1 or trial.arm != "head"
    return trial.server + (f", {which_trial(trial)}" if several else "")


def _sentences(record: Record, findings: Sequence[Finding]) -> Iterator[str]:
    """Findings of several stages that differ only in numbers become one sentence, for the largest stage."""
    planned = record.schedule.stages
    alike: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        alike.setdefault((finding.code, _NUMBER.sub("", finding.message)), []).append(finding)
    for group in alike.values():
        at = {finding.stage: finding for finding in group if finding.stage is not None and finding.stage < len(planned)}
        if not at:
            yield one_line(group[-1].message, MESSAGE)
            continue
        *others, largest = sorted(at, key=lambda stage: (planned[stage].clients, stage))
        also = f" (also {stages.places(planned[stage] for stage in others)})" if others else ""
        yield f"{one_line(at[largest].message, MESSAGE)}, {stages.places([planned[largest]])}{also}"


def _bracketed(parameters: Parameters) -> str:
    """` (board_size 10, pattern steady)`; empty without parameters."""
    listed = ", ".join(f"{name} {value_of(value)}" for name, value in parameters.items())
    return f" ({listed})" if listed else ""


def _ranges(cpus: Sequence[int]) -> str:
    """`[0, 1, 2, 5]` as `0-2, 5`."""
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and cpu == parts[-1][-1] + 1:
            parts[-1].append(cpu)
        else:
            parts.append([cpu])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)
