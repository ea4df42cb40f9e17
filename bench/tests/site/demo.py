"""Years of invented history, the same for the same seed: for tests, and to look at the site with much behind it.

`python -m tests.site.demo FOLDER` writes `FOLDER/history` and `FOLDER/records`, which `pushbench site` reads, and into
`FOLDER/site` the releases, as an earlier site has kept them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushbench import history, releases, store
from pushbench.histogram import Latencies
from pushbench.load_report import Deliveries, Histograms, ReportedError
from pushbench.record import (
    Commit,
    Comparison,
    Failure,
    Finding,
    Harness,
    PlannedTrial,
    Record,
    ReportedVersions,
    Resources,
    Schedule,
    Skipped,
    StagePlan,
    StageResult,
    Timeline,
    Trial,
    Validity,
)
from pushbench.releases import Release
from pushbench.tools import tools
from tests.factories import ENVIRONMENT

SERVERS = (
    *("actix", "bun", "fastapi", "fastapi-workers-redis", "fastapi-workers-redis/channel-per-board", "go"),
    *("node-cluster-redis", "node-cluster-redis/channel-per-board", "node-uws", "node-ws", "spring-stomp"),
    *("spring-stomp/virtual-threads", "spring-websocket", "elixir-phoenix", "erlang-cowboy", "dotnet-signalr"),
    *("ruby-anycable", "php-swoole", "nestjs-socketio"),
)
STAGES = (100, 500, 1000)
METRICS = {
    "messages_per_second": (1.0, 0.0),
    "throughput_per_second": (10.0, 0.0),
    "loss_ratio": (0.0, 0.0),
    "delivery_seconds.p50": (0.4e-3, 0.06),
    "delivery_seconds.p95": (1.1e-3, 0.09),
    "delivery_seconds.p99": (3.2e-3, 0.16),
    "delivery_seconds.max": (14e-3, 0.3),
    "echo_seconds.p95": (1.0e-3, 0.09),
    "cpu_cores": (0.3, 0.02),
    "cpu_seconds_per_delivery": (30e-6, 0.02),
    "memory_bytes.peak": (90e6, 0.03),
    "network_out_bytes_per_second": (2.5e6, 0.002),
}
"""value of a middling server and scatter between runs; the first two for each client"""
COST = {"cpu_cores", "cpu_seconds_per_delivery"}
BEGIN = datetime(2022, 11, 24, 6, tzinfo=UTC)
HOURS = 7
CHANGE_EVERY = 600
"""runs in which a server's level changes once, on average"""
OLD = ENVIRONMENT.model_copy(
    update={
        "key": "5ee1f00dbabe",
        "kernel": "6.1",
        "cpu_model": "Intel(R) Xeon(R) Platinum 8272CL CPU @ 2.60GHz",
        "method": None,
    }
)
TRIED = range(-13, -7)
"""runs, counted from where the newest environment begins, for which it was tried before; then the older one was back"""
BEHIND = 2
"""index of a server that delivers less than is due in the largest stage"""
NEW_K6, NEW_GO = -5, -7
"""runs, counted from the end, from which k6 and the runtime of `go` are newer ones"""
SUBJECTS = (
    *("Send each stroke once per board", "Bump ws to 8.23.0 (#412)", "Read frames into one buffer", "Tidy the tests"),
    *("Count members without a lock (#398)", "Release 1.4.0", "Parse strokes lazily", "Undo the batching of writes"),
)
HOSTILE = (
    "<img src=x onerror=\"document.title='pwned'\">",
    "</script><script>document.title='pwned'</script>",
    "'); document.title='pwned'; ('",
    "\\'); document.title='pwned'; //",
    "__proto__",
    '=HYPERLINK("https://example.org";"pwned") | a \u202e b \u2028 c `d` [e](javascript:alert(1))',
    "A subject that does not end " * 12,
)

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Demo:
    """What is invented: `runs` of the newest environment after `older` of another, the last `records` with records, and
    the last one of the other environment."""

    runs: int = 5_000
    older: int = 300
    records: int = 12
    servers: tuple[str, ...] = SERVERS
    subjects: tuple[str, ...] = SUBJECTS
    stages: tuple[int, ...] = STAGES
    seed: int = 7


def write(folder: Path, demo: Demo = Demo()) -> None:
    levels = _levels(demo)
    total = demo.older + demo.runs
    for number in range(total):
        entry = _entry(demo, levels[number], number)
        if number >= total - demo.records or number == demo.older - 1:
            record = make_record(demo, entry, number, variant=total - number, old=number <= total - demo.records)
            store.write_record(folder / "records", record)
            if record.comparison is None:
                history.append(folder / "history", record)
        else:
            path = folder / "history" / entry["environment"] / "whiteboard" / "full" / f"{entry['record']}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(entry, separators=(",", ":")))
    (folder / "site").mkdir(parents=True)
    (folder / "site" / releases.FILE).write_bytes(releases.as_json(make_releases(demo)))


