"""Events along the runs of a combination other than commits: releases, other environments, other tools. Pure.

A mark belongs to the first run after the change. Values that alternate between runs, as with two machines, are no
change: a change lasts, or occurs only once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, groupby, pairwise
from typing import Any, Generic, TypeVar

from pushbench.foundation.text import one_line
from pushbench.records.runs import Head
from pushbench.site.combining import Combination
from pushbench.site.layout import Data
from pushbench.site.releases import Release
from pushbench.site.series import COMMIT
from pushbench.statistics.trend import SHORTEST_LEVEL

MOST = 200
"""of a kind, the newest: more would make a file that no chart can show"""

T = TypeVar("T", bound=Hashable)
MeasuredWith = Mapping[str, Data]
"""`Tools` by the ids of runs"""


def marks(
    combination: Combination,
    alike: Sequence[Combination],
    releases: Sequence[Release],
    environments: Mapping[str, Data],
    tools: MeasuredWith,
) -> Data:
    """`alike` are the combinations that differ only in their environment, this one included; `environments` are the
    known environments by their keys.
    """
    found = {
        "release": list(_released(combination.runs.heads, releases)),
        "environment": list(_environments(combination, alike, environments)),
        "harness": list(_harness(combination.runs.heads, tools)),
        "versions": list(_versions(combination.runs.heads, tools)),
    }
    kept = [{"kind": kind, **mark} for kind, all_of in found.items() for mark in _newest(all_of)]
    left_out = sum(map(len, found.values())) - len(kept)
    return {"marks": sorted(kept, key=lambda mark: mark["at"]), "left_out": left_out}


def _newest(found: Sequence[Data]) -> list[Data]:
    return sorted(found, key=lambda mark: mark["at"])[-MOST:]


@dataclass(frozen=True)
class Stretch(Generic[T]):
    """Consecutive runs with the same value, from `begin` to `last`."""

    value: T
    begin: int
    last: int
    runs: int


def stretches(values: Sequence[T | None]) -> list[Stretch[T]]:
    """The stretches; neighbours have different values. A short stretch is left out if its value occurs elsewhere too
    and the value before it returns after it. A value of None is unknown.
    """
    every = list(_unbroken(values))
    times = Counter(each.value for each in every)
    around = zip([None, *every], every, [*every[1:], None], strict=False)
    return _joined(
        [
            each
            for before, each, after in around
            if each.runs >= SHORTEST_LEVEL
            or (times[each.value] == 1 and not (before and after and before.value == after.value))
        ]
    )


def _unbroken(values: Sequence[T | None]) -> Iterator[Stretch[T]]:
    known = (at for at, value in enumerate(values) if value is not None)
    for value, places in groupby(known, key=values.__getitem__):
        begin, *rest = places
        if value is not None:
            yield Stretch(value, begin, rest[-1] if rest else begin, 1 + len(rest))


def _joined(found: Sequence[Stretch[T]]) -> list[Stretch[T]]:
    joined: list[Stretch[T]] = []
    for each in found:
        if joined and joined[-1].value == each.value:
            before = joined[-1]
            joined[-1] = Stretch(each.value, before.begin, each.last, before.runs + each.runs)
        else:
            joined.append(each)
    return joined


def _released(heads: Sequence[Head], releases: Sequence[Release]) -> Iterator[Data]:
    """A mark at the run of the release's commit, or else at the first run created after that commit. Releases from
    before the first run are not on the axis, and releases without a later run are not there yet.
    """
    runs = {head.commit: number for number, head in reversed(list(enumerate(heads)))}
    # A single wrong clock must not hide the runs after it.
    times = list(accumulate(map(_seconds, (head.created for head in heads)), max))
    for release in releases:
        time = _seconds(release.date)
        exact = release.commit in runs
        at = runs[release.commit] if exact else bisect_left(times, time)
        if exact or (at < len(heads) and time >= times[0]):
            yield {"at": at, "name": release.name, "commit": release.commit[:COMMIT], "time": time, "exact": exact}


def _environments(
    combination: Combination, alike: Sequence[Combination], environments: Mapping[str, Data]
) -> Iterator[Data]:
    """Where the runs moved to another environment, and where they came from one."""
    line = sorted((head.record, each.id, at) for each in alike for at, head in enumerate(each.runs.heads))
    named = {each.id: each for each in alike}
    found = stretches([name for _, name, _ in line])
    own = [number for number, each in enumerate(found) if each.value == combination.id]
    sides = [("before", number, number - 1) for number in own if number > 0]
    if own and own[-1] + 1 < len(found):
        sides.append(("after", own[-1], own[-1] + 1))
    for where, number, neighbour in sides:
        here, there = found[number], found[neighbour]
        other = named[there.value]
        begin, last = (_seconds(other.runs.heads[line[at][2]].created) for at in (there.begin, there.last))
        facts = [environments.get(each.environment) for each in (combination, other)]
        mark = {"where": where, "environment": other.environment, "combination": other.id}
        if where == "before":
            past = {"from": begin, "to": last, "runs": there.runs}
            yield {"at": line[here.begin][2]} | mark | past | {"changed": _differences(*reversed(facts))}
        else:
            # The other stretch may continue: later runs there must not change this mark.
            yield {"at": line[here.last][2]} | mark | {"from": begin, "changed": _differences(*facts)}


def _differences(before: Data | None, after: Data | None) -> list[list[str]] | None:
    """The differences; None if no record describes one of the environments."""
    return _changed(_environment_facts(before), _environment_facts(after)) if before and after else None


def _environment_facts(environment: Data) -> dict[str, str]:
    """The facts in the environment's key. Environments from earlier sites have neither generators nor method."""
    return {
        "CPU": one_line(environment["cpu_model"], 100),
        "CPUs": str(environment["cpus"]),
        "cores": str(environment["physical_cores"] or "not reported"),
        "memory": f"{environment['memory_bytes'] / 2**30:.0f} GiB",
        "kernel": one_line(environment["kernel"], 100),
        "driver": environment["driver"],
        "engine": one_line(environment["engine"] or "none", 100),
        "workers": str(environment["workers"] or "one per CPU"),
        "generators": str(environment.get("generators") or 1),
        "idle CPUs": "kept awake" if environment.get("awake") else "may halt",
        "method": str(environment.get("method") or 1),
        "apart on": environment.get("machine") or "no machine",
        "server on CPU": ", ".join(map(str, environment["server_cpus"])),
        "generator on CPU": ", ".join(map(str, environment["generator_cpus"])),
    }


