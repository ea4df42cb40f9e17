"""The rounds of a comparison: both arms of every server that is not decided yet, until everything is.

The arms of a server are measured at the same time, on the same CPUs, unless that is more than these can do. What is
decided, and when is looked, is found by `sequential`; here is what is done until then.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf

from pushbench.foundation.project import Project
from pushbench.judging.breaking import keeps_breaking
from pushbench.judging.changes import complete_rounds, decisions, rows
from pushbench.judging.foresight import Allowed, rounds_needed, too_short
from pushbench.judging.sentences import after_look
from pushbench.judging.sequential import looks
from pushbench.judging.thresholds import Thresholds
from pushbench.measuring.arms import ArmName, Arms
from pushbench.measuring.common import Interrupted, measure_one
from pushbench.measuring.company import Company, run_together
from pushbench.measuring.plan import make_round
from pushbench.measuring.progress import LoadWatch, Unwatched, Watch
from pushbench.measuring.trial import Bench
from pushbench.metrics.definitions import metrics_of
from pushbench.metrics.validity import is_crowded, judge_together
from pushbench.records import store
from pushbench.records.record import Comparison, PlannedTrial, Record, Trial

ARMS: Sequence[ArmName] = ("base", "head")


@dataclass(frozen=True)
class Budget:
    """When to stop although something is undecided."""

    seconds: float = 600.0
    """for all rounds of one server; what was built and verified before does not count"""
    most_rounds: int | None = None
    until_decided: bool = True
    """else all rounds are played"""
    together: bool = True
    """both arms at the same time where the CPUs allow it, else one after the other"""
    all_seconds: float = inf
    """for all servers together: what decided ones leave goes to the others"""

    @property
    def allowed(self) -> Allowed:
        return Allowed(self.seconds, self.all_seconds, self.most_rounds)


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
        """Each trial is written as soon as it is there. Each server has its own time, and all have theirs together."""
        path = store.write_record(self.project.records, record)
        rounds, undecided = 0, list(servers)
        spent = dict.fromkeys(servers, 0.0)
        together = set(servers) if self.budget.together else set()
        try:
            while undecided:
                rounds += 1
                left = min(sum(self.budget.seconds - spent[server] for server in undecided), self._left(spent))
                record, took = self._round(record, undecided, rounds, together, left)
                spent = {server: seconds + took.get(server, 0.0) for server, seconds in spent.items()}
                crowded = self._crowded(record, together)
                together -= crowded
                if not (_comparison(record).most_rounds or crowded):
                    record = self._with_most_rounds(record, spent, took)
                if self.budget.until_decided:
                    undecided = self._undecided(record, undecided)
                if rounds == (self.budget.most_rounds or _comparison(record).most_rounds):
                    break
                undecided = [each for each in undecided if spent[each] + took[each] <= self.budget.seconds]
                if sum(took[each] for each in undecided) > self._left(spent):
                    self.watch.note(f"the time of all servers together is up: undecided are {', '.join(undecided)}")
                    break
        except KeyboardInterrupt:
            raise Interrupted(record, path) from None
        return record

    def _left(self, spent: Mapping[str, float]) -> float:
        """The seconds that are left for all servers together."""
        return self.budget.all_seconds - sum(spent.values())

    def _round(
        self, record: Record, servers: Sequence[str], number: int, together: Collection[str], seconds_left: float
    ) -> tuple[Record, dict[str, float]]:
        """The record with another round, and the seconds that each server took."""
        planned = make_round(
            servers, round_number=number, seed=self.seed, first=len(record.plan), arms=ARMS, together=together
        )
        record = record.model_copy(update={"plan": [*record.plan, *planned]})
        ends_at = time.monotonic() + seconds_left
        took: dict[str, float] = {}
        for each, *others in _simultaneous(planned):
            began = time.monotonic()
            self.watch.trial(each, 0, record, ends_at - began)
            for trial in self._measure([each, *others]):
                self.watch.finished(trial)
                record = record.model_copy(update={"trials": [*record.trials, trial]})
            store.write_record(self.project.records, record)
            took[each.server] = took.get(each.server, 0.0) + time.monotonic() - began
        return record, took

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

    def _with_most_rounds(self, record: Record, spent: Mapping[str, float], took: Mapping[str, float]) -> Record:
        """With the number of rounds that the fastest server has time for, from its last one."""
        played = max(trial.round for trial in record.trials)
        fitting = {each: played + max(0, int((self.budget.seconds - spent[each]) / took[each])) for each in took}
        most = min(max(fitting.values()), self.budget.most_rounds or max(fitting.values()))
        self.watch.note(
            f"a round takes {max(took.values()):.0f} s{' a server at most' if len(took) > 1 else ''}: "
            f"at most {most}, fewer when everything is decided"
        )
        if doubt := too_short(took, self.budget.allowed, rounds_needed(self.thresholds, record.suite, took)):
            self.watch.note(doubt)
        comparison = _comparison(record).model_copy(update={"most_rounds": most})
        return record.model_copy(update={"comparison": comparison})

    def _undecided(self, record: Record, servers: Sequence[str]) -> list[str]:
        """Those with a row that more rounds may tell. Says what is known when there was a look."""
        found = decisions(record, rows(record, self.thresholds))
        if (played := complete_rounds(record)) in looks(played):
            for server in servers:
                own = {row: found[row] for row in found if row.server == server}
                self.watch.note(after_look(server, own, metrics_of(record.words)))
        unknown = {row.server for row, decision in found.items() if decision.word == "unknown"}
        return [each for each in servers if each in unknown and not self._fails(record, each)]

    def _fails(self, record: Record, server: str) -> bool:
        """More rounds would change nothing: a head that failed, or keeps breaking a limit, is judged by that, and
        without a base there are no pairs.
        """
        failed = Counter(trial.arm for trial in record.trials if trial.server == server and trial.failure)
        if failed["head"] > 0 or failed["base"] > 1:
            return True
        broken = keeps_breaking(record, self.thresholds, server)
        if broken:
            self.watch.note(f"{server}: not measured further: {broken}")
        return bool(broken)


def _simultaneous(planned: Sequence[PlannedTrial]) -> Iterator[list[PlannedTrial]]:
    """The trials of a round, those of one moment together."""
    for (_, together), trials in itertools.groupby(planned, key=lambda each: (each.server, each.together)):
        own = list(trials)
        yield from [own] if together else ([each] for each in own)


def _comparison(record: Record) -> Comparison:
    assert record.comparison, "a campaign has no other records"
    return record.comparison
