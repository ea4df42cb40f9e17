"""The metrics of a suite: name, title, unit and better direction. Values are in base units.

A metric's name is its key in a record's stage and in `thresholds.yml`; `delivery_seconds.p95` is one name. When a
definition changes, `METHOD` in `records/record.py` counts up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from pushbench.records.vocabulary import POINTS, Vocabulary, Work

BY_DUE = "deliveries out and costs per delivery count what was due in the window, not what arrived in it"
RARE = "p999"
WORST_SECOND = "worst_second"
LATE_POINTS = frozenset({"p50", "p95", "p99"})
OF_CONNECTING = ("connect_", "clients_missing_")
"""prefixes of metrics whose limits a slower ramp may keep"""
FROM_DIALLING = "connect times count from dialling and leave out what was refused before"


class Unit(StrEnum):
    COUNT = "count"
    PER_SECOND = "per_second"
    SECONDS = "seconds"
    BYTES = "bytes"
    BYTES_PER_SECOND = "bytes_per_second"
    RATIO = "ratio"
    CORES = "cores"


class Better(StrEnum):
    LOWER = "lower"
    HIGHER = "higher"


@dataclass(frozen=True)
class Metric:
    name: str
    title: str
    unit: Unit
    better: Better = Better.LOWER
    since: int = 1
    """the first method whose records can be judged by it"""
    method_1: str = ""
    """how records of method 1 count it, if they count it differently: a clause"""
    lateness: str | None = None
    """the metric with the generator's own part of this one, at the equal percentile"""
    control: str | None = None
    """the metric that shows how fast the machine was, for metrics that depend on it: docs/method.md has the figures"""
    warmup: str | None = None
    """the metric with the part of this one that ends when a runtime is warm: comparisons leave it out"""
    added: bool = False
    """records older than the metric do not have it, and are not judged by it"""
    of_outage: bool = False
    """measured only if something was killed"""
    metered: bool = False
    """read from the server's processes, so unknown for a server that runs elsewhere"""

    @property
    def in_sentence(self) -> str:
        return in_sentence(self.title)

    @property
    def is_time(self) -> bool:
        """Whether a server is worse by this metric right after its start: times, and the share of late clients."""
        return self.unit is Unit.SECONDS or self.name == "connect_late_ratio"


def in_sentence(title: str) -> str:
    """A title in the form used inside a sentence: `Loss` becomes `loss`, `CPU` stays."""
    return title if title[1:2].isupper() else title[0].lower() + title[1:]


Metrics = Mapping[str, Metric]
"""by their names"""


def metrics_of(words: Vocabulary) -> Metrics:
    """The metrics of a suite, by name."""
    outages = _outages() if words.recovers else []
    found = [*_load(words), *_latencies(words), *_told(words), *_resources(words.work), *outages]
    return {metric.name: metric for metric in found}


def _load(words: Vocabulary) -> list[Metric]:
    exchange = words.exchange.plural
    work = words.work.plural
    return [
        Metric("clients", "Clients", Unit.COUNT, Better.HIGHER),
        Metric("clients_missing_ratio", "Clients missing", Unit.RATIO),
        Metric("connect_late_ratio", "Clients late", Unit.RATIO, since=2),
        Metric("connect_failures", "Connect failures", Unit.COUNT),
        Metric("disconnects", "Disconnects", Unit.COUNT),
        Metric("messages_per_second", f"{exchange} in", Unit.PER_SECOND, Better.HIGHER),
        Metric("throughput_per_second", f"{work} out", Unit.PER_SECOND, Better.HIGHER, method_1=BY_DUE),
        Metric("offered_per_second", f"{work} due", Unit.PER_SECOND, Better.HIGHER, since=2),
        Metric("loss_ratio", "Loss", Unit.RATIO),
        Metric("duplicate_ratio", "Duplicates", Unit.RATIO),
        Metric("out_of_order_ratio", "Out of order", Unit.RATIO),
        Metric("corrupt_ratio", "Corrupt", Unit.RATIO),
        *([Metric("superseded", "Superseded", Unit.COUNT)] if words.supersedes else []),
        *(Metric(f"rooms_{what}", f"{words.rooms} {what}", Unit.COUNT) for what in ("begun", "ended") if words.rooms),
    ]


