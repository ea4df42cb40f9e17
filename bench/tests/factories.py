"""Complete records and thresholds without a run; each test changes the parts that it checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pushbench.judging.thresholds import Thresholds
from pushbench.judging.thresholds_reader import KnownSuite, read_thresholds
from pushbench.metrics.definitions import metrics_of
from pushbench.records.environment import METHOD, Commit, Environment, Harness
from pushbench.records.load_report import Receipts
from pushbench.records.record import (
    Failure,
    Finding,
    PlannedTrial,
    Record,
    ReportedVersions,
    Schedule,
    StagePlan,
    StageResult,
    Trial,
    Validity,
)
from pushbench.records.vocabulary import ORIGINAL

SERVERS = ("fastapi", "node-ws", "spring-stomp", "spring-websocket")
STAGES = (100, 300, 700, 1000)
CLASSROOM = {"classroom-300": 300, "classroom-1000": 1000}
LIMITS = """\
version: 1
suites:
  whiteboard:
    limits:
      loss_ratio: {max: 1%}
      delivery_seconds.p95: {max: 500ms}
"""


METRICS = metrics_of(ORIGINAL)
WORDS = ORIGINAL.model_dump_json()
"""JSON is YAML, too"""


def known_suite(*stages: str) -> KnownSuite:
    """A suite without limits and margins of its own."""
    return KnownSuite(stages, METRICS)


def make_thresholds(folder: Path, text: str = LIMITS, servers: Sequence[str] = SERVERS) -> Thresholds:
    file = folder / "thresholds.yml"
    file.write_text(text)
    return read_thresholds(
        file,
        suites={"whiteboard": known_suite(*map(str, STAGES), *CLASSROOM), "posts": known_suite()},
        servers=dict.fromkeys(servers, "whiteboard"),
    )


Metrics = Mapping[str, float | None]


def make_metrics(clients: int) -> dict[str, float | None]:
    """Results of a quick server with boards of 10."""
    latencies = {
        f"{kind}_seconds.{point}": milliseconds * factor / 1e3
        for kind, factor in {"echo": 0.8, "delivery": 1.0, "fanout": 1.4, "lateness": 0.2, "connect": 2.0}.items()
        for point, milliseconds in {"mean": 0.9, "p50": 0.7, "p95": 2.1, "p99": 4.34, "max": 23.0}.items()
    }
    rare = {f"{kind}_seconds.p999": 0.012 for kind in ("echo", "delivery", "fanout")}
    return {
        **rare,
        "delivery_seconds.worst_second": 0.004,
        "clients": clients,
        "clients_missing_ratio": 0.0,
        "connect_late_ratio": 0.0,
        "connect_failures": 0,
        "disconnects": 0,
        "messages_per_second": float(clients),
        "throughput_per_second": clients * 10.0,
        "offered_per_second": clients * 10.0,
        "loss_ratio": 0.0,
        "duplicate_ratio": 0.0,
        "out_of_order_ratio": 0.0,
        "corrupt_ratio": 0.0,
        **latencies,
        "lateness_share.p95": 0.2,
        "lateness_share.p99": 0.2,
        "cpu_cores": clients * 0.00041,
        "cpu_user_cores": clients * 0.00021,
        "cpu_system_cores": clients * 0.0002,
        "cpu_seconds_per_delivery": 41e-6,
        "services_cpu_cores": None,
        "memory_bytes.mean": 61e6,
        "memory_bytes.peak": 66.2e6,
        "network_in_bytes_per_second": clients * 250.0,
        "network_out_bytes_per_second": clients * 2500.0,
        "context_switches_per_second": 5000.0,
        "threads": 11,
        "open_files_ratio": clients / 20_000,
        "generator_cpu_cores": clients * 0.0002,
        "generator_cpu_seconds_per_delivery": 20e-6,
        "steal_ratio": 0.0,
    }


def make_stage(clients: int, metrics: Metrics = MappingProxyType({}), **changed: Any) -> StageResult:
    return StageResult(
        clients=clients,
        **changed,
        begin_seconds=11.0,
        end_seconds=17.0,
        metrics={**make_metrics(clients), **metrics},
        receipts=Receipts(expected=60, received=60, lost=0, duplicate=0, out_of_order=0, ineligible=0, corrupt=0),
        arrived=60,
        histograms={},
    )


STARTED = datetime(2026, 11, 21, 10, 15, 4, tzinfo=UTC)
"""of the first round"""


def make_trial(server: str, round_: int = 1, *, results: Sequence[StageResult] | None = None, **changed: Any) -> Trial:
    values: dict[str, Any] = {
        "server": server,
        "arm": "head",
        "round": round_,
        "order": 0,
        "seed": 1 + round_,
        "started": (STARTED + timedelta(seconds=70 * (round_ - 1))).isoformat(),
        "seconds": 68.0,
        "build": "5f3c9a7de21b44f0",
        "reported": ReportedVersions(server=server, runtime="Node.js 20.20.2", framework="ws 8.23.0"),
        "failure": None,
        "validity": Validity(valid=True, reasons=[], warnings=[]),
        "stages": [make_stage(clients) for clients in STAGES] if results is None else results,
        "timeline": None,
        "resources": None,
        "errors": [],
    }
    return Trial(**(values | changed))


def measured(server: str, metrics: Metrics, *, round_: int = 1, at: int = STAGES[-1]) -> Trial:
    """A trial that differs from the default only in these metrics at `at` clients."""
    return make_trial(server, round_, results=[make_stage(each, metrics if each == at else {}) for each in STAGES])


def in_classroom(server: str, metrics: Metrics = MappingProxyType({}), *, round_: int = 1) -> Trial:
    """A trial that also has boards of 100; `metrics` belong to its last stage."""
    trial = make_trial(server, round_)
    large = [
        make_stage(
            clients,
            {
                "throughput_per_second": clients * 100.0,
                "offered_per_second": clients * 100.0,
                "delivery_seconds.p95": 0.043,
                "cpu_seconds_per_delivery": 14.2e-6,
                **(metrics if clients == 1000 else {}),
            },
            name=name,
            parameters={"board_size": 100},
        )
        for name, clients in CLASSROOM.items()
    ]
    return trial.model_copy(update={"stages": [*trial.stages, *large]})


def by_method_1(record: Record) -> Record:
    """The record as it was before throughput counted arrivals: without the fields and metrics that were added then."""

    def stage(of: StageResult) -> StageResult:
        known = {name: value for name, value in of.metrics.items() if name not in METHOD_2_ONLY}
        return of.model_copy(update={"arrived": None, "metrics": known})

    trials = [trial.model_copy(update={"stages": [stage(each) for each in trial.stages]}) for trial in record.trials]
    environment = record.environment.model_copy(update={"method": None, "key": "ba9876543210"})
    return record.model_copy(update={"environment": environment, "trials": trials})


METHOD_2_ONLY = {
    "generator_spin_cores",
    "offered_per_second",
    "connect_late_ratio",
    "lateness_share.p95",
    "lateness_share.p99",
}


def invalid(trial: Trial, message: str = "the generator used 92 % of its CPU, above 80 %", stage: int = 3) -> Trial:
    finding = Finding(code="generator_cpu", message=message, stage=stage)
    return trial.model_copy(update={"validity": Validity(valid=False, reasons=[finding], warnings=[])})


def failed(server: str, round_: int = 1, *, message: str = "no answer on /healthz within 60 s", log: str = "") -> Trial:
    failure = Failure(step="start", message=message, log_tail=log)
    return make_trial(server, round_, results=(), failure=failure, reported=None, seconds=60.0)


def make_record(trials: Sequence[Trial], *, planned: Sequence[Trial] = (), **changed: Any) -> Record:
    """A record of `trials`; the `planned` ones did not run."""
    plan = [
        PlannedTrial(server=each.server, arm=each.arm, round=each.round, order=order, seed=each.seed)
        for order, each in enumerate([*trials, *planned])
    ]
    values: dict[str, Any] = {
        "id": "20261121T101500Z-1a2b3c",
        "created": "2026-11-21T10:15:00+00:00",
        "commit": Commit(
            sha="770fdf8a1b2c3d4e5f60718293a4b5c6d7e8f901",
            ref="main",
            subject="Describe the load report",
            author_time="2026-11-20T18:00:00+00:00",
            dirty=False,
        ),
        "harness": Harness(pushbench="0.1.0", k6="v1.8.1", extension="5f3c9a7d", go="go1.25.1"),
        "environment": ENVIRONMENT,
        "suite": "whiteboard",
        "profile": "quick",
        "parameters": {"board_size": 10, "pattern": "steady"},
        "schedule": SCHEDULE,
        "thresholds_digest": None,
        "plan": plan,
        "trials": list(trials),
    }
    return Record(**(values | changed))


ENVIRONMENT = Environment(
    key="0123456789ab",
    cpu_model="AMD EPYC 7763 64-Core Processor",
    cpus=4,
    physical_cores=2,
    memory_bytes=16 * 2**30,
    kernel="6.18",
    engine=None,
    driver="process",
    server_cpus=[0, 1],
    generator_cpus=[2, 3],
    method=METHOD,
)

SCHEDULE = Schedule(
    warmup_seconds=8,
    stages=[StagePlan(clients=each, ramp_seconds=2, settle_seconds=1, steady_seconds=6) for each in STAGES],
    drain_seconds=10,
)

CLASSROOM_SCHEDULE = SCHEDULE.model_copy(
    update={
        "stages": [
            *SCHEDULE.stages,
            *(
                StagePlan(
                    clients=clients,
                    name=name,
                    ramp_seconds=2,
                    settle_seconds=1,
                    steady_seconds=6,
                    parameters={"board_size": 100},
                )
                for name, clients in CLASSROOM.items()
            ),
        ]
    }
)
