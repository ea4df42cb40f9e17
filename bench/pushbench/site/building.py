"""Builds the site of a folder of records and a history: reads new files, writes changed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pushbench.calibration import own_runs
from pushbench.foundation.errors import UserError
from pushbench.metrics.definitions import Metrics, metrics_of
from pushbench.records.vocabulary import ORIGINAL, Vocabulary
from pushbench.site import (
    badges,
    capacities,
    charts,
    context,
    feed,
    keeping,
    manifest,
    marks,
    overview,
    publications,
    releases,
    series,
)
from pushbench.site.combining import Combination, read_combinations, write_series
from pushbench.site.context import Context
from pushbench.site.events import Event
from pushbench.site.filing import ENTRIES, Filing
from pushbench.site.inputs import Inputs, Note
from pushbench.site.layout import Data, Folder, part
from pushbench.site.releases import Release
from pushbench.site.state import State


@dataclass(frozen=True)
class Built:
    runs: int
    written: list[str]
    """paths of the files that are new or changed"""


def build(inputs: Inputs, out: Path, note: Note) -> Built:
    """Write the data of the site into `out`. Raises UserError for a broken file of the history; an unreadable record is
    left out with a note.
    """
    folder, state = Folder(out), State.read(out, inputs.thresholds.digest)
    known = context.read_context(inputs.project, inputs.repository)
    filing = Filing(inputs, folder, state, note)
    filing.file()
    judged = own_runs.with_own_runs(known.calibration, state.own_cases(), inputs.thresholds.digest)
    known = replace(known, calibration=judged)
    released = _write_releases(inputs, folder, note)
    described, moved = [], []
    metrics: dict[str, Metrics] = {}
    words = partial(_words, known, state)
    combinations = read_combinations(inputs.history, out / ENTRIES, inputs.project.history_cache, words)
    combinations.sort(key=lambda each: bool(state.environments.get(each.environment, {}).get("machine")))
    for combination in combinations:
        marked = _write_marks(folder, state, combination, combinations, released)
        metrics[combination.id] = metrics_of(combination.words)
        about, events = _write_combination(inputs, folder, state, filing, combination, marked=marked)
        described.append(about)
        moved += events
    ids = filing.ids
    rows = [filing.row(each) for each in ids[: manifest.RUNS]]
    folder.data("method", context.method(known, inputs.thresholds))
    folder.data("publications", publications.read_publications(inputs.project.root / "docs" / "publications.yml"))
    folder.write("feed.xml", feed.feed(moved, metrics, known.repository).encode())
    _write_badges(folder, words, described, rows)
    searched = capacities.file_capacities(folder, inputs.capacities, state, note)
    drawn = charts.write_charts(
        folder, known, inputs.thresholds, combinations, environments=state.environments, searched=searched
    )
    whole = manifest.manifest(known, inputs, described, rows, state.environments, words=words, all_runs=len(ids)) | {
        "charts": drawn,
        "capacities": searched,
    }
    folder.data("manifest", whole)
    folder.write("data/manifest.json", manifest.as_json(whole))
    state.write(out)
    if said := keeping.warning(folder.bytes()):
        note(said)
    return Built(len(ids), folder.written)


def _words(known: Context, state: State, suite: str) -> Vocabulary:
    """The words of the checkout, or else of the suite's newest record. A suite with neither predates other suites."""
    there = known.suite(suite)
    return there.spec.words if there else state.words_of(suite) or ORIGINAL


def _write_releases(inputs: Inputs, folder: Folder, note: Note) -> list[Release]:
    """Write the known releases. A file that cannot be read may have a newer format: it stays unchanged."""
    try:
        known = releases.read_kept(folder.root / releases.FILE)
    except UserError as error:
        note(f"left unchanged: {error}")
        return list(inputs.released)
    found = releases.merged(known, inputs.released)
    if found:
        folder.write(releases.FILE, releases.as_json(found))
    return found


def _write_marks(
    folder: Folder,
    state: State,
    combination: Combination,
    combinations: Sequence[Combination],
    released: Sequence[Release],
) -> Data:
    """Write the marks into a file of their own: a release changes no window, and a window no mark."""
    alike = [each for each in combinations if each.measures == combination.measures]
    measured_with = {
        head.record: known for head in combination.runs.heads if (known := state.tools_of(head.record)) is not None
    }
    found = marks.marks(combination, alike, released, state.environments, measured_with)
    folder.data(f"{combination.id}/marks", found)
    return found


def _write_combination(
    inputs: Inputs,
    folder: Folder,
    state: State,
    filing: Filing,
    combination: Combination,
    *,
    marked: Data,
) -> tuple[Data, list[Event]]:
    stages = series.stages(combination.runs)
    windows, events = write_series(folder, state, combination, stages, inputs.thresholds.suite(combination.suite))
    newest = filing.row(combination.newest)
    seen = overview.overview(combination, stages, inputs.thresholds, events, newest, outcome=filing.outcome)
    folder.data(f"{combination.id}/overview", seen)
    return manifest.combination(combination, stages, windows, seen, marked), events


def _write_badges(folder: Folder, words: Callable[[str], Vocabulary], described: list[Data], rows: list[Data]) -> None:
    """Badges are of each suite's first combination: the one with the newest runs other than tests."""
    first: dict[str, Data] = {}
    for each in described:
        first.setdefault(each["suite"], each)
    for name, text in badges.of_suites([(each, words(suite)) for suite, each in first.items()], rows):
        folder.write(f"badges/{part(name)}.svg", text.encode())
