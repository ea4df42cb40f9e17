"""The manifest: what a page needs before it requests anything else. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence

from pushbench.records.vocabulary import Vocabulary
from pushbench.reporting.looks import looks
from pushbench.site import context
from pushbench.site.combining import Combination
from pushbench.site.context import Context
from pushbench.site.inputs import Inputs
from pushbench.site.layout import SCHEMA, Data
from pushbench.site.series import Stage, metrics
from pushbench.site.trust import error_rates
from pushbench.site.windows import RunWindow

RUNS = 100
"""newest runs in the list; older ones are found in the trends"""
_ONLY_IN_STATE = ("reasons", "outcomes")


def manifest(
    known: Context,
    inputs: Inputs,
    combinations: Sequence[Data],
    rows: Sequence[Data],
    environments: Mapping[str, Data],
    *,
    words: Callable[[str], Vocabulary],
    all_runs: int,
) -> Data:
    """`rows` are those of the newest of `all_runs` runs; `words` returns the words of a suite."""
    used = {each["environment"] for each in [*combinations, *rows]}
    measured = {each["suite"] for each in [*combinations, *rows]}
    return {
        "repository": known.repository,
        "judged_by": inputs.thresholds.digest[:10],
        "servers": context.servers(known),
        "looks": looks(known.looks, _names(known, combinations)),
        "suites": context.suites(known, measured, words, inputs.thresholds),
        "judge": error_rates(known.calibration),
        "margins": context.margins(inputs.thresholds),
        "environments": {key: environments[key] for key in sorted(used) if key in environments},
        "combinations": [{key: value for key, value in each.items() if key != "rows"} for each in combinations],
        "runs": [_listed(row) for row in rows],
        "all_runs": all_runs,
        "keep": inputs.keep,
    }


def combination(
    found: Combination,
    stages: Sequence[Stage],
    windows: Sequence[RunWindow],
    seen: Data,
    marked: Data,
) -> Data:
    """The result's `rows` are those of its overview, which badges use. Without marks, `marks` is None: pages request
    none.

    All runs of a combination have one method. Rows of earlier sites do not name it, because only method 1 existed.
    """
    heads = found.runs.heads
    return {
        "id": found.id,
        "environment": found.environment,
        "method": seen["newest"].get("method", 1),
        "suite": found.suite,
        "profile": found.profile,
        "parameters": found.parameters,
        "stages": [{"name": stage.name, "clients": stage.clients} for stage in stages],
        "metrics": metrics(found.runs, found.words),
        "servers": found.runs.servers,
        "runs": len(heads),
        "first": heads[0].created,
        "last": heads[-1].created,
        "overview": _digest(seen),
        "marks": _digest(marked) if marked["marks"] else None,
        "windows": [
            {"name": window.name, "from": window.begin, "to": window.end, "version": window.version}
            | {"first": heads[window.begin].created}
            for window in windows
        ],
        "rows": seen["rows"],
    }


def as_json(whole: Data) -> bytes:
    """The manifest as JSON, for programs."""
    return json.dumps({"schema": SCHEMA, **whole}, indent=1).encode() + b"\n"


def _names(known: Context, combinations: Sequence[Data]) -> set[str]:
    return {server.id for server in known.servers} | {server for each in combinations for server in each["servers"]}


def _listed(row: Data) -> Data:
    return {key: value for key, value in row.items() if key not in _ONLY_IN_STATE}


def _digest(data: Data) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:10]