def _latencies(words: Vocabulary) -> list[Metric]:
    own = [
        Metric(
            f"{name}_seconds.{point}",
            f"{latency.title} {point}",
            Unit.SECONDS,
            lateness=f"lateness_seconds.{point}" if latency.until != "gap" and point in LATE_POINTS else None,
        )
        for name, latency in words.latencies.items()
        for point in POINTS
    ]
    shown = words.latencies[words.headline_latency].title
    headline = shown.lower()
    return [
        *own,
        *(
            Metric(f"{name}_seconds.{RARE}", f"{latency.title} p99.9", Unit.SECONDS, added=True)
            for name, latency in words.latencies.items()
        ),
        Metric(
            f"{words.headline_latency}_seconds.{WORST_SECOND}",
            f"{shown} p95 of the worst second",
            Unit.SECONDS,
            added=True,
        ),
        *(Metric(f"lateness_seconds.{point}", f"Send lateness {point}", Unit.SECONDS) for point in POINTS),
        *(
            Metric(f"connect_seconds.{point}", f"Connect {point}", Unit.SECONDS, since=2, method_1=FROM_DIALLING)
            for point in POINTS
        ),
        *(
            Metric(f"lateness_share.{point}", f"Lateness / {headline} {point}", Unit.RATIO, since=2)
            for point in ("p95", "p99")
        ),
    ]


def _told(words: Vocabulary) -> list[Metric]:
    return [
        Metric(f"{name}_seconds.{point}", f"{each.title} {point}", Unit.SECONDS)
        for name, each in words.told.items()
        for point in each.points
    ]


def _resources(work: Work) -> list[Metric]:
    per = f"per_{work.name}"
    title = f"per {work.name.replace('_', ' ')}"
    seconds = partial(Metric, unit=Unit.SECONDS, method_1=BY_DUE)
    metered = partial(Metric, metered=True)
    generator, compilers = f"generator_cpu_seconds_{per}", f"compilers_cpu_seconds_{per}"
    return [
        metered("cpu_cores", "CPU", Unit.CORES),
        metered("cpu_user_cores", "CPU, user", Unit.CORES),
        metered("cpu_system_cores", "CPU, system", Unit.CORES),
        seconds(f"cpu_seconds_{per}", f"CPU {title}", control=generator, warmup=compilers, metered=True),
        seconds(compilers, f"Compilers' CPU {title}", added=True, metered=True),
        metered(f"instructions_{per}", f"Instructions {title}", Unit.COUNT, method_1=BY_DUE),
        metered("services_cpu_cores", "Services' CPU", Unit.CORES),
        seconds(f"services_cpu_seconds_{per}", f"Services' CPU {title}", metered=True),
        metered("memory_bytes.mean", "Memory mean", Unit.BYTES),
        metered("memory_bytes.peak", "Memory peak", Unit.BYTES),
        Metric("network_in_bytes_per_second", "Network in", Unit.BYTES_PER_SECOND),
        Metric("network_out_bytes_per_second", "Network out", Unit.BYTES_PER_SECOND),
        metered("context_switches_per_second", "Context switches", Unit.PER_SECOND),
        metered("threads", "Threads", Unit.COUNT),
        metered("open_files_ratio", "Open files / limit", Unit.RATIO, added=True),
        Metric("generator_cpu_cores", "Generator CPU", Unit.CORES),
        seconds(generator, f"Generator CPU {title}"),
        Metric("generator_spin_cores", "Generator spinning", Unit.CORES, since=2),
        Metric("steal_ratio", "Steal", Unit.RATIO),
    ]


def _outages() -> list[Metric]:
    metric = partial(Metric, since=2, of_outage=True)
    return [
        metric("recovery_seconds", "Recovery", Unit.SECONDS),
        *(metric(f"away_seconds.{point}", f"Away {point}", Unit.SECONDS) for point in POINTS),
        *(metric(f"reconnect_seconds.{point}", f"Reconnect {point}", Unit.SECONDS) for point in POINTS),
        metric("reconnect_attempts", "Reconnect attempts", Unit.COUNT),
        metric("clients_not_back", "Clients not back", Unit.COUNT),
        metric("outage_lost", "Lost in the outage", Unit.COUNT),
        metric("outage_loss_ratio", "Loss in the outage", Unit.RATIO),
        metric("lost_after_recovery", "Lost after recovery", Unit.COUNT),
        metric("outage_cpu_cores", "CPU in the outage", Unit.CORES, metered=True),
    ]


def cost(words: Vocabulary) -> str:
    """The metric with the least noise: the server's CPU for a unit of work."""
    return f"cpu_seconds_per_{words.work.name}"


def headlines(words: Vocabulary) -> list[str]:
    """The few metrics that represent a server when space is short."""
    return [words.headline, cost(words), "memory_bytes.peak", "loss_ratio", "throughput_per_second"]


def counted_otherwise(metrics: Iterable[Metric], method: int) -> str:
    """`method 1: deliveries out and ...`: how a record counts some of these differently from today; empty if it does
    not.
    """
    clauses = dict.fromkeys(metric.method_1 for metric in metrics if metric.method_1)
    return f"method 1: {'; '.join(clauses)} (docs/method.md)" if clauses and method == 1 else ""
