"""The judge of a job: limits and margins, and for the trend the earlier runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pushbench.ci.steps import Step
from pushbench.ci.trend import TREND
from pushbench.judging.judged_capacity import CapacityVerdict, against_history
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.verdict import Verdict, judge
from pushbench.metrics.kept import entry_of
from pushbench.records.capacity import CapacityRecord
from pushbench.records.capacity_history import read_entries
from pushbench.records.record import Record
from pushbench.records.runs import past_of


@dataclass(frozen=True)
class Judge:
    """Judges the measurements of a plan's steps."""

    thresholds: Thresholds
    history: Path | None
    """the earlier runs, which also judge runs of the trend"""
    cache: Path
    event: str
    """of the plan"""

    def run(self, step: Step, record: Record) -> Verdict:
        """The verdict on a run or a comparison. The first runs of a trend have few runs to be compared with."""
        past = None
        if self.history is not None and step.kind == "run" and self.event in TREND:
            past = replace(past_of(self.history, record, self.cache), required=False)
        return judge(record, self.thresholds, past)

    def search(self, record: CapacityRecord) -> CapacityVerdict:
        """The verdict on a search, against earlier searches."""
        own = entry_of(record)
        before = read_entries(self.history, own.environment, own.suite) if self.history else []
        return against_history(own, before, self.thresholds)
