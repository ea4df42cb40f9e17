"""A record and its verdict as the numbers that people compare: per server and stage, over the rounds of the run.

A number is the median over the valid trials; if none is valid, it is the median over the invalid ones, and marked. The
JSON of `pushbench show --json` is this document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal

from pydantic import Field, NonNegativeInt

from pushbench.foundation.model import Document
from pushbench.judging.verdict import Verdict
from pushbench.records.environment import Commit, Environment
from pushbench.records.record import Record, ReportedVersions, StagePlan, Trial
from pushbench.records.stages import Stage, headline
from pushbench.records.vocabulary import Vocabulary


class Spread(Document):
    """One metric over several trials."""

    median: float
    min: float
    max: float


NOTICEABLE_SHORTFALL = 0.01
"""of throughput below what was due: a smaller shortfall is work in transit at the borders of a window"""


class StageSummary(Document):
    """The results of a server in one stage; metrics that no trial measured are null."""

    clients: NonNegativeInt
    name: str
    metrics: dict[str, Spread | None]
    parts: dict[str, dict[str, Spread | None]] = Field(
        default={}, description="the same metrics for each part of a system, by the part's name"
    )


class ServerSummary(Document):
    """One server's trials of the arm `head`."""

    server: str
    versions: ReportedVersions | None
    trials: NonNegativeInt
    valid_trials: NonNegativeInt
    failed_trials: NonNegativeInt = Field(description="number of valid trials that failed")
    numbers_from: Literal["valid trials", "invalid trials"]
    stages: list[StageSummary]


class Summary(Document):
    """A run in numbers (base units: seconds, bytes, ratios of 1) and its verdict."""

    record: str
    created: str
    commit: Commit | None
    environment: Environment
    suite: str
    words: Vocabulary
    profile: str
    parameters: dict[str, str | int | float | bool]
    stages: list[StagePlan]
    servers: list[ServerSummary]
    verdict: Verdict


def summarize(record: Record, verdict: Verdict) -> Summary:
    stages = record.schedule.stages
    heads = [trial for trial in record.trials if trial.arm == "head"]
    return Summary(
        record=record.id,
        created=record.created,
        commit=record.commit,
        environment=record.environment,
        suite=record.suite,
        words=record.words,
        profile=record.profile,
        parameters=record.parameters,
        stages=stages,
        servers=[
            _server(server, [trial for trial in heads if trial.server == server], stages) for server in record.servers
        ],
        verdict=verdict,
    )


def headline_first(summary: Summary) -> list[int]:
    """The stages: the one that ranks servers, then the others, with those that have parameters of their own last."""
    stages = summary.stages
    first = headline(stages)

    def order(index: int) -> tuple[bool, bool, int]:
        return index != first, bool(stages[index].parameters), -stages[index].clients

    return sorted(range(len(stages)), key=order)


def summarize_trial(trial: Trial) -> ServerSummary:
    """The summary of one trial, with the stages that it reached."""
    return _server(trial.server, [trial], trial.stages)


def _server(server: str, trials: Sequence[Trial], stages: Sequence[Stage]) -> ServerSummary:
    valid = [trial for trial in trials if trial.validity.valid]
    return ServerSummary(
        server=server,
        versions=next((trial.reported for trial in trials if trial.reported), None),
        trials=len(trials),
        valid_trials=len(valid),
        failed_trials=sum(trial.failure is not None for trial in valid),
        numbers_from="valid trials" if valid or not trials else "invalid trials",
        stages=[stage_summary(valid or trials, index, stage) for index, stage in enumerate(stages)],
    )


def stage_summary(trials: Sequence[Trial], index: int, stage: Stage) -> StageSummary:
    """The summary of a stage over all these trials, valid or not."""
    results = [trial.stages[index] for trial in trials if index < len(trial.stages)]
    parts = dict.fromkeys(name for result in results for name in result.parts)
    return StageSummary(
        clients=stage.clients,
        name=stage.name,
        metrics=_spreads([result.metrics for result in results]),
        parts={part: _spreads([result.parts.get(part, {}) for result in results]) for part in parts},
    )


def due_instead(metrics: Mapping[str, Spread | None]) -> float | None:
    """The deliveries per second that were due, if noticeably fewer arrived; None if the server kept up."""
    throughput, offered = (
        spread.median if (spread := metrics.get(name)) else None
        for name in ("throughput_per_second", "offered_per_second")
    )
    return offered if falls_short(throughput, offered) else None


def falls_short(throughput: float | None, offered: float | None) -> bool:
    """Whether noticeably fewer deliveries arrived than were due; false if either number is unknown."""
    return throughput is not None and offered is not None and throughput < (1 - NOTICEABLE_SHORTFALL) * offered


def _spreads(measured: Sequence[Mapping[str, float | None]]) -> dict[str, Spread | None]:
    return {name: _spread(measured, name) for name in dict.fromkeys(name for each in measured for name in each)}


def _spread(measured: Sequence[Mapping[str, float | None]], metric: str) -> Spread | None:
    values = [value for each in measured if (value := each.get(metric)) is not None]
    return Spread(median=median(values), min=min(values), max=max(values)) if values else None
