"""The tools of a run that may affect numbers and are not part of the environment's key. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from pushbench.foundation.model import Document
from pushbench.foundation.text import one_line
from pushbench.records.environment import Harness
from pushbench.records.record import Record, ReportedVersions, Schedule

LENGTH = 100
"""characters of a version, which a server may have written"""


class Versions(Document):
    """The versions that a server reports."""

    runtime: str
    framework: str


class Tools(Document):
    """The tools that a run was measured with."""

    harness: dict[str, str] = Field(description="facts about the generator and the duration of its load, by title")
    servers: dict[str, Versions]


def tools_of(record: Record) -> Tools:
    reported = {trial.server: trial.reported for trial in record.trials if trial.arm == "head" and trial.reported}
    return tools(record.harness, record.schedule, reported)


def tools(harness: Harness, schedule: Schedule, reported: Mapping[str, ReportedVersions]) -> Tools:
    facts = {
        "pushbench": harness.pushbench,
        "k6": harness.k6,
        "load generator": harness.extension[:12],
        "Go": harness.go,
        "schedule": _lasts(schedule),
    }
    return Tools(
        harness={name: one_line(fact, LENGTH) for name, fact in facts.items()},
        servers={
            server: Versions(runtime=one_line(said.runtime, LENGTH), framework=one_line(said.framework, LENGTH))
            for server, said in sorted(reported.items())
        },
    )


def _lasts(schedule: Schedule) -> str:
    """The durations of the schedule, which affect high percentiles; its stages are visible elsewhere."""
    stages = [f"{stage.steady_seconds:g}" for stage in schedule.stages]
    each = stages[0] if len(set(stages)) == 1 else ", ".join(stages)
    return f"{schedule.warmup_seconds:g} s of warm-up, stages of {each} s"
