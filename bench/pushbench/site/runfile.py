"""The files of one run: its measurements and outcomes, and the timelines of each server's trials. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pushbench.foundation.text import MESSAGE, last_lines, one_line
from pushbench.judging.verdict import Verdict
from pushbench.records.history import Entry
from pushbench.records.record import Record, StagePlan, StageResult, Trial
from pushbench.records.seconds import Timeline
from pushbench.reporting import again
from pushbench.reporting.summary import Spread, stage_summary
from pushbench.site.layout import Data
from pushbench.statistics.histogram import Latencies

TAIL_STEPS = 8
"""points of a distribution for each further nine of the percentile: smooth at the width of a page"""
LOG_LINES = 12
REASONS = 20
"""of a verdict in a list of runs; the run's own file has all"""


def row(record: Record, verdict: Verdict) -> Data:
    """The run's line in a list of runs."""
    heads = [trial for trial in record.trials if trial.arm == "head"]
    return {
        "id": record.id,
        "created": record.created,
        "commit": record.commit.sha if record.commit else None,
        "subject": one_line(record.commit.subject, MESSAGE) if record.commit else "",
        "dirty": bool(record.commit and record.commit.dirty),
        "environment": record.environment.key,
        "method": record.environment.method_number,
        "suite": record.suite,
        "profile": record.profile,
        "comparison": record.comparison is not None,
        "outcome": verdict.outcome,
        "reasons": verdict.reasons[:REASONS],
        "outcomes": {server.server: server.outcome for server in verdict.servers},
        "servers": len(record.servers),
        "trials": len(heads),
        "valid": sum(trial.validity.valid for trial in heads),
        "whole": True,
    }


def row_of_entry(entry: Entry) -> Data:
    """As `row`, for a run without its record: its outcomes are unknown."""
    return {
        "id": entry.record,
        "created": entry.created,
        "commit": entry.commit,
        "subject": one_line(entry.subject, MESSAGE),
        "dirty": False,
        "environment": entry.environment,
        "method": entry.method or 1,
        "suite": entry.suite,
        "profile": entry.profile,
        "comparison": False,
        "outcome": None,
        "reasons": [],
        "outcomes": {},
        "servers": len(entry.servers),
        "trials": sum(server.trials for server in entry.servers.values()),
        "valid": sum(server.valid_trials for server in entry.servers.values()),
        "whole": False,
    }


def run(record: Record, verdict: Verdict) -> Data:
    plans = record.schedule.stages
    judged = verdict.model_dump(mode="json", by_alias=True)
    return {
        "run": row(record, verdict),
        "ref": one_line(record.commit.ref, MESSAGE) if record.commit else None,
        "harness": record.harness.model_dump(),
        "environment": record.environment.model_dump(),
        "machines": [each.model_dump() for each in record.machines],
        "parameters": record.parameters,
        "schedule": record.schedule.model_dump(),
        "live": record.live,
        "planned": len(record.plan),
        "skipped": [
            {"server": each.server, "reason": one_line(each.reason, MESSAGE)}
            for each in [*record.skipped, *(record.comparison.one_sided if record.comparison else ())]
        ],
        "base": record.comparison.base.sha if record.comparison else None,
        "command": again.command_from_anywhere(record),
        "verdict": {
            key: judged[key] for key in ("outcome", "reasons", "notes", "servers", "changes", "thresholds_digest")
        }
        | {"limits": [limit for limit in judged["limits"] if limit["outcome"] != "pass"]},
        "servers": [_server(record, server, plans) for server in record.servers],
    }


def run_of_entry(entry: Entry) -> Data:
    """The file of a run without its record. It lists metrics once, and `values` in their order: there are thousands."""
    metrics = sorted({name for server in entry.servers.values() for stage in server.stages.values() for name in stage})
    return {
        "run": row_of_entry(entry),
        "metrics": metrics,
        "parameters": entry.parameters,
        "servers": [
            {
                "server": server,
                "build": measured.build,
                "trials": measured.trials,
                "valid": measured.valid_trials,
                "stages": [
                    {"name": name, "values": [values.get(metric) for metric in metrics]}
                    for name, values in measured.stages.items()
                ],
            }
            for server, measured in sorted(entry.servers.items())
        ],
    }


def timelines(record: Record, server: str) -> Data:
    """The course of a server's trials by the second, in the order of the rounds."""
    return {
        "server": server,
        "trials": [_timeline(trial) for trial in _ordered(trial for trial in record.trials if trial.server == server)],
    }


