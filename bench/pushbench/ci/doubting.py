"""The servers that a push compares in pairs, because their history cannot tell whether they got worse. Reads a history,
and runs git.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushbench.catalog.servers import Server
from pushbench.ci.budget import CANNOT_TELL, LOOKS_WORSE, Doubt
from pushbench.ci.fetching import has
from pushbench.ci.last_measured import changed
from pushbench.foundation.git import git
from pushbench.judging.levels import Standing, standing
from pushbench.judging.thresholds import Regression, Thresholds
from pushbench.records import history
from pushbench.records.runs import Runs, day_of, first_since, read_runs


@dataclass(frozen=True)
class _Row:
    stage: str
    regression: Regression


def read_doubts(
    store: Path, root: Path, servers: Sequence[Server], profile: str, *, thresholds: Thresholds, cache: Path
) -> list[Doubt]:
    """The doubts from the newest runs of each suite with the profile, the most urgent first.

    `root` is a checkout with its history. Raises UserError for a file that is not an entry.
    """
    found: list[Doubt] = []
    for suite in sorted({server.spec.suite for server in servers}):
        for environment in history.environments(store, suite, profile)[:1]:
            runs = read_runs(store, environment, suite, profile, cache)
            alike = [at for at, head in enumerate(runs.heads) if head.parameters == runs.heads[-1].parameters]
            own = [server for server in servers if server.spec.suite == suite]
            found += _Doubts(runs.only(alike), root, thresholds, suite).of(own)
    return sorted(found, key=lambda doubt: doubt.order)


@dataclass(frozen=True)
class _Doubts:
    runs: Runs
    root: Path
    thresholds: Thresholds
    suite: str

    def of(self, servers: Sequence[Server]) -> Iterator[Doubt]:
        rows = {each.id: [_Row(*row) for row in self._rows(each)] for each in servers}
        among = sum(len(each) for each in rows.values())
        for server in servers:
            found = {row: self._standing(server, row, among) for row in rows[server.id]}
            if doubt := self._doubt(server, found):
                yield doubt

    def _rows(self, server: Server) -> Iterator[tuple[str, Regression]]:
        judged = [each for each in self.thresholds.margins(self.suite, server.id) if not each.of.added]
        for stage in self.runs.stages(server.id):
            for each in judged:
                if self.runs.measured(server.id, stage, each.metric):
                    yield stage, each

    def _standing(self, server: Server, row: _Row, among: int) -> Standing:
        values = self.runs.column(server.id, row.stage, row.regression.metric)
        known = self.runs.measured(server.id, row.stage, row.regression.metric)
        day = day_of(self.runs.heads[known[-1]])
        line = self.thresholds.accepted(self.suite, server.id, row.stage, row.regression.metric, day)
        begin = first_since(self.runs, known, line.begin) if line and line.begin else 0
        return standing(values[:-1], values[-1], row.regression, among, begin=begin)

    def _doubt(self, server: Server, found: Mapping[_Row, Standing]) -> Doubt | None:
        having = self.runs.having(server.id)
        if not found or not having:
            return None
        suspects = [
            self.runs.measured(server.id, row.stage, row.regression.metric)[-1 - seen.newest]
            for row, seen in found.items()
            if seen.word == "unknown" and seen.suspected == "worse"
        ]
        newest = self.runs.heads[having[-1]].commit
        if suspects:
            return self._against(server, min(suspects), LOOKS_WORSE)
        if any(_is_wide(seen) for seen in found.values()) and changed(self.root, server, newest):
            return self._against(server, having[-1], CANNOT_TELL)
        return None

    def _against(self, server: Server, run: int, why: str) -> Doubt | None:
        """The doubt; None if the commit is not in the history of the checkout, or lacks the server."""
        head = self.runs.heads[run]
        commit = head.commit or ""
        if not re.fullmatch(r"[0-9a-f]{40}", commit) or not has(self.root, commit):
            return None
        folder = server.folder.relative_to(self.root)
        there = git(self.root, "cat-file", "-e", f"{commit}:{folder.as_posix()}").ok
        past = git(self.root, "merge-base", "--is-ancestor", commit, "HEAD").ok
        return Doubt(server, commit, head.created, why) if there and past else None


def _is_wide(seen: Standing) -> bool:
    """Whether no run can be called the same, because single runs vary by more than the margin."""
    if seen.accepted is None or seen.margin is None:
        return True
    return seen.accepted.high - seen.accepted.level > seen.margin
