"""Adds the results of a job to the branch of the site. Existing data never changes."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pushbench.ci.branch import Branch
from pushbench.ci.github import GitHub
from pushbench.ci.github_changes import home
from pushbench.ci.github_dispatch import COMPLETED, wait_completed
from pushbench.ci.reporting import expected_run, fetch_results
from pushbench.ci.result import Measured, Results, Searched
from pushbench.ci.trend import NoPoint, origin
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.metrics.kept import entry_of, require_whole
from pushbench.records import capacity_history, history, store
from pushbench.reporting.exporting import Benchmark, Tool, github_action_benchmark
from pushbench.reporting.summary import summarize
from pushbench.site.releases import Release, read_tags

HISTORY = "history"
RECORDS = "records"
CAPACITIES = "capacity"


def of_run(github: GitHub, run_id: int, *, sleep: Callable[[float], None] = time.sleep) -> Results | str:
    """The results of a run of bench.yml for the branch, once it is completed, or why there is nothing to publish.

    Raises UserError for a run of another workflow. Also raises UserError for a point of the trend that does not end,
    lacks results, or contradicts GitHub.
    """
    try:
        begun = origin(expected_run(github, run_id), home(github))
    except NoPoint as error:
        return error.what
    run = wait_completed(github, run_id, sleep=sleep)
    if run.status != COMPLETED:
        raise UserError(f"the run {run_id} is still {run.status}", hint="start publish.yml again when it is completed")
    if run.conclusion not in ("success", "failure"):  # a run that broke its limits is also a point
        return f"the run {run_id} is {run.conclusion}"
    results, problem = fetch_results(github, run)
    if results is None:
        raise UserError(f"the run {run_id} has no results: {problem or 'it left none'}")
    if results.result.outcome == "gave-way":
        return f"the run {run_id} gave way: it is published when another run has completed it"
    if results.result.plan.sha != begun.sha:
        raise UserError(f"the run {run_id} is for {begun.sha[:12]}, its results are for {results.result.plan.sha[:12]}")
    return results


def publishable(results: Results) -> list[Measured]:
    """Runs of a whole plan and of one arm: points of a trend. Raises UserError if there is none."""
    found = [
        each
        for number, each in sorted(results.measured.items())
        if each.record.comparison is None and each.record.complete and each.record.trials
    ]
    if not found:
        raise UserError("nothing to publish: no run of the job is complete")
    return found


def add(folder: Path, measured: Measured) -> list[Path]:
    """Write a run into a checkout of the branch. The same run again changes nothing. Raises UserError."""
    record = measured.record
    entry = history.append(folder / HISTORY, record)
    path = store.record_files(folder / RECORDS).get(record.id)
    if path is None:
        path = folder / RECORDS / f"{record.id}.json.gz"
        write_atomically(path, store.packed(store.as_bytes(record)))
    (folder / ".nojekyll").touch()
    return [entry, path]


def add_search(folder: Path, searched: Searched) -> list[Path]:
    """Write a search into a checkout of the branch: its entry, and its record for the site. An interrupted search is
    not written. The same search again changes nothing. Raises UserError.
    """
    record = searched.record
    try:
        require_whole(record)
    except UserError:
        return []
    entry = capacity_history.append(folder / HISTORY, entry_of(record))
    path = folder / CAPACITIES / f"{record.id}.json.gz"
    if not path.exists():
        write_atomically(path, store.packed(record.model_dump_json(by_alias=True).encode() + b"\n"))
    return [entry, path]


def released(branch: Branch, note: Callable[[str], None]) -> list[Release]:
    """The releases from the tags of the branch's repository, which a job's checkout lacks. They are optional."""
    with tempfile.TemporaryDirectory(prefix="pushbench-") as folder:
        if not branch.fetch_tags(Path(folder)):
            note("the tags cannot be fetched: no new release is marked")
        return read_tags(Path(folder))


def export(folder: Path, measured: Sequence[Measured]) -> list[Path]:
    """Write the files for github-action-benchmark, one for each of its tools that has numbers; return them."""
    found: dict[Tool, list[Benchmark]] = {}
    for each in measured:
        for tool, benchmarks in github_action_benchmark(each.record, summarize(each.record, each.verdict)).items():
            found.setdefault(tool, []).extend(benchmarks)
    paths = []
    for tool, benchmarks in found.items():
        if not benchmarks:
            continue
        paths.append(folder / f"{tool}.json")
        write_atomically(paths[-1], json.dumps(benchmarks, indent=2).encode() + b"\n")
    return paths
