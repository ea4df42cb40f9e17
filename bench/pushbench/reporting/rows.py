"""The metrics in a table of servers or stages, in the terms of the suite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pushbench.metrics.definitions import Metric, Unit, cost, headlines, metrics_of
from pushbench.records.vocabulary import Vocabulary

# One unit per row, so that its values compare at a glance: latencies in ms, whatever their size.
_UNITS: dict[Unit, tuple[str, float]] = {
    Unit.COUNT: ("", 1.0),
    Unit.PER_SECOND: ("/s", 1.0),
    Unit.SECONDS: ("ms", 1e3),
    Unit.BYTES: ("MB", 1e-6),
    Unit.BYTES_PER_SECOND: ("MB/s", 1e-6),
    Unit.RATIO: ("%", 100.0),
    Unit.CORES: ("cores", 1.0),
}


@dataclass(frozen=True)
class TableRow:
    """One metric of the table. `ranged` rows also show the smallest and the largest trial."""

    metric: str
    title: str
    unit: str
    factor: float
    ranged: bool = False
    shown: Literal["always", "where measured", "where not 0"] = "always"
    """where measured: if it was measured in at least one column, or if nothing in the group was"""


def plain(metric: Metric, *, ranged: bool = False) -> TableRow:
    unit, factor = _UNITS[metric.unit]
    return TableRow(metric.name, metric.title, unit, factor, ranged)


def groups(words: Vocabulary) -> list[list[TableRow]]:
    """The groups of rows: load, latency and cost."""
    return [_load(words), _latencies(words), _costs(words), *([_outages(words)] if words.recovers else [])]


def of_part(words: Vocabulary, part: str) -> list[TableRow]:
    """The rows of one part of a system."""
    wanted = ("cpu_cores", cost(words), "memory_bytes.peak")
    own = [row for row in _costs(words) if row.metric in wanted]
    return [replace(row, metric=metric_of_part(row.metric, part), title=f"{part}: {row.title}") for row in own]


def metric_of_part(metric: str, part: str) -> str:
    """The name of a part's metric, distinct from the server's."""
    return f"{metric} of {part}"


def brief(words: Vocabulary) -> list[list[TableRow]]:
    """The rows of a stage that is shown in addition to the main one."""
    wanted = {"clients", "throughput_per_second", "loss_ratio", words.headline, cost(words)}
    wanted |= {row.metric for row in _outages(words)} if words.recovers else set()
    return [[row for group in groups(words) for row in group if row.metric in wanted]]


def headline_rows(words: Vocabulary) -> list[TableRow]:
    """The few rows that represent a server where space is short."""
    rows = {row.metric: row for group in groups(words) for row in group}
    return [rows[metric] for metric in headlines(words)]


def _load(words: Vocabulary) -> list[TableRow]:
    metrics = metrics_of(words)
    return [
        plain(metrics["clients"]),
        plain(metrics["messages_per_second"]),
        plain(metrics["throughput_per_second"]),
        plain(metrics["loss_ratio"], ranged=True),
        TableRow("corrupt_ratio", metrics["corrupt_ratio"].title, "%", 100.0, ranged=True, shown="where not 0"),
        *([replace(plain(metrics["superseded"]), shown="where not 0")] if words.supersedes else []),
    ]


def _latencies(words: Vocabulary) -> list[TableRow]:
    """The latencies of the stages; one that only some stages have, such as the gap of paced ones, may be absent."""
    ranged = {f"{words.headline_latency}_seconds.{point}" for point in ("p95", "p99")}
    metrics = metrics_of(words)
    shown = [metrics[f"{name}_seconds.{point}"] for name, latency in words.latencies.items() for point in latency.shown]
    own = [replace(plain(each, ranged=each.name in ranged), shown="where measured") for each in shown]
    told = [metrics[f"{name}_seconds.{point}"] for name, each in words.told.items() for point in each.points]
    of_server = [replace(plain(each), shown="where measured") for each in told]
    return [*own, *of_server, plain(metrics["connect_seconds.p99"])]


def _outages(words: Vocabulary) -> list[TableRow]:
    """The rows of stages with an outage."""
    metrics = metrics_of(words)
    shown = ["recovery_seconds", "reconnect_seconds.p95", "reconnect_seconds.max", "reconnect_attempts"]
    shown += ["clients_not_back", "outage_lost", "outage_loss_ratio", "lost_after_recovery", "outage_cpu_cores"]
    return [replace(plain(metrics[name]), shown="where not 0") for name in shown]


def _costs(words: Vocabulary) -> list[TableRow]:
    metrics, work = metrics_of(words), words.work
    each = f"1,000 {work.plural.lower()}"
    services = f"services_{cost(words)}"
    return [
        plain(metrics["cpu_cores"]),
        TableRow(cost(words), f"CPU / {each}", "ms", 1e6, ranged=True),
        TableRow(services, "services' CPU / 1,000", "ms", 1e6, ranged=True, shown="where not 0"),
        plain(metrics["memory_bytes.peak"], ranged=True),
        plain(metrics["network_in_bytes_per_second"]),
        plain(metrics["network_out_bytes_per_second"]),
    ]
