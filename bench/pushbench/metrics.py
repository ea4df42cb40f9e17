"""What can be measured: each metric's name, meaning, unit and better direction. Values are in base units.

A metric's name is its key in a record's stage and in `thresholds.yml`; `delivery_seconds.p95` is one name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

METHOD = 2
"""the number of these definitions, kept in each record's environment; docs/method.md says what 1 was"""
BY_DUE = "deliveries out and costs per delivery count what was due in the window, not what arrived in it"
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
    """how records of method 1 count it, where that is otherwise: a clause"""


def _latencies() -> list[Metric]:
    kinds = {
        "echo": ("Echo", 1, ""),
        "delivery": ("Delivery", 1, ""),
        "fanout": ("Fan-out", 1, ""),
        "lateness": ("Send lateness", 1, ""),
        "connect": ("Connect", 2, FROM_DIALLING),
    }
    return [
        Metric(f"{kind}_seconds.{point}", f"{title} {point}", Unit.SECONDS, since=since, method_1=method_1)
        for kind, (title, since, method_1) in kinds.items()
        for point in ("mean", "p50", "p95", "p99", "max")
    ]


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in [
        Metric("clients", "Clients", Unit.COUNT, Better.HIGHER),
        Metric("clients_missing_ratio", "Clients missing", Unit.RATIO),
        Metric("connect_late_ratio", "Clients late", Unit.RATIO, since=2),
        Metric("connect_failures", "Connect failures", Unit.COUNT),
        Metric("disconnects", "Disconnects", Unit.COUNT),
        Metric("messages_per_second", "Messages in", Unit.PER_SECOND, Better.HIGHER),
        Metric("throughput_per_second", "Deliveries out", Unit.PER_SECOND, Better.HIGHER, method_1=BY_DUE),
        Metric("offered_per_second", "Deliveries due", Unit.PER_SECOND, Better.HIGHER, since=2),
        Metric("loss_ratio", "Loss", Unit.RATIO),
        Metric("duplicate_ratio", "Duplicates", Unit.RATIO),
        Metric("out_of_order_ratio", "Out of order", Unit.RATIO),
        Metric("corrupt_ratio", "Corrupt", Unit.RATIO),
        *_latencies(),
        Metric("lateness_share.p95", "Lateness / delivery p95", Unit.RATIO, since=2),
        Metric("lateness_share.p99", "Lateness / delivery p99", Unit.RATIO, since=2),
        Metric("cpu_cores", "CPU", Unit.CORES),
        Metric("cpu_user_cores", "CPU, user", Unit.CORES),
        Metric("cpu_system_cores", "CPU, system", Unit.CORES),
        Metric("cpu_seconds_per_delivery", "CPU per delivery", Unit.SECONDS, method_1=BY_DUE),
        Metric("instructions_per_delivery", "Instructions per delivery", Unit.COUNT, method_1=BY_DUE),
        Metric("services_cpu_cores", "Services' CPU", Unit.CORES),
        Metric("services_cpu_seconds_per_delivery", "Services' CPU per delivery", Unit.SECONDS, method_1=BY_DUE),
        Metric("memory_bytes.mean", "Memory mean", Unit.BYTES),
        Metric("memory_bytes.peak", "Memory peak", Unit.BYTES),
        Metric("network_in_bytes_per_second", "Network in", Unit.BYTES_PER_SECOND),
        Metric("network_out_bytes_per_second", "Network out", Unit.BYTES_PER_SECOND),
        Metric("context_switches_per_second", "Context switches", Unit.PER_SECOND),
        Metric("threads", "Threads", Unit.COUNT),
        Metric("generator_cpu_cores", "Generator CPU", Unit.CORES),
        Metric("generator_cpu_seconds_per_delivery", "Generator CPU per delivery", Unit.SECONDS, method_1=BY_DUE),
        Metric("steal_ratio", "Steal", Unit.RATIO),
    ]
}


def counted_otherwise(metrics: Iterable[str], method: int) -> str:
    """`method 1: deliveries out and ...`: how a record counts some of these otherwise than today. Else nothing."""
    clauses = dict.fromkeys(clause for each in metrics if each in METRICS and (clause := METRICS[each].method_1))
    return f"method 1: {'; '.join(clauses)} (docs/method.md)" if clauses and method == 1 else ""
