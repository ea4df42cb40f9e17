"""The setting of an invented history: servers, stages, environments, times, commits and tools."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from pushbench.records.environment import Harness
from pushbench.records.record import ReportedVersions, Schedule, StagePlan
from pushbench.records.tools import tools
from tests.factories import ENVIRONMENT

SERVERS = (
    *("actix", "bun", "fastapi", "fastapi-workers-redis", "fastapi-workers-redis/channel-per-board", "go"),
    *("node-cluster-redis", "node-cluster-redis/channel-per-board", "node-uws", "node-ws", "spring-stomp"),
    *("spring-stomp/virtual-threads", "spring-websocket", "elixir-phoenix", "erlang-cowboy", "dotnet-signalr"),
    *("ruby-anycable", "php-swoole", "nestjs-socketio"),
)
STAGES = (100, 500, 1000)
BEGIN = datetime(2022, 11, 24, 6, tzinfo=UTC)
HOURS = 7
OLD = ENVIRONMENT.model_copy(
    update={
        "key": "5ee1f00dbabe",
        "kernel": "6.1",
        "cpu_model": "Intel(R) Xeon(R) Platinum 8272CL CPU @ 2.60GHz",
        "method": None,
    }
)
TRIED = range(-13, -7)
"""earlier runs in the newest environment, counted from its final beginning; afterwards the older one was used again"""
NEW_K6, NEW_GO = -5, -7
"""runs, counted from the end, from which k6 and the runtime of `go` are newer versions"""
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


@dataclass(frozen=True)
class Demo:
    """The size and content of the history: `older` runs in another environment, then `runs` in the newest one. The last
    `records` runs have records, and so has the last run in the other environment."""

    runs: int = 5_000
    older: int = 300
    records: int = 12
    servers: tuple[str, ...] = SERVERS
    subjects: tuple[str, ...] = SUBJECTS
    stages: tuple[int, ...] = STAGES
    suite: str = "whiteboard"
    """a suite of `demo_suites.WORDS`"""
    seed: int = 7


def is_old(demo: Demo, number: int) -> bool:
    return number < demo.older and number - demo.older not in TRIED


def moment_of(number: int) -> datetime:
    return BEGIN + timedelta(hours=HOURS * number)


def sha_of(demo: Demo, number: int) -> str:
    return f"{np.random.default_rng([demo.seed, number, 2]).integers(1 << 62):016x}".ljust(40, "0")


def make_schedule(demo: Demo) -> Schedule:
    return Schedule(
        warmup_seconds=20,
        stages=[StagePlan(clients=each, ramp_seconds=5, settle_seconds=5, steady_seconds=60) for each in demo.stages],
        drain_seconds=30,
    )


def make_harness(demo: Demo, number: int) -> Harness:
    k6 = "v1.8.1" if number - demo.older - demo.runs >= NEW_K6 else "v1.7.0"
    return Harness(pushbench="0.1.0", k6=k6, extension="5f3c9a7d", go="go1.26.0")


def make_tools(demo: Demo, number: int, servers: list[str]) -> dict[str, Any] | None:
    """The tools of an entry; the oldest entries are from before entries had any."""
    if number < demo.older // 2:
        return None
    reported = {name: make_reported(demo, name, number) for name in servers}
    return tools(make_harness(demo, number), make_schedule(demo), reported).model_dump()


def make_reported(demo: Demo, name: str, number: int) -> ReportedVersions:
    return ReportedVersions(server=name, runtime=_runtime(demo, name, number), framework="ws 8.23.0")


def _runtime(demo: Demo, name: str, number: int) -> str:
    if name != "go":
        return "Node.js 24.21.0"
    return "go1.26.0" if number - demo.older - demo.runs >= NEW_GO else "go1.25.4"
