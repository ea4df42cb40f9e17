"""What binds a server at a load that it does not carry, derived from measurements at that load. Pure.

A server waits for one thing at a time. The first exhausted resource in the list below is named: it explains the others.
A server without CPU time accepts no clients, so a full CPU comes before missing connections.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pushbench.foundation.model import Document
from pushbench.metrics.definitions import OF_CONNECTING, Unit, metrics_of
from pushbench.metrics.units import format_number, format_quantity
from pushbench.metrics.validity import CPUS_FULL, SERVICES_AND_GENERATOR, services_saturated
from pushbench.records.capacity import CapacityRecord, Probe
from pushbench.records.vocabulary import Vocabulary

Resource = Literal[
    "process",
    "open_files",
    "cpu",
    "core",
    "connections",
    "services",
    "memory",
    "event_loop",
    "queue",
    "accepting",
    "unknown",
]

CORE = (0.90, 1.10)
"""CPU use of a server that has more cores: one thread does nearly all the work"""
MEMORY_FULL = 0.80
"""of the machine's memory"""
LATE_LOOP_SECONDS = 0.050
"""p99 lateness above which an event loop is too slow for every client"""
REFUSED = 0.001
"""of the clients"""
FILES_FULL = 0.98
"""of the files that it may have open: some close while others are counted"""


class Binding(Document):
    """The resource, and the numbers that show it."""

    resource: Resource = Field(
        description="process: the server ended; open_files: the server had no file left for a client; cpu: all CPUs "
        "of the server were full; core: one of several cores was full; connections: the server refused or lost "
        "connections; services: the CPUs of its services were full; memory: the memory was full; event_loop: the "
        "server reported a late event loop; queue: work waited although CPU was left; accepting: clients connected "
        "too slowly, and nothing was full once they were connected; unknown: nothing that was measured was full"
    )
    sentence: str


def binding_of(probe: Probe, record: CapacityRecord) -> Binding:
    """The resource that the probe shows; without a sign of any, it is reported as unknown."""
    return (
        _process(probe)
        or _open_files(probe)
        or _cpu(probe, record)
        or _connections(probe)
        or _services(probe, record)
        or _memory(probe, record)
        or _event_loop(probe, record.words)
        or _queue(probe, record)
        or _accepting(probe, record)
        or Binding(resource="unknown", sentence=f"nothing measured was full; {_idle(probe, record)}")
    )


def _process(probe: Probe) -> Binding | None:
    return Binding(resource="process", sentence=probe.failure.message) if probe.failure else None


def _open_files(probe: Probe) -> Binding | None:
    files, without = probe.metrics.get("open_files_ratio"), _connections(probe)
    if without is None or files is None or files < FILES_FULL:
        return None
    full = f"a process used {format_quantity(files, Unit.RATIO)} of its `ulimit -n`"
    return Binding(resource="open_files", sentence=f"{full}; {without.sentence}")


def _connections(probe: Probe) -> Binding | None:
    """Only if clients are missing or were disconnected: some failed attempts are not the limit."""
    missing, ended = probe.metrics.get("clients_missing_ratio"), probe.metrics.get("disconnects")
    if not (missing and missing > REFUSED) and not (ended and ended > REFUSED * probe.clients):
        return None
    seen = f"; clients saw {probe.errors[0].reason[:100]}" if probe.errors else ""
    clients = format_number(round(min(max(missing or 0.0, 0.0), 1.0) * probe.clients))
    sentence = (
        f"{clients} of {probe.clients:,} clients had no connection, {format_number(ended or 0)} lost theirs{seen}"
    )
    return Binding(resource="connections", sentence=sentence)


def _cpu(probe: Probe, record: CapacityRecord) -> Binding | None:
    used, cpus = probe.metrics.get("cpu_cores"), len(record.environment.server_cpus)
    if used is None:
        return None
    if used >= CPUS_FULL * cpus:
        return Binding(resource="cpu", sentence=f"{format_number(used)} of {_cores(cpus)} used")
    if CORE[0] <= used <= CORE[1]:
        return Binding(resource="core", sentence=f"one core full ({format_number(used)}) of {cpus}")
    return None


def _services(probe: Probe, record: CapacityRecord) -> Binding | None:
    services, cpus = probe.metrics.get("services_cpu_cores"), len(record.environment.generator_cpus)
    if services is None or not services_saturated(probe.metrics, cpus):
        return None
    sentence = f"its services used {format_number(services)} of {_cores(cpus)}, shared with the generator"
    return Binding(resource="services", sentence=sentence)


def _memory(probe: Probe, record: CapacityRecord) -> Binding | None:
    used, whole = probe.metrics.get("memory_bytes.peak"), record.environment.memory_bytes
    if used is None or used < MEMORY_FULL * whole:
        return None
    sizes = f"{format_quantity(used, Unit.BYTES)} of {format_quantity(whole, Unit.BYTES)}"
    return Binding(resource="memory", sentence=f"{sizes} of memory used")


def _event_loop(probe: Probe, words: Vocabulary) -> Binding | None:
    for name, told in words.told.items():
        late = probe.metrics.get(f"{name}_seconds.p99")
        if late is not None and late >= LATE_LOOP_SECONDS:
            sentence = f"{told.title.lower()} p99 {format_quantity(late, Unit.SECONDS)}, as the server tells"
            return Binding(resource="event_loop", sentence=sentence)
    return None


def _queue(probe: Probe, record: CapacityRecord) -> Binding | None:
    """Less arrives than is due, and no measured resource is exhausted: work waits inside the server."""
    arrived, due = (probe.metrics.get(name) for name in ("throughput_per_second", "offered_per_second"))
    behind = next((each for each in probe.broken if each.metric == "throughput_per_second"), None)
    if behind is None or arrived is None or due is None:
        return None
    metric = metrics_of(record.words)["throughput_per_second"]
    sentence = f"{metric.in_sentence} {format_number(arrived)} of {format_number(due)} /s; {_idle(probe, record)}"
    return Binding(resource="queue", sentence=sentence)


def _accepting(probe: Probe, record: CapacityRecord) -> Binding | None:
    """Only limits on connecting were broken: whatever connecting used is free again when the window begins."""
    if not probe.broken or not all(each.metric.startswith(OF_CONNECTING) for each in probe.broken):
        return None
    joined = probe.clients if probe.joined is None else probe.joined
    speed = f"{format_number(joined / max(probe.ramp_seconds, 1.0))} new clients per second"
    return Binding(resource="accepting", sentence=f"{speed} were too many; with all of them {_idle(probe, record)}")


def _idle(probe: Probe, record: CapacityRecord) -> str:
    """What the server used, and its services and the generator together: those may be nearly full."""
    used, cpus = probe.metrics.get("cpu_cores"), len(record.environment.server_cpus)
    server = f"it used {'an unknown part' if used is None else format_number(used)} of {_cores(cpus)}"
    services, generator = (probe.metrics.get(name) for name in SERVICES_AND_GENERATOR)
    if not services or generator is None:
        return server
    shared = _cores(len(record.environment.generator_cpus))
    return f"{server}, its services and the generator {format_number(services + generator)} of {shared}"


def _cores(number: int) -> str:
    return "1 core" if number == 1 else f"{number} cores"
