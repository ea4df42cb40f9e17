"""Capacities for readers: a few lines for each server."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from pushbench.metrics.carrying import CapacityResult, load_text
from pushbench.metrics.definitions import metrics_of
from pushbench.metrics.units import format_quantity
from pushbench.records.capacity import CLIENTS, CapacityRecord

BINDS = {
    "process": "the process",
    "open_files": "open files",
    "connections": "connections",
    "cpu": "CPU",
    "core": "one core",
    "services": "services",
    "memory": "memory",
    "event_loop": "event loop",
    "queue": "a queue",
    "accepting": "accepting clients",
    "unknown": "unknown",
}


def render_capacities(record: CapacityRecord, results: Sequence[CapacityResult], width: int = 80) -> str:
    """The servers by capacity, highest first, then those without a number; `width` columns if names are short."""
    what = "clients" if record.search.searched == CLIENTS else f"{record.words.exchange.plural.lower()}/s"
    lines = [f"{record.suite}: the most {what} within the limits of the suite", ""]
    for each in sorted(results, key=lambda found: (found.carried is None, -(found.carried or 0), found.server)):
        lines += [*_server(record, each, width), ""]
    lines += [f"{each.server}: skipped: {each.reason}" for each in record.skipped]
    return "\n".join(lines).rstrip() + "\n"


def _server(record: CapacityRecord, found: CapacityResult, width: int) -> Iterator[str]:
    def about(name: str, text: str) -> list[str]:
        return textwrap.wrap(text, max(30, width), initial_indent=f"  {name:<10}", subsequent_indent=" " * 12)

    if found.carried is None:
        yield f"{found.server}: {found.reason}"
        return
    least = "at least " if found.at_least else ""
    number = f"{least}{load_text(found.carried, record.search, record.words)}{_interval(found)}"
    yield f"{found.server}: {number if found.carried else 'no load was carried'}"
    yield from about("ended by", found.reason or "")
    if found.binding:
        yield from about("binds", f"{BINDS[found.binding.resource]}: {found.binding.sentence}")
    yield from about("for 1,000", _costs(record, found))
    if found.failure:
        yield from about("then it", found.failure)
    doubt = "" if found.confirmed else "; not confirmed in the available time"
    starts = ", ".join(f"{each:,}" for each in found.starts)
    yield from about("starts", f"{len(found.starts)}: {starts}{doubt}")


def _interval(found: CapacityResult) -> str:
    """From the least that a start carried to the most that one did not. A lower bound has no upper end."""
    if found.low is None or found.at_least or found.high is None:
        return ""
    return f" [{found.low:,} to {found.high:,}]"


def _costs(record: CapacityRecord, found: CapacityResult) -> str:
    metrics = metrics_of(record.words)
    names = {
        "cpu_cores": "CPU {} cores",
        "services_cpu_cores": "services {} cores",
        "memory_bytes.peak": "memory {}",
        "network_in_bytes_per_second": "in {}",
        "network_out_bytes_per_second": "out {}",
    }
    parts = [
        text.format(format_quantity(value, metrics[name].unit))
        for name, text in names.items()
        if (value := found.per_1000.get(name)) is not None
    ]
    return ", ".join(parts) or "not measured"
