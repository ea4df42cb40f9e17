"""What a run was measured with, as far as it moves numbers and is no part of the environment's key. Pure.

Only records know it, so it is kept in the site's state: a run without a record has none.
"""

from __future__ import annotations

import hashlib
import json

from pushbench.record import Record
from pushbench.site.layout import Data
from pushbench.text import one_line

LENGTH = 100
"""characters of a version, which a server may have written"""


def tools_of(record: Record) -> Data:
    """Facts by their titles: of the harness with the schedule of its load, and of each server."""
    harness = record.harness
    facts = {
        "pushbench": harness.pushbench,
        "k6": harness.k6,
        "load generator": harness.extension[:12],
        "Go": harness.go,
        "schedule": _schedule(record),
    }
    reported = {trial.server: trial.reported for trial in record.trials if trial.arm == "head" and trial.reported}
    return {
        "harness": {name: one_line(fact, LENGTH) for name, fact in facts.items()},
        "servers": {
            server: {"runtime": one_line(said.runtime, LENGTH), "framework": one_line(said.framework, LENGTH)}
            for server, said in sorted(reported.items())
        },
    }


def digest(tools: Data) -> str:
    return hashlib.sha256(json.dumps(tools, sort_keys=True).encode()).hexdigest()[:10]


def _schedule(record: Record) -> str:
    """How long, for that moves high percentiles; which stages there are can be seen without it."""
    stages = [f"{stage.steady_seconds:g}" for stage in record.schedule.stages]
    each = stages[0] if len(set(stages)) == 1 else ", ".join(stages)
    return f"{record.schedule.warmup_seconds:g} s of warm-up, stages of {each} s"
