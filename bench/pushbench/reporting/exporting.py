"""A record in the formats of other tools. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypedDict

from pushbench.foundation.text import MESSAGE, one_line
from pushbench.metrics.definitions import Better, metrics_of
from pushbench.metrics.units import format_number
from pushbench.records.environment import Environment
from pushbench.records.record import Record
from pushbench.records.stages import places
from pushbench.reporting.report import main_stages
from pushbench.reporting.rows import headline_rows
from pushbench.reporting.summary import Spread, Summary, due_instead

FORMATS = ("github-action-benchmark",)


class Benchmark(TypedDict):
    """One number of github-action-benchmark's custom tools (v1.22)."""

    name: str
    unit: str
    value: float
    range: str
    extra: str


Tool = Literal["customSmallerIsBetter", "customBiggerIsBetter"]


def github_action_benchmark(record: Record, summary: Summary) -> dict[Tool, list[Benchmark]]:
    """The headline metrics of the largest stage, for servers with a valid trial, by the tool that reads them.

    A name identifies one series: it includes everything that affects comparability, except the machine.
    """
    found: dict[Tool, list[Benchmark]] = {"customSmallerIsBetter": [], "customBiggerIsBetter": []}
    metrics = metrics_of(record.words)
    for metric, benchmark in _benchmarks(record, summary):
        better = metrics[metric].better
        found["customSmallerIsBetter" if better is Better.LOWER else "customBiggerIsBetter"].append(benchmark)
    return found


def _benchmarks(record: Record, summary: Summary) -> Iterator[tuple[str, Benchmark]]:
    stage = main_stages(record)[0]
    where = ", ".join([record.suite, record.profile, places([record.schedule.stages[stage]]).removeprefix("at ")])
    where += "".join(f", {each}" for each in _series(record.environment))
    for server in summary.servers:
        if server.numbers_from == "invalid trials" or not server.valid_trials:
            continue
        extra = [f"{server.valid_trials} of {server.trials} trials valid", f"environment {record.environment.key}"]
        if record.commit:
            extra.append(one_line(record.commit.subject, MESSAGE))
        for row in headline_rows(record.words):
            metrics = server.stages[stage].metrics
            spread = metrics.get(row.metric)
            if spread is not None:
                due = due_instead(metrics) if row.metric == "throughput_per_second" else None
                of_due = [] if due is None else [f"of {format_number(due)} {row.unit} that were due"]
                yield (
                    row.metric,
                    {
                        "name": f"{server.server}: {row.title} ({where})",
                        "unit": row.unit,
                        "value": float(f"{spread.median * row.factor:.5g}"),
                        "range": _range(spread, row.factor),
                        "extra": "\n".join([*of_due, *extra]),
                    },
                )


def _series(environment: Environment) -> Iterator[str]:
    """The settings that start a new series on the same machine, if they differ from the defaults."""
    if environment.generators:
        yield f"{environment.generators} generators"
    if environment.awake:
        yield "CPUs kept awake"
    if environment.machine:
        yield f"apart on {environment.machine}"
    if environment.method_number > 1:
        yield f"method {environment.method_number}"


def _range(spread: Spread, factor: float) -> str:
    return f"{format_number(spread.min * factor)} to {format_number(spread.max * factor)}"
