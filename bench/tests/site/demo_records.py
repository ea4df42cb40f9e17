"""Whole records of an invented history, with timelines, resources and histograms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from pushbench.records.environment import Commit
from pushbench.records.load_report import Receipts, ReportedError
from pushbench.records.record import (
    Comparison,
    Failure,
    Finding,
    PlannedTrial,
    Record,
    Skipped,
    StageResult,
    Trial,
    Validity,
)
from pushbench.records.seconds import Resources, Timeline
from pushbench.statistics.histogram import Latencies
from tests.factories import ENVIRONMENT
from tests.site.demo_setting import OLD, STAGES, Demo, is_old, make_harness, make_reported, make_schedule, moment_of


def make_record(demo: Demo, entry: dict[str, Any], number: int, variant: int, *, old: bool = False) -> Record:
    """A complete record with the values of an entry. The third newest is a comparison, the fifth a run that fails.

    An `old` record is from before loss and network bytes were counted by the second.
    """
    comparison = variant == 3
    arms = ("head", "base") if comparison else ("head",)
    rounds = 6 if comparison else 1
    names = list(entry["servers"])[:2] if comparison else list(entry["servers"])
    trials = [
        _trial(demo, name, entry["servers"][name]["stages"], arm, round_, number, broken=variant == 5, old=old)
        for round_ in range(1, rounds + 1)
        for name in names
        for arm in arms
    ]
    return Record(
        id=entry["record"],
        created=entry["created"],
        commit=_commit(entry["commit"], entry["subject"], entry["created"]),
        harness=make_harness(demo, number),
        environment=OLD if is_old(demo, number) else ENVIRONMENT,
        suite="whiteboard",
        profile="compare" if comparison else "full",
        parameters=entry["parameters"],
        schedule=make_schedule(demo),
        thresholds_digest=None,
        skipped=[Skipped(server="bun-native", reason=f"needs bun >=1.3: {demo.subjects[0]}")],
        comparison=_comparison(entry) if comparison else None,
        plan=[PlannedTrial(**trial.model_dump(include=set(PlannedTrial.model_fields))) for trial in trials],
        trials=trials,
    )


def _comparison(entry: dict[str, Any]) -> Comparison:
    base = _commit("ba5e" * 10, "What it is compared with", entry["created"])
    return Comparison(base=base, most_rounds=6, identical=["go"], one_sided=[])


def _commit(sha: str, subject: str, created: str) -> Commit:
    return Commit(sha=sha, ref="main", subject=subject, author_time=created, dirty=False)


SECONDS = 20 + len(STAGES) * 70
SYSTEM = {"app": 0.7, "db": 0.3}
"""the parts of the first server, with their shares of its use"""
LOSSES = slice(91, 98)
"""during a ramp, so that no stage has losses"""


def _trial(
    demo: Demo,
    name: str,
    stages: dict[str, dict[str, float]],
    arm: str,
    round_: int,
    number: int,
    *,
    broken: bool,
    old: bool,
) -> Trial:
    random = np.random.default_rng([demo.seed, number, round_, arm == "base", len(name)])
    valid = bool(stages)
    parts = SYSTEM if name == demo.servers[0] else {}
    results = [
        _result(index, int(size), values, random, arm, parts=parts)
        for index, (size, values) in enumerate(stages.items())
    ]
    text = demo.subjects[number % len(demo.subjects)]
    failed = broken and name == demo.servers[2 % len(demo.servers)]
    reason = Finding(code="generator_cpu", message="the generator used 92 % of its CPU, above 80 %", stage=0)
    return Trial(
        server=name,
        arm="base" if arm == "base" else "head",
        round=round_,
        order=0,
        seed=1,
        started=moment_of(number).isoformat(),
        seconds=float(SECONDS),
        build=f"{len(name):016x}",
        reported=make_reported(demo, name, number),
        failure=Failure(step="load", message=f"the server ended: {text}", log_tail=f"Error: {text}\n  at x")
        if failed
        else None,
        validity=Validity(valid=valid, reasons=[] if valid else [reason], warnings=[]),
        stages=results,
        timeline=_timeline(random, old=old),
        resources=_resources(random),
        errors=[ReportedError(reason=f"close 1011: {text}", count=3)] if failed else [],
    )


def _part(metrics: dict[str, float | None], share: float) -> dict[str, float | None]:
    names = ("cpu_cores", "cpu_seconds_per_delivery", "memory_bytes.peak")
    return {name: share * value for name in names if (value := metrics.get(name)) is not None}


def _result(
    index: int,
    clients: int,
    values: dict[str, float],
    random: np.random.Generator,
    arm: str,
    *,
    parts: Mapping[str, float],
) -> StageResult:
    factor = (0.88 if arm == "base" else 1.0) * float(random.lognormal(0, 0.01))
    metrics: dict[str, float | None] = dict(values)
    metrics["cpu_seconds_per_delivery"] = values["cpu_seconds_per_delivery"] * factor
    metrics |= {f"echo_seconds.{point}": values[f"delivery_seconds.{point}"] * 0.9 for point in ("p50", "p99", "max")}
    metrics |= {
        "echo_seconds.mean": values["delivery_seconds.p50"] * 1.2,
        "generator_cpu_seconds_per_delivery": 2e-5 * float(random.lognormal(0, 0.02)),
        "clients_missing_ratio": 0.0,
        "duplicate_ratio": 0.0,
        "out_of_order_ratio": 0.0,
        "corrupt_ratio": 0.0,
        "disconnects": 0,
        "fanout_seconds.p99": values["delivery_seconds.p99"] * 1.2,
        "network_in_bytes_per_second": clients * 250.0,
    }
    spread = _latencies(round(np.log(values["delivery_seconds.p50"] / 1e-5) * 4))
    begin = 30.0 + 70 * index
    return StageResult(
        clients=clients,
        begin_seconds=begin,
        end_seconds=begin + 60,
        metrics=metrics,
        parts={part: _part(metrics, share) for part, share in parts.items()},
        receipts=Receipts(expected=600, received=600, lost=0, duplicate=0, out_of_order=0, ineligible=0, corrupt=0),
        histograms={"echo": spread, "delivery": spread, "fanout": spread},
    )


@cache
def _latencies(step: int) -> str:
    random = np.random.default_rng(step)
    latencies = Latencies()
    for value in random.lognormal(np.log(1e-5) + step / 4, 0.8, 3_000).tolist():
        latencies.record(value, 20)
    return latencies.encode()


def _timeline(random: np.random.Generator, *, old: bool) -> Timeline:
    clients = list(_clients())
    delay = random.lognormal(np.log(5e-4), 0.2, SECONDS)
    sent = random.poisson(clients)
    lost = np.zeros(SECONDS, dtype=int)
    lost[LOSSES] = sent[LOSSES] * random.integers(0, 3, len(lost[LOSSES]))
    received = sent * 10 - lost
    counted: dict[str, list[int]] = {
        "expected": (sent * 10).tolist(),
        "lost": lost.tolist(),
        "network_in_bytes": (sent * 250).tolist(),
        "network_out_bytes": (received * 250).tolist(),
    }
    return Timeline(
        clients=clients,
        sent=sent.tolist(),
        received=received.tolist(),
        latency_p50_seconds=[float(each) if size else None for each, size in zip(delay, clients, strict=True)],
        latency_p95_seconds=(delay * 3).tolist(),
        latency_p99_seconds=(delay * 7).tolist(),
        latency_max_seconds=(delay * 7 * random.uniform(1, 5, SECONDS)).tolist(),
        **({} if old else counted),
    )


def _clients() -> Iterator[int]:
    for second in range(SECONDS):
        yield 0 if second < 2 else STAGES[min(len(STAGES) - 1, max(0, (second - 20) // 70))]


def _resources(random: np.random.Generator) -> Resources:
    cores = np.array(list(_clients())) * 3e-4 * random.lognormal(0, 0.05, SECONDS)
    return Resources(
        seconds=[float(second) for second in range(SECONDS)],
        cpu_cores=cores.tolist(),
        memory_bytes=(60e6 + 30e6 * np.linspace(0, 1, SECONDS)).astype(int).tolist(),
        threads=[11] * SECONDS,
        services_cpu_cores=[None] * SECONDS,
        generator_cpu_cores=(cores * 0.7).tolist(),
    )
