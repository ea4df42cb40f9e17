"""A bisection, from the request to the commit: comparisons with the good commit, each kept as soon as it is done.

`bisecting` decides what to compare next; this module compares it. It skips commits that did not change the server.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from pushbench.catalog.servers import read_catalog
from pushbench.catalog.suites import find_suite
from pushbench.comparing.bisection import (
    MOST_CANDIDATES,
    Bisection,
    Candidate,
    Culprit,
    Step,
    bisection_path,
    read_bisection,
    write_bisection,
)
from pushbench.comparing.campaign import Budget
from pushbench.comparing.compare import CompareRequest, compare
from pushbench.foundation.errors import UserError
from pushbench.foundation.git import git
from pushbench.foundation.project import Project
from pushbench.foundation.text import MESSAGE, one_line
from pushbench.foundation.trees import resolve
from pushbench.judging.judged_changes import JudgedChange
from pushbench.judging.thresholds import Regression, Thresholds
from pushbench.judging.verdict import judge
from pushbench.measuring.common import ARMS_APART, Options, require_no_cluster
from pushbench.measuring.preparation import NothingToRun
from pushbench.measuring.sides import sources_of
from pushbench.records.record import Record
from pushbench.watching.progress import Watch

LEAST_MARGIN = 0.02
"""smaller changes take hours to decide"""


@dataclass(frozen=True)
class BisectRequest:
    """What to search for. An empty metric means CPU per unit of work."""

    good: str
    bad: str
    server: str
    metric: str = ""
    profile: str = "compare"
    parameters: Mapping[str, str] = field(default_factory=dict)
    step_seconds: float = 300.0
    total_seconds: float | None = None
    restart: bool = False


Comparing = Callable[[str, Thresholds], Record]
"""Compares the server at a commit with the good commit, by these thresholds."""


def bisect(
    project: Project, request: BisectRequest, options: Options, thresholds: Thresholds, watch: Watch
) -> Bisection:
    """Search until the commit is found, no comparison can add information, or the time is used up.

    Raises UserError at the start for an invalid request, and for two commits with no regression between them."""
    require_no_cluster(options.driver, ARMS_APART)
    begun, path = begin(project, request, thresholds)

    def comparing(sha: str, margins: Thresholds) -> Record:
        wanted = CompareRequest(
            begun.suite,
            request.profile,
            begun.good,
            head=sha,
            servers=[request.server],
            parameters=request.parameters,
            budget=Budget(request.step_seconds),
            seed=len(begun.steps) + 1,
        )
        return compare(project, wanted, options, margins, watch)

    search = Searching(project, path, only(thresholds, begun.suite, begun.server, begun.metric), comparing, watch.note)
    return search.play(begun, request.total_seconds)


def begin(project: Project, request: BisectRequest, thresholds: Thresholds) -> tuple[Bisection, Path]:
    """The search as it was left, or a new one. Raises UserError."""
    sources = sources_of(project, request.server)
    good, bad = resolve(sources.root, request.good), resolve(sources.root, request.bad)
    if good == bad:
        raise UserError("--good and --bad are the same commit")
    if not git(sources.root, "merge-base", "--is-ancestor", good, bad).ok:
        raise UserError(
            f"{request.bad} does not descend from {request.good}",
            hint="--good is the older commit, without the regression",
        )
    for name, sha in (("--good", good), ("--bad", bad)):
        if not sources.at(sha):
            raise UserError(f"there is no server {request.server!r} at {name} {sha[:12]}")
    suite = next((each.spec.suite for each in read_catalog(project.servers) if each.id == request.server), None)
    if suite is None:
        raise UserError(f"there is no server {request.server!r} in this checkout, which drives the comparisons")
    found = find_suite(project.scenarios, suite)
    metric = request.metric or f"cpu_seconds_per_{found.spec.words.work.name}"
    margin = regression_of(thresholds, suite, request.server, metric).margin
    path = bisection_path(
        project.bisections, good=good, bad=bad, server=request.server, metric=metric, profile=request.profile
    )
    before = None if request.restart else read_bisection(path)
    if before:
        return before.model_copy(update={"state": "running"}), path
    commits = commits_between(sources.root, good, bad)
    candidates = [each for each, parent in commits if sources.change(parent, each)]
    what = sources.path or str(sources.root)
    if not candidates:
        raise UserError(f"no commit between {good[:12]} and {bad[:12]} changes {what}")
    if len(candidates) > MOST_CANDIDATES:
        raise UserError(f"{len(candidates):,} commits change {what}, expected at most {MOST_CANDIDATES:,}")
    begun = Bisection(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        server=request.server,
        suite=suite,
        profile=request.profile,
        metric=metric,
        margin=margin,
        good=good,
        bad=bad,
        commits=len(commits),
        candidates=[candidate_of(sources.root, sha) for sha in candidates],
    )
    return begun, path


@dataclass
class Searching:
    """The steps of a bisection. `comparing` has the effects."""

    project: Project
    path: Path
    thresholds: Thresholds
    comparing: Comparing
    note: Callable[[str], None]

    def play(self, begun: Bisection, total_seconds: float | None) -> Bisection:
        """Continue a search. Every step is written to disk before the next begins."""
        ends_at = None if total_seconds is None else time.monotonic() + total_seconds
        found = begun if begun.effect is not None else self._ends(begun)
        while found.state == "running":
            search = found.search()
            place = search.next()
            if place is None:
                break
            if ends_at is not None and time.monotonic() >= ends_at:
                self.note("the time is up; run the same command again to continue")
                return self._keep(self._told(found))
            candidate = found.candidates[place]
            left = search.steps_left()
            self.note(f"step {len(found.steps) + 1}, about {left} left: {candidate.sha[:12]} {candidate.subject}")
            margin = max(LEAST_MARGIN, abs(found.effect or 0.0) / 2)
            step = self._step(found, candidate.sha, margin)
            found = self._keep(self._told(found.model_copy(update={"steps": [*found.steps, step]})))
        return found if found.state == "no-regression" else self._keep(self._concluded(found))

    def _ends(self, found: Bisection) -> Bisection:
        """Compare the bad commit with the good one: this measures the effect to search for."""
        self.note(f"{found.candidates[-1].sha[:12]} against {found.good[:12]}: is there a regression?")
        step = self._step(found, found.bad, found.margin)
        if step.word == "skipped":
            raise UserError(f"{found.server} cannot be compared at the bad commit: {step.reason}")
        found = found.model_copy(update={"steps": [*found.steps, step]})
        if step.word != "worse" or step.change is None:
            return self._keep(found.model_copy(update={"state": "no-regression"}))
        return self._keep(found.model_copy(update={"effect": step.change}))

    def _step(self, found: Bisection, sha: str, margin: float) -> Step:
        began = time.monotonic()

        def skipped(reason: str) -> Step:
            self.note(f"{sha[:12]}: skipped: {one_line(reason, MESSAGE)}")
            seconds = time.monotonic() - began
            return Step(sha=sha, word="skipped", reason=one_line(reason, MESSAGE), seconds=seconds)

        if not sources_of(self.project, found.server).at(sha):
            return skipped("the server does not exist there")
        thresholds = with_margin(self.thresholds, found.suite, found.server, found.metric, margin)
        try:
            record = self.comparing(sha, thresholds)
        except NothingToRun as error:
            return skipped(str(error))
        assert record.comparison
        if reason := next((each.reason for each in record.comparison.one_sided if each.server == found.server), None):
            return skipped(reason)
        if found.server in record.comparison.identical:
            return Step(sha=sha, word="same", change=0.0, record=record.id, seconds=time.monotonic() - began)
        row = _row(record, thresholds, found)
        if row is None:
            failures = [trial.failure for trial in record.trials if trial.failure]
            return skipped(failures[0].message if failures else "no valid pair of trials")
        self.note(f"{sha[:12]}: {row.word} after {row.pairs} rounds")
        word = row.word if row.word in ("worse", "same", "better") else "worse" if row.word == "accepted" else "unknown"
        return Step(
            sha=sha,
            word=word,
            change=row.change,
            low=row.low,
            high=row.high,
            rounds=row.pairs,
            record=record.id,
            seconds=time.monotonic() - began,
        )

    def _told(self, found: Bisection) -> Bisection:
        """The search with the commits that are most probable so far."""
        search = found.search()
        odds = search.odds()
        culprits = sorted(search.culprits(odds), key=lambda place: -odds[place])
        return found.model_copy(
            update={
                "culprits": [
                    Culprit(
                        sha=found.candidates[place].sha,
                        subject=found.candidates[place].subject,
                        probability=round(odds[place], 4),
                    )
                    for place in culprits
                ],
                "confidence": round(search.confidence(odds), 4),
            }
        )

    def _concluded(self, found: Bisection) -> Bisection:
        told = self._told(found)
        sure = found.search().is_sure()
        return told.model_copy(update={"state": "found" if sure else "undecided"})

    def _keep(self, found: Bisection) -> Bisection:
        write_bisection(self.path, found)
        return found


def _row(record: Record, thresholds: Thresholds, found: Bisection) -> JudgedChange | None:
    """The row of the metric; if it has several stages, the one that got worse the most. None without a pair."""
    rows = [
        change
        for change in judge(record, thresholds).changes
        if (change.server, change.metric) == (found.server, found.metric) and change.pairs
    ]
    order = ("worse", "accepted", "invalid", "unknown", "better", "same")
    return min(rows, key=lambda row: (order.index(row.word), -(row.change or 0.0)), default=None)


def regression_of(thresholds: Thresholds, suite: str, server: str, metric: str) -> Regression:
    """The margin of a metric of a server. Raises UserError if it has none."""
    known = {each.metric: each for each in thresholds.margins(suite, server)}
    if metric not in known:
        raise UserError(f"{suite} has no margin for {metric!r}", hint=f"metrics with a margin: {', '.join(known)}")
    return known[metric]


def only(thresholds: Thresholds, suite: str, server: str, metric: str) -> Thresholds:
    """The margin of one metric of a server alone, so that a comparison ends as soon as this metric is decided."""
    return _with(thresholds, suite, regression_of(thresholds, suite, server, metric))


def with_margin(thresholds: Thresholds, suite: str, server: str, metric: str, margin: float) -> Thresholds:
    """The thresholds with another margin for a metric: half of the effect separates commits with and without it."""
    return _with(thresholds, suite, replace(regression_of(thresholds, suite, server, metric), margin=margin))


def _with(thresholds: Thresholds, suite: str, alone: Regression) -> Thresholds:
    """The thresholds with one margin, and nothing accepted."""
    changed = replace(thresholds.suite(suite), regressions=(alone,), own_regressions={}, accepted=())
    return replace(thresholds, suites={**thresholds.suites, suite: changed})


def commits_between(root: Path, good: str, bad: str) -> list[tuple[str, str]]:
    """The commits after good up to bad, the oldest first, each with its parent: the first parent if it is a merge."""
    listed = git(root, "rev-list", "--first-parent", "--reverse", "--parents", f"{good}..{bad}")
    pairs = [line.split()[:2] for line in listed.text.splitlines()]
    return [(each[0], each[1]) for each in pairs if len(each) == 2]


def candidate_of(root: Path, sha: str) -> Candidate:
    subject, author_time = git(root, "log", "-1", "--format=%s%x00%aI", sha).text.split("\0")
    return Candidate(sha=sha, subject=one_line(subject, MESSAGE), author_time=author_time)