def make_releases(demo: Demo) -> list[Release]:
    """Now and then three in a row. Of each three the first is a commit that was measured, the others were made an hour
    after a run. One is older than all runs, one newer."""
    total = demo.older + demo.runs
    found = [Release(name="v0.9.0", commit="e" * 40, date=_moment(-9).isoformat())]
    for minor, number in enumerate(range(5, total - 3, max(8, min(60, total // 8)))):
        found.append(Release(name=f"v1.{minor}.0", commit=_sha(demo, number), date=_moment(number).isoformat()))
        for patch in (1, 2) if minor % 3 == 2 else ():
            date = _moment(number + patch) + timedelta(hours=1)
            found.append(
                Release(name=f"v1.{minor}.{patch}", commit=f"{minor}{patch}".rjust(40, "e"), date=date.isoformat())
            )
    return [*found, Release(name="v9.0.0", commit="f" * 40, date=_moment(total + 9).isoformat())]


def add_record(folder: Path, demo: Demo) -> None:
    """One more, after those of `write`."""
    number = demo.older + demo.runs
    levels = _levels(replace(demo, runs=demo.runs + 1))
    record = make_record(demo, _entry(demo, levels[number], number), number, variant=9)
    store.write_record(folder / "records", record)
    history.append(folder / "history", record)


def _levels(demo: Demo) -> Values:
    """Factors of shape (runs, servers, metrics): levels that change now and then, and scatter."""
    random = np.random.default_rng(demo.seed)
    runs, servers = demo.older + demo.runs, len(demo.servers)
    speed = np.exp(random.normal(0, 0.7, (servers, len(METRICS))))
    latencies = [index for index, name in enumerate(METRICS) if "_seconds." in name]
    speed[:, latencies] = speed[:, latencies[:1]]  # p99 is never below p95
    walk = np.zeros((runs, servers, len(METRICS)))
    for server in range(servers):
        for _ in range(max(1, runs // CHANGE_EVERY)):
            at, moved = random.integers(5, runs), random.integers(3, len(METRICS))
            walk[at:, server, moved] += random.choice([-1, 1]) * random.uniform(0.06, 0.3)
    walk[-18:, 9 % servers, list(METRICS).index("cpu_seconds_per_delivery")] += 0.14
    walk[-30:, 5 % servers, list(METRICS).index("delivery_seconds.p95")] -= 0.4
    walk[[number for number in range(demo.older) if _is_old(demo, number)]] += 0.25
    # A run's scatter does not depend on how many there are after it.
    scatter = np.stack([np.random.default_rng([demo.seed, run]).normal(size=walk.shape[1:]) for run in range(runs)])
    sizes = np.array([size for _, size in METRICS.values()])
    found: Values = np.where(sizes > 0, speed * np.exp(walk + scatter * sizes), 1.0)
    return found


def _is_old(demo: Demo, number: int) -> bool:
    return number < demo.older and number - demo.older not in TRIED


def _moment(number: int) -> datetime:
    return BEGIN + timedelta(hours=HOURS * number)


def _sha(demo: Demo, number: int) -> str:
    return f"{np.random.default_rng([demo.seed, number, 2]).integers(1 << 62):016x}".ljust(40, "0")


def _entry(demo: Demo, levels: Values, number: int) -> dict[str, Any]:
    moment = _moment(number)
    random = np.random.default_rng([demo.seed, number, 1])
    environment = OLD if _is_old(demo, number) else ENVIRONMENT
    present = [
        index for index in range(len(demo.servers)) if number >= index * demo.runs // 125 and not _gap(number, index)
    ]
    invalid = {int(index) for index in random.integers(0, len(demo.servers), 2)} if number % 37 == 0 else set()
    return {
        "schema": 1,
        "record": f"{moment:%Y%m%dT%H%M%SZ}-{number:06x}",
        "created": moment.isoformat(),
        "commit": _sha(demo, number),
        "subject": demo.subjects[number % len(demo.subjects)],
        "environment": environment.key,
        "suite": "whiteboard",
        "profile": "full",
        "parameters": {"board_size": 10, "pattern": "steady"},
        "tools": _tools(demo, number, [demo.servers[index] for index in present or [0]]),
        "method": environment.method,
        "servers": {
            demo.servers[index]: {
                "build": f"{index:016x}",
                "trials": 1,
                "valid_trials": int(index not in invalid),
                "failed_trials": 0,
                "stages": {}
                if index in invalid
                else {str(size): _values(levels[index], size, index, environment.method) for size in demo.stages},
            }
            for index in present or [0]
        },
    }


def _gap(number: int, server: int) -> bool:
    """Weeks in which a server was left out."""
    return (number // 90 + server * 7 + 1) % 23 == 0 and number % 5_000 < 4_900


def _values(levels: Values, clients: int, server: int, method: int | None) -> dict[str, float]:
    load = 0.4 + 0.6 * clients / max(STAGES)
    values = {"clients": float(clients)}
    for (name, (base, _)), factor in zip(METRICS.items(), levels.tolist(), strict=True):
        size = clients if name in ("messages_per_second", "throughput_per_second") else load
        values[name] = float(f"{base * size * factor:.5g}")
    if method:
        values["offered_per_second"] = values["throughput_per_second"]
        values["throughput_per_second"] *= 0.8 if server == BEHIND and clients == max(STAGES) else 1
    return values


def make_record(demo: Demo, entry: dict[str, Any], number: int, variant: int, *, old: bool = False) -> Record:
    """Whole, of the values of an entry. The third and the fifth newest are a comparison and a run that fails.

    One that is old is from before loss and network bytes were counted by the second.
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
        harness=_harness(demo, number),
        environment=OLD if _is_old(demo, number) else ENVIRONMENT,
        suite="whiteboard",
        profile="compare" if comparison else "full",
        parameters=entry["parameters"],
        schedule=_schedule(demo),
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


def _schedule(demo: Demo) -> Schedule:
    return Schedule(
        warmup_seconds=20,
        stages=[StagePlan(clients=each, ramp_seconds=5, settle_seconds=5, steady_seconds=60) for each in demo.stages],
        drain_seconds=30,
    )


SECONDS = 20 + len(STAGES) * 70
LOSSES = slice(91, 98)
"""in a ramp, so that no stage has any"""


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
    results = [_result(index, int(size), values, random, arm) for index, (size, values) in enumerate(stages.items())]
    text = demo.subjects[number % len(demo.subjects)]
    failed = broken and name == demo.servers[2 % len(demo.servers)]
    reason = Finding(code="generator_cpu", message="the generator used 92 % of its CPU, above 80 %", stage=0)
    return Trial(
        server=name,
        arm="base" if arm == "base" else "head",
        round=round_,
        order=0,
        seed=1,
        started=_moment(number).isoformat(),
        seconds=float(SECONDS),
        build=f"{len(name):016x}",
        reported=_reported(demo, name, number),
        failure=Failure(step="load", message=f"the server ended: {text}", log_tail=f"Error: {text}\n  at x")
        if failed
        else None,
        validity=Validity(valid=valid, reasons=[] if valid else [reason], warnings=[]),
        stages=results,
        timeline=_timeline(random, old=old),
        resources=_resources(random),
        errors=[ReportedError(reason=f"close 1011: {text}", count=3)] if failed else [],
    )


def _harness(demo: Demo, number: int) -> Harness:
    k6 = "v1.8.1" if number - demo.older - demo.runs >= NEW_K6 else "v1.7.0"
    return Harness(pushbench="0.1.0", k6=k6, extension="5f3c9a7d", go="go1.26.0")


def _tools(demo: Demo, number: int, servers: list[str]) -> dict[str, Any] | None:
    """The oldest entries are from before they had any."""
    if number < demo.older // 2:
        return None
    reported = {name: _reported(demo, name, number) for name in servers}
    return tools(_harness(demo, number), _schedule(demo), reported).model_dump()


def _reported(demo: Demo, name: str, number: int) -> ReportedVersions:
    return ReportedVersions(server=name, runtime=_runtime(demo, name, number), framework="ws 8.23.0")


def _runtime(demo: Demo, name: str, number: int) -> str:
    if name != "go":
        return "Node.js 24.21.0"
    return "go1.26.0" if number - demo.older - demo.runs >= NEW_GO else "go1.25.4"


def _result(index: int, clients: int, values: dict[str, float], random: np.random.Generator, arm: str) -> StageResult:
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
        deliveries=Deliveries(
            expected=600, delivered=600, lost=0, duplicate=0, out_of_order=0, ineligible=0, corrupt=0
        ),
        histograms=Histograms(echo=spread, delivery=spread, fanout=spread, lateness="", connect=""),
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
    delivered = sent * 10 - lost
    counted: dict[str, list[int]] = {
        "expected": (sent * 10).tolist(),
        "lost": lost.tolist(),
        "network_in_bytes": (sent * 250).tolist(),
        "network_out_bytes": (delivered * 250).tolist(),
    }
    return Timeline(
        clients=clients,
        sent=sent.tolist(),
        delivered=delivered.tolist(),
        delivery_p50_seconds=[float(each) if size else None for each, size in zip(delay, clients, strict=True)],
        delivery_p95_seconds=(delay * 3).tolist(),
        delivery_p99_seconds=(delay * 7).tolist(),
        delivery_max_seconds=(delay * 7 * random.uniform(1, 5, SECONDS)).tolist(),
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


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--runs", type=int, default=Demo.runs)
    asked.add_argument("--hostile", action="store_true", help="names and texts that try to be program")
    given = asked.parse_args()
    names = (*SERVERS[:4], *HOSTILE[:5]) if given.hostile else SERVERS
    write(given.folder, Demo(runs=given.runs, servers=names, subjects=HOSTILE if given.hostile else SUBJECTS))
