"""The rounds of a comparison: both arms of every server that is not decided yet, until everything is.

The arms of a server are measured at the same time, on the same CPUs, unless that is more than these can do. What is
decided, and when is looked, is found by `sequential`; here is what is done until then.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pushbench.foundation.project import Project
from pushbench.judging.changes import complete_rounds, decisions, rows
from pushbench.judging.sentences import after_look
from pushbench.judging.sequential import FIRST_LOOK, looks
from pushbench.judging.thresholds import Thresholds
from pushbench.measuring.arms import ArmName, Arms
from pushbench.measuring.common import Interrupted, measure_one
from pushbench.measuring.company import Company, run_together
from pushbench.measuring.plan import make_round
from pushbench.measuring.progress import LoadWatch, Unwatched, Watch
from pushbench.measuring.trial import Bench
from pushbench.metrics.definitions import metrics_of
from pushbench.metrics.units import format_elapsed
from pushbench.metrics.validity import is_crowded, judge_together
from pushbench.records import store
from pushbench.records.record import Comparison, PlannedTrial, Record, Trial

ARMS: Sequence[ArmName] = ("base", "head")


@dataclass(frozen=True)
class Budget:
    """When to stop although something is undecided."""

    seconds: float = 600.0
    """for all rounds together; what was built and verified before does not count"""
    most_rounds: int | None = None
    until_decided: bool = True
    """else all rounds are played"""
    together: bool = True
    """both arms at the same time where the CPUs allow it, else one after the other"""


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
        together = set(servers) if self.budget.together else set()
        try:
            while undecided:
                rounds += 1
                round_began = time.monotonic()
                record = self._round(record, undecided, rounds, together, self.budget.seconds - (round_began - began))
                passed, last = time.monotonic() - began, time.monotonic() - round_began
                crowded = self._crowded(record, together)
                together -= crowded
                if not (_comparison(record).most_rounds or crowded):
                    record = self._with_most_rounds(record, rounds, last, passed)
                if self.budget.until_decided:
                    undecided = self._undecided(record, undecided)
                if rounds == _comparison(record).most_rounds or passed + last > self.budget.seconds:
                    break
        except KeyboardInterrupt:
            raise Interrupted(record, path) from None
        return record

    def _round(
        self, record: Record, servers: Sequence[str], number: int, together: Collection[str], seconds_left: float
    ) -> Record:
        planned = make_round(
            servers, round_number=number, seed=self.seed, first=len(record.plan), arms=ARMS, together=together
        )
        record = record.model_copy(update={"plan": [*record.plan, *planned]})
        ends_at = time.monotonic() + seconds_left
        for each, *others in _simultaneous(planned):
            self.watch.trial(each, 0, record, ends_at - time.monotonic())
            for trial in self._measure([each, *others]):
                self.watch.finished(trial)
                record = record.model_copy(update={"trials": [*record.trials, trial]})
            store.write_record(self.project.records, record)
        return record

    def _measure(self, planned: Sequence[PlannedTrial]) -> Sequence[Trial]:
        """One trial, or those of one moment; the first of them is shown."""
        if len(planned) == 1:
            return [self._trial(planned[0], self.watch, None)]
        watches: Sequence[LoadWatch] = [self.watch, *(Unwatched() for _ in planned[1:])]
        trials = run_together([partial(self._trial, *each) for each in zip(planned, watches, strict=True)])
        return judge_together(trials, self.bench.environment)

    def _trial(self, planned: PlannedTrial, watch: LoadWatch, company: Company | None) -> Trial:
        arm = self.arms[planned.arm]
        generator = replace(self.bench.generator, workspace=self.bench.generator.workspace / planned.arm)
        bench = replace(self.bench, driver=arm.driver, generator=generator)
        return measure_one(bench, planned, arm.prepared[planned.server], watch, company)

    def _crowded(self, record: Record, together: Collection[str]) -> set[str]:
        """Servers whose arms were too much for the CPUs they share in the last round."""
        last = max((trial.round for trial in record.trials), default=0)
        crowded = {
            trial.server
            for trial in record.trials
            if trial.round == last and trial.server in together and is_crowded(trial)
        }
        for server in sorted(crowded):
            self.watch.note(
                f"{server}: both arms are too much for the CPUs they share: from now on one after the other"
            )
        return crowded

    def _with_most_rounds(self, record: Record, played: int, round_seconds: float, passed: float) -> Record:
        fitting = played + max(0, int((self.budget.seconds - passed) / round_seconds))
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
                own = {row: found[row] for row in found if row.server == server}
                self.watch.note(after_look(server, own, metrics_of(record.words)))
        unknown = {row.server for row, decision in found.items() if decision.word == "unknown"}
        return [server for server in servers if server in unknown and not _fails(record, server)]


def _simultaneous(planned: Sequence[PlannedTrial]) -> Iterator[list[PlannedTrial]]:
    """The trials of a round, those of one moment together."""
    for (_, together), trials in itertools.groupby(planned, key=lambda each: (each.server, each.together)):
        own = list(trials)
        yield from [own] if together else ([each] for each in own)


def _fails(record: Record, server: str) -> bool:
    """More rounds would change nothing: a head that failed is judged by that, and without a base there are no pairs."""
    failed = Counter(trial.arm for trial in record.trials if trial.server == server and trial.failure)
    return failed["head"] > 0 or failed["base"] > 1


def _comparison(record: Record) -> Comparison:
    assert record.comparison, "a campaign has no other records"
    return record.comparison
