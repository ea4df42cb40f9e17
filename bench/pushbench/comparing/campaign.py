"""The rounds of a comparison: both arms of every server with an open verdict, until none is open.

The arms of a server are measured at the same time, on the same CPUs, unless that overloads these CPUs. `sequential`
finds what is decided and when to look; this module plays the rounds until then.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf

from pushbench.comparing.arms import ArmName, Arms
from pushbench.comparing.concurrent_rounds import MOST, rounds_that_fit
from pushbench.drivers.lanes import with_own_logs
from pushbench.foundation.project import Project
from pushbench.judging.breaking import keeps_breaking
from pushbench.judging.changes import Row, complete_rounds, count_pairs, decisions, rows
from pushbench.judging.foresight import Allowed, rounds_needed, too_short
from pushbench.judging.sentences import after_look
from pushbench.judging.sequential import Decision, Word, is_over, looks
from pushbench.judging.thresholds import Thresholds
from pushbench.measuring.common import Interrupted, measure_one
from pushbench.measuring.company import Company, run_together
from pushbench.measuring.plan import make_rounds
from pushbench.measuring.trial import Bench
from pushbench.metrics.definitions import metrics_of
from pushbench.metrics.validity import is_crowded, judge_together
from pushbench.records import store
from pushbench.records.record import Comparison, PlannedTrial, Record, Trial
from pushbench.watching.progress import LoadWatch, Unwatched, Watch

ARMS: Sequence[ArmName] = ("base", "head")


@dataclass(frozen=True)
class Budget:
    """When to stop although something is undecided."""

    seconds: float = 600.0
    """for all rounds of one server; time spent building and verifying it does not count"""
    most_rounds: int | None = None
    until_decided: bool = True
    """otherwise all rounds are played"""
    together: bool = True
    """both arms at the same time if the CPUs allow it, otherwise one after the other"""
    all_seconds: float = inf
    """for all servers together: time that decided servers leave goes to the others"""

    @property
    def allowed(self) -> Allowed:
        return Allowed(self.seconds, self.all_seconds, self.most_rounds)


@dataclass
class _Course:
    """How far the comparison of one server has come."""

    server: str
    together: bool
    rounds: Sequence[int] = (0,)
    """numbers of the rounds of the last turn"""
    took: float = 0.0
    """seconds of the last turn"""
    spent: float = 0.0
    """seconds of all turns"""
    at_once: int = 1
    """rounds that a turn plays at the same time"""
    most_at_once: int = MOST

    def next_rounds(self, most: float) -> Sequence[int]:
        after = self.rounds[-1]
        return range(after + 1, int(min(after + self.at_once, most)) + 1)

    def last_turn(self, record: Record) -> list[Trial]:
        return [each for each in record.trials if each.server == self.server and each.round in self.rounds]

    def turns_left(self, seconds: float) -> int:
        return max(0, int((seconds - self.spent) / self.took))


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
        """Play the rounds. Each trial is written as soon as it ends. Each server has its own time, within a total."""
        path = store.write_record(self.project.records, record)
        courses = {server: _Course(server, self.budget.together) for server in servers}
        undecided = list(servers)
        try:
            while undecided:
                going_on = [courses[server] for server in undecided]
                left = min(sum(self.budget.seconds - each.spent for each in going_on), self._left(courses))
                record = self._turn(record, going_on, left)
                if self._relieve(record, going_on):
                    record = _with_most_rounds(record, 0)
                elif not _comparison(record).most_rounds:
                    record = self._paced(record, going_on)
                if self.budget.until_decided:
                    undecided = self._undecided(record, undecided)
                undecided = [each for each in undecided if self._has_time(record, courses[each])]
                if sum(courses[each].took for each in undecided) > max(self._left(courses), 0.0):
                    self.watch.note(f"the total time is up; undecided: {', '.join(undecided)}")
                    break
        except KeyboardInterrupt:
            raise Interrupted(record, path) from None
        return record

    def _left(self, courses: Mapping[str, _Course]) -> float:
        """The seconds that are left for all servers together."""
        return self.budget.all_seconds - sum(each.spent for each in courses.values())

    def _has_time(self, record: Record, course: _Course) -> bool:
        most = self.budget.most_rounds or _comparison(record).most_rounds or inf
        return course.rounds[-1] < most and course.spent + course.took <= self.budget.seconds

    def _turn(self, record: Record, courses: Sequence[_Course], seconds_left: float) -> Record:
        """The record with the next rounds of each server."""
        most = self.budget.most_rounds or inf
        rounds = {each.server: each.next_rounds(most) for each in courses}
        together = [each.server for each in courses if each.together]
        planned = make_rounds(rounds, seed=self.seed, first=len(record.plan), arms=ARMS, together=together)
        record, took = self._play(record, planned, seconds_left)
        for each in courses:
            each.rounds, each.took = rounds[each.server], took[each.server]
            each.spent += each.took
        return record

    def _play(
        self, record: Record, planned: Sequence[PlannedTrial], seconds_left: float
    ) -> tuple[Record, dict[str, float]]:
        """The record with these trials, and the seconds that each server took."""
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
        """Play one trial, or several at the same time; only the first of them is shown."""
        if len(planned) == 1:
            return [self._trial(planned[0], 0, self.watch, None)]
        watches: Sequence[LoadWatch] = [self.watch, *(Unwatched() for _ in planned[1:])]
        lanes = [each.round - planned[0].round for each in planned]
        trials = run_together([partial(self._trial, *each) for each in zip(planned, lanes, watches, strict=True)])
        return judge_together(trials, self.bench.environment)

    def _trial(self, planned: PlannedTrial, lane: int, watch: LoadWatch, company: Company | None) -> Trial:
        """Play one trial; rounds that are played at the same time have a lane each."""
        arm = self.arms[planned.arm]
        workspace = self.bench.generator.workspace / f"{planned.arm}-{lane}"
        generator = replace(self.bench.generator, workspace=workspace)
        bench = replace(self.bench, driver=with_own_logs(arm.driver, lane), generator=generator)
        return measure_one(bench, planned, arm.prepared[planned.server], watch, company)

    def _relieve(self, record: Record, courses: Sequence[_Course]) -> bool:
        """Measure less at the same time of servers that overloaded the CPUs they share in the last turn. Returns
        whether there was one.
        """
        crowded = [each for each in courses if any(map(is_crowded, each.last_turn(record)))]
        for course in crowded:
            several = len(course.rounds) > 1
            what = f"{len(course.rounds)} rounds" if several else "both arms"
            what += " overload the CPUs they share"
            self.watch.note(f"{course.server}: {what}: from now on one at a time")
            course.together = course.together and several
            course.at_once = course.most_at_once = 1
        return bool(crowded)

    def _paced(self, record: Record, courses: Sequence[_Course]) -> Record:
        """The record with the number of rounds that the fastest server has time for, judging by its last turn. From now
        on, a turn has as many rounds of a server as the machine plays at the same time.
        """
        seconds = {}
        for each in courses:
            if each.together and not record.live:  # a stream has one series for all rounds of an arm
                each.at_once = min(rounds_that_fit(each.last_turn(record), record.environment), each.most_at_once)
            if each.at_once > 1:
                self.watch.note(f"{each.server}: from now on {each.at_once} rounds at the same time")
            seconds[each.server] = each.took / each.at_once
        rounds = [each.rounds[-1] + each.turns_left(self.budget.seconds) * each.at_once for each in courses]
        most = min(max(rounds), self.budget.most_rounds or max(rounds))
        takes = f"{max(each.took for each in courses):.0f} s{' a server at most' if len(courses) > 1 else ''}"
        self.watch.note(f"a round takes {takes}: at most {most}, fewer if everything is decided earlier")
        needed = rounds_needed(self.thresholds, record.suite, seconds)
        if doubt := too_short(seconds, self.budget.allowed, needed):
            self.watch.note(doubt)
        return _with_most_rounds(record, most)

    def _undecided(self, record: Record, servers: Sequence[str]) -> list[str]:
        """The servers whose verdict more rounds may change. Notes what is known after a look."""
        found = decisions(record, rows(record, self.thresholds))
        if (played := complete_rounds(record)) in looks(played):
            for server in servers:
                own = {row: found[row] for row in found if row.server == server}
                self.watch.note(after_look(server, own, metrics_of(record.words)))
        return [each for each in servers if not self._is_over(record, each, found) and not self._fails(record, each)]

    def _is_over(self, record: Record, server: str, found: Mapping[Row, Decision]) -> bool:
        """Whether more rounds of a server are pointless: each row has a word, or the comparison fails already, because
        one row is worse and no line of thresholds.yml accepts that.
        """
        accepted = {line.metric for line in _comparison(record).accepting if line.server == server}
        words: dict[Row, Word] = {
            row: "same" if each.word == "worse" and row.metric in accepted else each.word
            for row, each in found.items()
            if row.server == server
        }
        over = is_over(words.values(), count_pairs(record, server))
        if over and "unknown" in words.values():
            metrics = metrics_of(record.words)
            worse = dict.fromkeys(metrics[row.metric].in_sentence for row, word in words.items() if word == "worse")
            self.watch.note(f"{server}: not measured further: worse in {', '.join(worse)}")
        return over

    def _fails(self, record: Record, server: str) -> bool:
        """Whether more rounds would change nothing: a head that failed, or keeps breaking a limit, is judged by that,
        and without a base there are no pairs.
        """
        failed = Counter(trial.arm for trial in record.trials if trial.server == server and trial.failure)
        if failed["head"] > 0 or failed["base"] > 1:
            return True
        broken = keeps_breaking(record, self.thresholds, server)
        if broken:
            self.watch.note(f"{server}: not measured further: {broken}")
        return bool(broken)


def _simultaneous(planned: Sequence[PlannedTrial]) -> Iterator[list[PlannedTrial]]:
    """The trials of a round, grouped by those that run at the same time."""
    for (_, together), trials in itertools.groupby(planned, key=lambda each: (each.server, each.together)):
        own = list(trials)
        yield from [own] if together else ([each] for each in own)


def _with_most_rounds(record: Record, most: int) -> Record:
    return record.model_copy(update={"comparison": _comparison(record).model_copy(update={"most_rounds": most})})


def _comparison(record: Record) -> Comparison:
    assert record.comparison, "a campaign has no other records"
    return record.comparison
