"""Compact records of runs and searches. Pure."""

from __future__ import annotations

from pushbench.foundation.errors import UserError
from pushbench.foundation.text import one_line
from pushbench.judging.changes import value_of
from pushbench.judging.verdict import ServerVerdict, Verdict
from pushbench.metrics.definitions import cost, metrics_of
from pushbench.metrics.kept import entry_of, require_whole
from pushbench.records.capacity import CapacityRecord
from pushbench.records.compact import CompactCapacity, CompactRun, CompactServer
from pushbench.records.record import Record, Trial
from pushbench.reporting.summary import headline_first, summarize

MEMORY = "memory_bytes.peak"
SIGNIFICANT_DIGITS = 5


def compact_run(record: Record, verdict: Verdict) -> CompactRun:
    """The run at its headline's stage. Raises UserError if its sources cannot be reproduced, or without a ranking."""
    if record.commit is None or record.commit.dirty:
        raise UserError(f"{record.id}: not kept: its sources are no commit", hint="commit them and measure again")
    if record.comparison or not record.complete or not record.judges_times:
        raise UserError(f"{record.id}: not kept: only whole runs that judge times have a ranking")
    stage = headline_first(summarize(record, verdict))[0]
    metrics = metrics_of(record.words)
    planned = record.schedule.stages[stage]
    return CompactRun(
        record=record.id,
        created=record.created,
        commit=record.commit.sha,
        environment=record.environment,
        suite=record.suite,
        profile=record.profile,
        parameters={**record.parameters, **planned.parameters},
        stage=planned.name,
        clients=planned.clients,
        headline=metrics[record.words.headline].title,
        cost=metrics[cost(record.words)].title,
        servers={server.server: _server(record, server, stage) for server in verdict.servers},
    )


def compact_capacity(record: CapacityRecord) -> CompactCapacity:
    """The search. Raises UserError for a search of uncommitted sources or an interrupted one."""
    require_whole(record)
    return CompactCapacity(environment=record.environment, entry=entry_of(record))


def _server(record: Record, server: ServerVerdict, stage: int) -> CompactServer:
    trials = [each for each in record.trials if each.server == server.server]
    valid = [each for each in trials if each.validity.valid]
    reported = next((each.reported for each in trials if each.reported), None)
    headline = metrics_of(record.words)[record.words.headline]
    found = _values(valid, stage, headline.name)
    return CompactServer(
        build=trials[0].build if trials else "",
        runtime=one_line(reported.runtime, 100) if reported else "",
        framework=one_line(reported.framework, 100) if reported else "",
        headline=found,
        cost=_values(valid, stage, cost(record.words)),
        memory=_values(valid, stage, MEMORY),
        late=max(_values(valid, stage, headline.lateness or ""), default=0.0),
        problem=one_line(_problem(server, measured=bool(found)), 500),
    )


def _problem(server: ServerVerdict, *, measured: bool) -> str:
    if server.outcome in ("fail", "invalid"):
        reason = server.reasons[0].removeprefix(f"{server.server}: ") if server.reasons else ""
        return f"{server.outcome}: {reason}".removesuffix(": ")
    return "" if measured else "not measured"


def _values(trials: list[Trial], stage: int, metric: str) -> list[float]:
    found = (value_of(trial, stage, metric) for trial in trials)
    return [float(f"{value:.{SIGNIFICANT_DIGITS}g}") for value in found if value is not None]
