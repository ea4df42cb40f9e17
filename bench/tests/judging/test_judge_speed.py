"""The time of judging by years of history: 5,000 runs of 19 servers, read for the first time, and with one more run.

`make bench-judge` prints the figures. Each step is a separate process, so that it starts as cold as a real command.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pushbench.foundation.project import Project
from pushbench.records import history
from pushbench.records.history import Entry
from pushbench.records.record import Record
from pushbench.statistics import trend
from tests.factories import ENVIRONMENT, STAGES, make_record, make_trial

RUNS, SERVERS = 5_000, 19
COLD_SECONDS, WARM_SECONDS, MEMORY_BYTES, CHANGES_SECONDS = 10.0, 1.0, 500e6, 0.100

JUDGE = """
import resource, sys, time
from pathlib import Path
from pushbench.foundation.project import Project
from pushbench.records.record import Record
from pushbench.records.runs import past_of
from pushbench.cli.conclusion import thresholds_of
from pushbench.judging.verdict import judge

root, store, cache = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[2]) / "cache"
record = Record.model_validate_json((store / "record.json").read_bytes())
thresholds = thresholds_of(Project.at(root))
began = time.perf_counter()
past = past_of(store, record, cache)
read = time.perf_counter()
verdict = judge(record, thresholds, past)
judged = time.perf_counter()
print(read - began, judged - read, len(past.runs.heads), len(verdict.levels), verdict.outcome,
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
@pytest.mark.measurement
def test_judging_by_five_thousand_runs_takes_seconds_and_one_more_less_than_one(tmp_path: Path) -> None:
    write_history(tmp_path)
    cold = Step("cold", tmp_path, RUNS)
    add_run(tmp_path, RUNS)
    warm = Step("one new run", tmp_path, RUNS + 1)
    assert cold.seconds <= COLD_SECONDS
    assert warm.seconds <= WARM_SECONDS
    assert max(cold.memory, warm.memory) <= MEMORY_BYTES


@pytest.mark.slow
@pytest.mark.measurement
def test_the_changes_of_five_thousand_runs_take_a_tenth_of_a_second() -> None:
    random = np.random.default_rng(1)
    values = (np.repeat(10 + np.arange(20) % 3, RUNS // 20) * random.lognormal(0, 0.03, RUNS)).tolist()
    trend.changes(values[:100])  # imports
    times = []
    for _ in range(5):
        began = time.perf_counter()
        found = trend.changes(values)
        times.append(time.perf_counter() - began)
    print(f"\nlevel changes of one series of {RUNS:,} runs: {len(found)} found in {min(times) * 1e3:.0f} ms")
    assert min(times) <= CHANGES_SECONDS


class Step:
    """One process that judges, its time and its memory."""

    def __init__(self, name: str, store: Path, runs: int) -> None:
        command = [sys.executable, "-c", JUDGE, str(Project.current().root), str(store)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
        read, judged, found, levels, outcome, memory = done.stdout.split()
        assert int(found) == runs
        assert int(levels) >= SERVERS * len(STAGES) * 5
        assert outcome == "inconclusive", "runs scatter by 3 %: too much for the margin of CPU"
        self.seconds, self.memory = float(read) + float(judged), float(memory)
        print(
            f"\n{name}: {runs:,} runs of {SERVERS} servers read in {float(read):.2f} s, {levels} levels judged in "
            f"{float(judged):.2f} s, {self.memory / 1e6:.0f} MB at most",
            end="",
        )


def write_history(store: Path) -> None:
    """Write real entries of runs that scatter by 3 % around one level."""
    record = make_record([make_trial(f"server-{number}") for number in range(SERVERS)], suite="whiteboard")
    (store / "record.json").write_text(
        record.model_copy(update={"created": "2026-11-21T10:15:00+00:00"}).model_dump_json(by_alias=True)
    )
    for number in range(RUNS):
        add_run(store, number)


def add_run(store: Path, number: int) -> None:
    random = np.random.default_rng(number)
    entry = json.loads(_template(store))
    moment = datetime(2010, 1, 1, tzinfo=UTC) + timedelta(hours=number)
    entry |= {"record": f"{moment:%Y%m%dT%H%M%SZ}-{number:06x}", "created": moment.isoformat()}
    for server in entry["servers"].values():
        for metrics in server["stages"].values():
            scatter = random.lognormal(0, 0.03, len(metrics))
            for name, factor in zip(metrics, scatter.tolist(), strict=True):
                metrics[name] = float(f"{metrics[name] * factor:.5g}")
    path = history.path_of(store, Entry.model_validate(entry))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entry, separators=(",", ":")))


@cache
def _template(store: Path) -> str:
    record = Record.model_validate_json((store / "record.json").read_bytes())
    assert record.environment.key == ENVIRONMENT.key
    return history.entry_of(record).model_dump_json(by_alias=True)