def _harness(heads: Sequence[Head], tools: MeasuredWith) -> Iterator[Data]:
    known = [tools.get(head.record) for head in heads]
    return _moves(heads, [_hashable(each["harness"]) if each else None for each in known])


def _versions(heads: Sequence[Head], tools: MeasuredWith) -> Iterator[Data]:
    """Versions that servers report; each server has marks of its own."""
    known = [tools.get(head.record, {}).get("servers", {}) for head in heads]
    for server in sorted({server for servers in known for server in servers}):
        reported = [_hashable(servers[server]) if server in servers else None for servers in known]
        for mark in _moves(heads, reported):
            yield {"server": server} | mark


def _moves(heads: Sequence[Head], facts: Sequence[tuple[tuple[str, str], ...] | None]) -> Iterator[Data]:
    """`last` is the time of the last run with the old facts, if the facts of later runs are unknown."""
    for before, after in pairwise(stretches(facts)):
        mark: Data = {"at": after.begin, "changed": _changed(dict(before.value), dict(after.value))}
        yield mark if before.last == after.begin - 1 else mark | {"last": _seconds(heads[before.last].created)}


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[list[str]]:
    """[what, from, to]"""
    names = list(dict.fromkeys([*before, *after]))
    pairs = [[name, before.get(name, "none"), after.get(name, "none")] for name in names]
    return [each for each in pairs if each[1] != each[2]]


def _hashable(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(facts.items())


def _seconds(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp())
