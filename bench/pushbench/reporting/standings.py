"""The order of a suite's servers, and whether two measurements order them alike. From compact records. Pure.

Places are those of the ranking (`statistics/ties`). Trials of several runs are combined if a server has the same build
in them; of two builds, the newer one counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from pushbench.foundation.errors import UserError
from pushbench.records.compact import CompactRun, CompactServer
from pushbench.statistics import ties


@dataclass(frozen=True)
class Standing:
    """A server's trials in all runs that have its newest build."""

    name: str
    newest: CompactServer
    headline: Sequence[float]
    cost: Sequence[float]
    memory: Sequence[float]
    late: float
    records: Sequence[CompactRun]

    @property
    def subject(self) -> ties.Subject:
        return ties.Subject(self.name, self.headline, self.late)


@dataclass(frozen=True)
class Standings:
    """The servers of a suite: groups that share a place, the best first, and the servers without a place."""

    runs: Sequence[CompactRun]
    groups: Sequence[Sequence[Standing]]
    unplaced: Sequence[Standing]

    @property
    def ranks(self) -> dict[str, int]:
        """The place of each server, from 1; servers of a group share one."""
        found: dict[str, int] = {}
        for group in self.groups:
            found |= dict.fromkeys((each.name for each in group), len(found) + 1)
        return found

    @property
    def places(self) -> dict[str, str]:
        """The places as a table shows them: `1=` if it is shared, `3`."""
        ranks = self.ranks
        shared = list(ranks.values())
        return {name: f"{rank}{'=' if shared.count(rank) > 1 else ''}" for name, rank in ranks.items()}

    @property
    def placed(self) -> list[Standing]:
        return [each for group in self.groups for each in group]


@dataclass(frozen=True)
class Agreement:
    """The pairs of servers that have different places in both measurements."""

    alike: int
    """pairs in the same order in both"""
    reversed: Sequence[tuple[str, str]]
    """pairs whose first server is better in the first measurement, and worse in the second"""


def standings(runs: Sequence[CompactRun]) -> Standings:
    """The servers of these runs of one suite. Raises UserError for different loads."""
    require_one_load(runs)
    servers = [_standing(name, runs) for name in sorted({name for run in runs for name in run.servers})]
    placed = {each.name: each for each in servers if each.headline and not each.newest.problem}
    groups = ties.groups([each.subject for each in placed.values()])
    return Standings(
        runs=runs,
        groups=[[placed[each.name] for each in group] for group in groups],
        unplaced=[each for each in servers if each.name not in placed],
    )


def agreement(first: Standings, second: Standings) -> Agreement:
    """How two measurements order the servers that have a place in both."""
    here, there = first.ranks, second.ranks
    pairs = [
        (better, worse)
        for better, worse in combinations((name for name in here if name in there), 2)
        if here[better] != here[worse] and there[better] != there[worse]
    ]
    swapped = [(better, worse) for better, worse in pairs if there[better] > there[worse]]
    return Agreement(len(pairs) - len(swapped), swapped)


def require_one_load(runs: Sequence[CompactRun]) -> None:
    """Raises UserError if two runs of a suite have different loads."""
    for run in runs[1:]:
        first = runs[0]
        if (run.profile, run.stage, run.parameters) != (first.profile, first.stage, first.parameters):
            what = f"{run.record} has another profile, stage or parameters than {first.record}: no ranking has both"
            raise UserError(what, hint="remove the file of one of them")


def _standing(name: str, runs: Sequence[CompactRun]) -> Standing:
    having = [run for run in runs if name in run.servers]
    newest = having[-1].servers[name]
    alike = [run for run in having if run.servers[name].build == newest.build]
    found = [run.servers[name] for run in alike]
    return Standing(
        name=name,
        newest=newest,
        headline=[value for each in found if not each.problem for value in each.headline],
        cost=[value for each in found if not each.problem for value in each.cost],
        memory=[value for each in found if not each.problem for value in each.memory],
        late=max(each.late for each in found),
        records=alike,
    )