def _server(record: Record, server: str, plans: Sequence[StagePlan]) -> Data:
    arms: list[Literal["head", "base"]] = ["head", "base"] if record.comparison else ["head"]
    own = {
        arm: _ordered(trial for trial in record.trials if (trial.server, trial.arm) == (server, arm)) for arm in arms
    }
    heads = own["head"]
    kinds = list(record.words.latencies)
    reported = next((trial.reported for trial in heads if trial.reported), None)
    return {
        "server": server,
        "reported": reported.model_dump() if reported else None,
        "trials": len(heads),
        "valid": sum(trial.validity.valid for trial in heads),
        "of": [_trial(trial) for arm in arms for trial in own[arm]],
        "stages": _stages(heads, plans, kinds),
        "base": _stages(own["base"], plans, kinds) if record.comparison else None,
    }


def _stages(trials: Sequence[Trial], plans: Sequence[StagePlan], kinds: Sequence[str]) -> list[Data]:
    """The valid trials together, or the invalid ones if none is valid: `believed` tells which."""
    valid = [trial for trial in trials if trial.validity.valid]
    chosen = valid or trials
    return [_stage(chosen, index, plan, kinds, believed=bool(valid)) for index, plan in enumerate(plans)]


def _stage(trials: Sequence[Trial], index: int, plan: StagePlan, kinds: Sequence[str], *, believed: bool) -> Data:
    results = [trial.stages[index] for trial in trials if index < len(trial.stages)]
    summary = stage_summary(trials, index, plan)
    return {
        "name": plan.name,
        "clients": plan.clients,
        "parameters": plan.parameters,
        "believed": believed,
        "metrics": _metrics(summary.metrics),
        **({"parts": {part: _metrics(each) for part, each in summary.parts.items()}} if summary.parts else {}),
        "tails": {kind: tail for kind in kinds if (tail := _tail(results, kind))},
    }


def _metrics(spreads: Mapping[str, Spread | None]) -> Data:
    """The median, and the smallest and the largest trial if they differ."""
    return {
        name: [spread.median] if spread.min == spread.max else [spread.median, spread.min, spread.max]
        for name, spread in spreads.items()
        if spread
    }


def _tail(results: Sequence[StageResult], kind: str) -> list[float]:
    """The joint distribution of all trials: their counts are added."""
    encoded = [text for result in results if (text := result.histograms.get(kind))]
    found = Latencies.total(Latencies.decode(text) for text in encoded).tail(TAIL_STEPS)
    return [float(f"{value:.4g}") for value in found]


def _trial(trial: Trial) -> Data:
    validity = trial.validity
    return {
        "arm": trial.arm,
        "round": trial.round,
        "order": trial.order,
        "started": trial.started,
        "seconds": round(trial.seconds, 1),
        "build": trial.build,
        "valid": validity.valid,
        "reasons": [one_line(each.message, MESSAGE) for each in validity.reasons],
        "warnings": [
            *(f"measured again: {one_line(each.message, MESSAGE)}" for each in trial.repeated),
            *(one_line(each.message, MESSAGE) for each in validity.warnings),
        ],
        "failure": None
        if trial.failure is None
        else {
            "step": trial.failure.step,
            "message": one_line(trial.failure.message, MESSAGE),
            "log": last_lines(trial.failure.log_tail, LOG_LINES),
        },
        "errors": [{"reason": one_line(each.reason, MESSAGE), "count": each.count} for each in trial.errors],
    }


def _timeline(trial: Trial) -> Data:
    timeline, resources = trial.timeline, trial.resources
    return {
        "arm": trial.arm,
        "round": trial.round,
        "stages": [[each.begin_seconds, each.end_seconds, each.name] for each in trial.stages],
        "timeline": _columns(_by_second(timeline)) if timeline else None,
        "resources": _columns(resources.model_dump(exclude_none=True)) if resources else None,
    }


def _by_second(timeline: Timeline) -> dict[str, list[Any]]:
    """The recorded columns. Loss is a ratio, as in the stages; without deliveries it is missing."""
    columns = timeline.model_dump(exclude={"expected", "lost"}, exclude_none=True)
    if timeline.expected is not None and timeline.lost is not None:
        pairs = zip(timeline.lost, timeline.expected, strict=False)
        columns["loss_ratio"] = [lost / expected if expected else None for lost, expected in pairs]
    return columns


def _columns(columns: dict[str, list[Any]]) -> Data:
    return {
        name: [float(f"{value:.4g}") if isinstance(value, float) and name != "seconds" else value for value in values]
        for name, values in columns.items()
    }


def _ordered(trials: Iterable[Trial]) -> list[Trial]:
    return sorted(trials, key=lambda trial: (trial.arm != "head", trial.round))
