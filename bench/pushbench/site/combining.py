"""The comparable runs, and the files of their series: a combination is an environment, a suite, a profile and
parameters."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pushbench.judging.thresholds import SuiteThresholds
from pushbench.records import history
from pushbench.records.record import Parameters
from pushbench.records.runs import Runs, read_runs
from pushbench.records.vocabulary import Vocabulary
from pushbench.site import events, series
from pushbench.site.events import Event
from pushbench.site.layout import Data, Folder, data_name, part
from pushbench.site.series import Stage
from pushbench.site.state import State
from pushbench.site.windows import RunWindow, windows


@dataclass(frozen=True)
class Combination:
    environment: str
    suite: str
    profile: str
    parameters: Parameters
    runs: Runs
    words: Vocabulary

    @cached_property
    def id(self) -> str:
        """The combination's folder below `data/`; it names the parameters, so it stays valid when a profile changes."""
        digest = hashlib.sha256(json.dumps(self.parameters, sort_keys=True).encode()).hexdigest()[:6]
        return data_name(self.environment, self.suite, self.profile, digest)

    @property
    def measures(self) -> tuple[str, str, Parameters]:
        """What is equal in different environments."""
        return self.suite, self.profile, self.parameters

    @property
    def newest(self) -> str:
        return self.runs.heads[-1].record


def read_combinations(store: Path, beside: Path, cache: Path, words: Callable[[str], Vocabulary]) -> list[Combination]:
    """The combinations in reading order: the most recently measured first, tests of a few seconds last. `words` returns
    the words of a suite.

    Raises UserError for a file that is not an entry.
    """
    keys = {*history.folders(beside), *history.folders(store)}
    found = [
        Combination(environment, suite, profile, parameters, runs, words(suite))
        for environment, suite, profile in sorted(keys)
        for parameters, runs in _alike(read_runs(store, environment, suite, profile, cache, beside=beside))
    ]
    found.sort(key=lambda each: (each.newest, each.id), reverse=True)
    return sorted(found, key=lambda each: each.profile == "smoke")


def _alike(runs: Runs) -> Iterator[tuple[Parameters, Runs]]:
    """The runs, split by parameters."""
    groups: dict[str, list[int]] = {}
    for number, head in enumerate(runs.heads):
        groups.setdefault(json.dumps(head.parameters, sort_keys=True), []).append(number)
    for numbers in groups.values():
        yield runs.heads[numbers[0]].parameters, runs if len(groups) == 1 else runs.only(numbers)


def write_series(
    folder: Folder, state: State, combination: Combination, stages: Sequence[Stage], thresholds: SuiteThresholds
) -> tuple[list[RunWindow], list[Event]]:
    """Write the files of all windows that are missing or have other runs."""
    found = windows(combination.runs.heads)
    known = state.known_combination(combination.id, _versions(found))
    if known and folder.has(f"data/{combination.id}/recent/runs.js"):
        state.combinations[combination.id] = known
        return found, [Event(**each) for each in known["events"]]
    before = state.known_versions(combination.id)
    recent: dict[tuple[str, str], Data] = {}
    for window in found:
        there = before.get(window.name) == window.version and folder.has(_name(combination, window, "runs.js"))
        if window.recent or not there:
            written = _write_window(folder, combination, window, stages)
            recent = written if window.recent else recent
    moved = events.events(combination.id, combination.runs, stages, thresholds, recent)
    state.combinations[combination.id] = {
        "version": _versions(found),
        "windows": {window.name: window.version for window in found},
        "events": [event.data() for event in moved],
    }
    return found, moved


def _write_window(
    folder: Folder, combination: Combination, window: RunWindow, stages: Sequence[Stage]
) -> dict[tuple[str, str], Data]:
    runs, written = combination.runs, {}
    for stage in stages:
        for metric in series.metrics(runs, combination.words):
            data = series.series_of(runs, window, stage.name, metric)
            if data["servers"]:
                folder.data(f"{combination.id}/{window.name}/{data_name(stage.name, metric)}", data)
                written[stage.name, metric] = data
    # Written last: its presence means that the other files are complete.
    folder.data(f"{combination.id}/{window.name}/runs", series.runs_of(runs, window))
    return written


def _name(combination: Combination, window: RunWindow, file: str) -> str:
    return f"data/{combination.id}/{window.name}/{part(file)}"


def _versions(found: Sequence[RunWindow]) -> str:
    return hashlib.sha256("".join(window.version for window in found).encode()).hexdigest()[:10]
