"""Load reports, usage and windows of a trial without problems; each test changes the parts that it checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushbench.machine.disturbance import Machine
from pushbench.machine.resources import Usage
from pushbench.machine.sampling import Sample
from pushbench.metrics.results import Window, stage_result
from pushbench.records.environment import METHOD, Environment
from pushbench.records.load_report import (
    Beside,
    Clients,
    GeneratorVersions,
    Histograms,
    LoadReport,
    LoadTimeline,
    Messages,
    Outage,
    Receipts,
    ReportedError,
    Shortage,
    StageReport,
    Traffic,
)
from pushbench.records.record import StageResult
from pushbench.records.vocabulary import ORIGINAL, Exchange, Latency
from pushbench.statistics.histogram import Latencies

WINDOW_SECONDS = 6.0

ENVIRONMENT = Environment(
    key="0123456789ab",
    cpu_model="Any",
    cpus=4,
    physical_cores=4,
    memory_bytes=8 * 2**30,
    kernel="6.18",
    engine=None,
    driver="process",
    server_cpus=[0, 1],
    generator_cpus=[2, 3],
    method=METHOD,
)


def histogram(seconds: float, count: int) -> str:
    latencies = Latencies()
    if count:
        latencies.record(seconds, count)
    return latencies.encode()


def stage_report(
    *,
    clients: int = 100,
    received: int = 6_000,
    lost: int = 0,
    lateness: float = 0.0001,
    delivery: float = 0.002,
    **changed: Any,
) -> StageReport:
    """A stage of six seconds; `changed` are its name, parameters, arrivals, fields of its clients or its receipts."""
    of_clients = {
        "target": clients,
        "playing": clients,
        "connected": clients,
        "members": clients,
        "groups": clients // 10,
        "connect_failures": 0,
        "disconnects": 0,
        "late": 0,
    }
    of_receipts = {
        "expected": received + lost,
        "received": received,
        "lost": lost,
        "duplicate": 0,
        "out_of_order": 0,
        "ineligible": 0,
        "corrupt": 0,
        "superseded": 0,
    }
    messages = (received + lost) // 10
    return StageReport(
        name=changed.get("name", str(clients)),
        parameters=changed.get("parameters", {}),
        begin_us=1_000_000,
        end_us=1_000_000 + int(WINDOW_SECONDS * 1e6),
        clients=Clients(**{key: changed.get(key, value) for key, value in of_clients.items()}),
        messages=Messages(due=messages, sent=messages, unsent=0),
        receipts=Receipts(**{key: changed.get(key, value) for key, value in of_receipts.items()}),
        arrived=changed.get("arrived", received),
        traffic=Traffic(sent_bytes=messages * 250, received_bytes=received * 250),
        spun_us=changed.get("spun_us", 0),
        beside=changed.get("beside", {}),
        outage=changed.get("outage"),
        histograms=Histograms(
            own=histogram(0.001, messages),
            each=histogram(delivery, received),
            last=histogram(0.003, messages),
            lateness=histogram(lateness, messages),
            connect=histogram(0.005, clients),
        ),
    )


def pings(*, sent: int = 600, lost: int = 0, seconds: float = 0.001) -> Beside:
    """The results of that many pings."""
    counts = {"expected": sent, "received": sent - lost, "lost": lost}
    none = {"duplicate": 0, "out_of_order": 0, "ineligible": 0, "corrupt": 0}
    return Beside(
        messages=Messages(due=sent, sent=sent, unsent=0),
        receipts=Receipts(**counts, **none),
        own=histogram(seconds, sent - lost),
    )


def outage(**changed: Any) -> Outage:
    """A server killed 1 s after the load began. Its 100 clients are back 2 s later; 40 of 900 receipts are lost."""
    counts = {"expected": 900, "received": 860, "lost": 40}
    none = {"duplicate": 0, "out_of_order": 0, "ineligible": 0, "corrupt": 0}
    found = Outage(
        kill="server",
        kill_us=1_000_000,
        begin_us=0,
        end_us=5_000_000,
        disconnects=100,
        attempts=250,
        failed=150,
        not_back=0,
        back_us=3_000_000,
        last_lost_us=1_100_000,
        lost_after=0,
        messages=Messages(due=90, sent=85, unsent=5),
        receipts=Receipts(**counts, **none),
        reconnect=histogram(0.02, 100),
        away=histogram(1.5, 100),
    )
    return found.model_copy(update=changed)


WITH_PINGS = ORIGINAL.model_copy(
    update={
        "exchanges": {
            **ORIGINAL.exchanges,
            "ping": Exchange(plural="Pings", latencies={"ack": Latency(title="Acknowledgement", until="own")}),
        }
    }
)


def result_of(report: StageReport, window: Window, cpus: int) -> StageResult:
    return stage_result(report, window, cpus, ORIGINAL)


def load_report(
    stages: Sequence[StageReport],
    *,
    segment: str = "0:1",
    began_unix_us: int = 0,
    seconds: int = 3,
    errors: Mapping[str, int] | None = None,
    shortages: Mapping[str, int] | None = None,
) -> LoadReport:
    return LoadReport(
        generator=GeneratorVersions(extension="0", k6="v0", go="go0"),
        protocol="tiny-json",
        url="http://127.0.0.1:1",
        seed=1,
        segment=segment,
        parameters={},
        started_unix_us=began_unix_us,
        started_monotonic_us=0,
        stages=list(stages),
        timeline=LoadTimeline(
            clients=[100] * seconds,
            sent=[20] * seconds,
            received=[200] * seconds,
            latency=[histogram(0.002, 200)] * seconds,
            expected=[210] * seconds,
            lost=[10] * seconds,
            sent_bytes=[20 * 250] * seconds,
            received_bytes=[200 * 250] * seconds,
        ),
        errors=[ReportedError(reason=reason, count=count) for reason, count in (errors or {}).items()],
        shortages=[
            Shortage.model_validate({"reason": reason, "count": count}) for reason, count in (shortages or {}).items()
        ],
    )


def usage(at: float, cpu_seconds: float, *, memory_bytes: int = 50_000_000, **changed: Any) -> Usage:
    return Usage(
        at=at,
        cpu_seconds=cpu_seconds,
        user_seconds=changed.get("user_seconds", cpu_seconds * 0.6),
        system_seconds=changed.get("system_seconds", cpu_seconds * 0.4),
        memory_bytes=memory_bytes,
        threads=changed.get("threads", 4),
        processes=1,
        open_files_ratio=changed.get("open_files_ratio"),
        context_switches=changed.get("context_switches", {}),
        waited_seconds=changed.get("waited_seconds", {}),
        compiler_seconds=changed.get("compiler_seconds", {}),
    )


def machine(at: float, **changed: Any) -> Machine:
    values: dict[str, Any] = {
        "steal_seconds": 0.0,
        "idle_seconds": 0.0,
        "taken_seconds": 0.0,
        "own_seconds": 0.0,
        "swapped_bytes": 0,
        "throttled": 0,
        "clock_offset_seconds": 1.7e9,
        "frequency_hz": 2e9,
        "others": {},
        "memory_threads": {},
    }
    return Machine(at=at, **(values | changed))


def window(
    *,
    server_cpu: float = 1.2,
    generator_cpu: float = 3.0,
    services_cpu: float | None = None,
    waited: float | None = None,
    compiled: float | None = None,
    instructions: tuple[float, float] | tuple[None, None] = (None, None),
    **changed: Any,
) -> Window:
    """Six seconds in which the programs use these CPU seconds, and threads of the server wait for a CPU for `waited`
    seconds and compile for `compiled`. `changed` are differences of the machine at the end.
    """
    first, last = instructions
    at = 1.0 + WINDOW_SECONDS
    services = (None, None) if services_cpu is None else (usage(1.0, 2.0), usage(at, 2.0 + services_cpu))
    waits: tuple[dict[int, float], ...] = ({}, {}) if waited is None else ({1: 7.0}, {1: 7.0 + waited})
    compilers: tuple[dict[int, float], ...] = ({}, {}) if compiled is None else ({2: 3.0}, {2: 3.0 + compiled})
    before, after = (
        usage(moment, spent, waited_seconds=waited_for, compiler_seconds=compiling)
        for moment, spent, waited_for, compiling in zip(
            (1.0, at), (10.0, 10.0 + server_cpu), waits, compilers, strict=True
        )
    )
    begin = Sample(1.0, before, services[0], usage(1.0, 5.0), machine(1.0), first)
    end = Sample(at, after, services[1], usage(at, 5.0 + generator_cpu), machine(at, **changed), last)
    return Window(begin, end, [begin, end])
