"""Entries of an invented history: levels of each server and metric that change now and then, and scatter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.factories import ENVIRONMENT
from tests.site.demo_setting import OLD, STAGES, Demo, is_old, make_tools, moment_of, sha_of

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
"""value of an average server and scatter between runs; the first two per client"""
CHANGE_EVERY = 600
"""average number of runs between changes of a server's level"""
BEHIND = 2
"""index of a server that delivers fewer messages than are due in the largest stage"""

Values = NDArray[np.float64]


def make_levels(demo: Demo) -> Values:
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
    walk[[number for number in range(demo.older) if is_old(demo, number)]] += 0.25
    # The scatter of a run does not depend on the number of later runs.
    scatter = np.stack([np.random.default_rng([demo.seed, run]).normal(size=walk.shape[1:]) for run in range(runs)])
    sizes = np.array([size for _, size in METRICS.values()])
    found: Values = np.where(sizes > 0, speed * np.exp(walk + scatter * sizes), 1.0)
    return found


def make_entry(demo: Demo, levels: Values, number: int) -> dict[str, Any]:
    moment = moment_of(number)
    random = np.random.default_rng([demo.seed, number, 1])
    environment = OLD if is_old(demo, number) else ENVIRONMENT
    present = [
        index for index in range(len(demo.servers)) if number >= index * demo.runs // 125 and not _gap(number, index)
    ]
    invalid = {int(index) for index in random.integers(0, len(demo.servers), 2)} if number % 37 == 0 else set()
    return {
        "schema": 1,
        "record": f"{moment:%Y%m%dT%H%M%SZ}-{number:06x}",
        "created": moment.isoformat(),
        "commit": sha_of(demo, number),
        "subject": demo.subjects[number % len(demo.subjects)],
        "environment": environment.key,
        "suite": "whiteboard",
        "profile": "full",
        "parameters": {"board_size": 10, "pattern": "steady"},
        "tools": make_tools(demo, number, [demo.servers[index] for index in present or [0]]),
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
