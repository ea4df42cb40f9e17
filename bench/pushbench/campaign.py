"""The rounds of a comparison: both arms of every server that is not decided yet, until everything is.

What is decided, and when is looked, is found by `sequential`; here is what is done until then.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pushbench import store
from pushbench.arms import ArmName, Arms
from pushbench.changes import complete_rounds, decisions, rows
from pushbench.measuring import Interrupted, measure_one
from pushbench.plan import make_round
from pushbench.progress import Watch
from pushbench.project import Project
from pushbench.record import Comparison, Record
from pushbench.sentences import after_look
from pushbench.sequential import FIRST_LOOK, looks
from pushbench.thresholds import Thresholds
from pushbench.trial import Bench
from pushbench.units import format_elapsed

ARMS: Sequence[ArmName] = ("base", "head")


@dataclass(frozen=True)
class Budget:
    """When to stop although something is undecided."""

    seconds: float = 600.0
    """for all rounds together; what was built and verified before does not count"""
    most_rounds: int | None = None
    until_decided: bool = True
    """else all rounds are played"""


@dataclass(frozen=True)
class Campaign:
    project: Project
    thresholds: Thresholds
    bench: Bench
    arms: Arms
    budget: Budget
    seed: int
    watch: Watch

    def play(self, record: Record, servers: Sequence[str]) -> Record:
        """Each trial is written as soon as it is there.

        The first round shows how many there can be: from then on that number stands, whatever the values are.
        """
        path = store.write_record(self.project.records, record)
        began = time.monotonic()
        rounds, undecided = 0, list(servers)
        try:
            while undecided:
                rounds += 1
                record = self._round(record, undecided, rounds, began)
                passed = time.monotonic() - began
                if rounds == 1:
                    record = self._with_most_rounds(record, passed)
                if self.budget.until_decided:
                    undecided = self._undecided(record, undecided)
                if rounds >= _comparison(record).most_rounds or passed * (rounds + 1) / rounds > self.budget.seconds:
                    break
        except KeyboardInterrupt:
            raise Interrupted(record, path) from None
        return record

    def _round(self, record: Record, servers: Sequence[str], number: int, began: float) -> Record:
        planned = make_round(servers, round_number=number, seed=self.seed, first=len(record.plan), arms=ARMS)
        record = record.model_copy(update={"plan": [*record.plan, *planned]})
        for each in planned:
            left = self.budget.seconds - (time.monotonic() - began)
            self.watch.trial(each, 0, record.schedule, left)
            arm = self.arms[each.arm]
            trial = measure_one(replace(self.bench, driver=arm.driver), each, arm.prepared[each.server], self.watch)
            self.watch.finished(trial)
            record = record.model_copy(update={"trials": [*record.trials, trial]})
            store.write_record(self.project.records, record)
        return record

    def _with_most_rounds(self, record: Record, round_seconds: float) -> Record:
        fitting = max(1, int(self.budget.seconds / round_seconds))
        most = min(fitting, self.budget.most_rounds or fitting)
        self.watch.note(f"a round takes {round_seconds:.0f} s: at most {most}, fewer when everything is decided")
        if most < FIRST_LOOK:
            need = format_elapsed(round_seconds * 2 * FIRST_LOOK)
            self.watch.note(f"too few to decide anything: name fewer --servers, or give --max-time {need} or more")
        comparison = _comparison(record).model_copy(update={"most_rounds": most})
        return record.model_copy(update={"comparison": comparison})

    def _undecided(self, record: Record, servers: Sequence[str]) -> list[str]:
        """Those with a row that more rounds may tell. Says what is known when there was a look."""
        found = decisions(record, rows(record, self.thresholds))
        if complete_rounds(record) in looks(_comparison(record).most_rounds):
            for server in servers:
                self.watch.note(after_look(server, {row: found[row] for row in found if row.server == server}))
        unknown = {row.server for row, decision in found.items() if decision.word == "unknown"}
        return [server for server in servers if server in unknown and not _fails(record, server)]


def _fails(record: Record, server: str) -> bool:
    """More rounds would change nothing: a head that failed is judged by that, and without a base there are no pairs."""
    failed = Counter(trial.arm for trial in record.trials if trial.server == server and trial.failure)
    return failed["head"] > 0 or failed["base"] > 1


def _comparison(record: Record) -> Comparison:
    assert record.comparison, "a campaign has no other records"
    return record.comparison
