"""The charts of a report: against load, and by the second. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from pushbench.judging.verdict import Verdict
from pushbench.metrics.definitions import Metric, Unit, metrics_of
from pushbench.metrics.units import format_quantity
from pushbench.records.record import Record, Trial
from pushbench.records.stages import is_named
from pushbench.reporting import loads
from pushbench.reporting.looks import Look
from pushbench.reporting.pictures import Chart, Line, Point
from pushbench.reporting.summary import StageSummary, Summary


def charts(record: Record, summary: Summary, drawn: Mapping[str, Look]) -> list[Chart]:
    """The charts that have anything to draw; `drawn` has the look of each server."""
    found = (*_against_load(record, summary, drawn), *_by_second(record, drawn))
    return [chart for chart in found if any(_drawn(chart))]


def _drawn(chart: Chart) -> Iterator[bool]:
    for line in chart.lines:
        yield from (value > 0 for _, value in line.points)


def _against_load(record: Record, summary: Summary, drawn: Mapping[str, Look]) -> Iterator[Chart]:
    indices = loads.curve(record.schedule.stages)
    planned = [record.schedule.stages[index] for index in indices]
    if not planned:
        return
    metrics = metrics_of(record.words)
    marks = [(float(place), each.name if is_named(each) else f"{each.clients:,}") for place, each in enumerate(planned)]
    across = "stage" if any(map(is_named, planned)) else "clients"
    for name in (record.words.headline, "loss_ratio", "cpu_cores"):
        metric = metrics[name]
        lines = [
            Line(drawn[server.server], _of_stages([server.stages[index] for index in indices], name))
            for server in summary.servers
            if server.trials
        ]
        yield Chart(
            title=f"{metric.title} against load",
            lines=lines,
            said=partial(_said, metric.unit),
            across=across,
            marks=marks,
            limit=_limit(summary.verdict, metric),
            logarithmic=metric.unit is Unit.SECONDS,
        )


def _of_stages(stages: Sequence[StageSummary], metric: str) -> list[Point]:
    return [
        (float(index), spread.median) for index, stage in enumerate(stages) if (spread := stage.metrics.get(metric))
    ]


def _limit(verdict: Verdict, metric: Metric) -> float | None:
    """The upper limit, if all servers and stages share one."""
    found = {limit.bound.value for limit in verdict.limits if limit.metric == metric.name and limit.bound.side == "max"}
    return found.pop() if len(found) == 1 else None


def _by_second(record: Record, drawn: Mapping[str, Look]) -> Iterator[Chart]:
    """The charts by the second, from the first valid trial of each server."""
    known = [trial for server in record.servers if (trial := _first(record, server))]
    bands = next(
        ([(stage.begin_seconds, stage.end_seconds) for stage in each.stages] for each in known if each.stages), []
    )
    latency = record.words.latencies[record.words.headline_latency].title
    for title, unit, points in (
        (f"{latency} p95 by the second", Unit.SECONDS, _latency),
        ("CPU by the second", Unit.CORES, _cpu),
        ("Memory by the second", Unit.BYTES, _memory),
    ):
        lines = [Line(drawn[trial.server], points(trial)) for trial in known]
        yield Chart(
            title=title,
            lines=lines,
            said=partial(_said, unit),
            across="seconds; shaded: measured",
            bands=bands,
            logarithmic=unit is Unit.SECONDS,
        )


def _first(record: Record, server: str) -> Trial | None:
    own = [trial for trial in record.trials if (trial.server, trial.arm) == (server, "head") and trial.validity.valid]
    return min(own, key=lambda trial: trial.round, default=None)


def _latency(trial: Trial) -> list[Point]:
    values = trial.timeline.latency_p95_seconds if trial.timeline else []
    return [(float(second), value) for second, value in enumerate(values) if value is not None]


def _cpu(trial: Trial) -> list[Point]:
    return _of(trial.resources.seconds, trial.resources.cpu_cores) if trial.resources else []


def _memory(trial: Trial) -> list[Point]:
    return _of(trial.resources.seconds, trial.resources.memory_bytes) if trial.resources else []


def _of(seconds: Sequence[float], values: Sequence[float | None]) -> list[Point]:
    return [
        (second, value) for second, value in zip(seconds, values, strict=False) if value is not None and second >= 0
    ]


def _said(unit: Unit, value: float) -> str:
    return format_quantity(value, unit) + (" cores" if unit is Unit.CORES else "")
