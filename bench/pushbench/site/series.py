"""The series of a window as columns: values of all servers, their levels, bands and changes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import isfinite

import numpy as np

from pushbench.foundation.text import one_line
from pushbench.records.runs import PRESENT, Runs
from pushbench.records.stages import by_numbers, headline, is_named
from pushbench.records.vocabulary import Vocabulary
from pushbench.reporting.rows import groups
from pushbench.site.layout import Data
from pushbench.site.windows import STEP, RunWindow
from pushbench.statistics import trend

LEAD = STEP
"""runs before a window that are included in the search for changes, so that a change at its border is found"""
SUBJECT = 100
"""characters of a commit's subject; the link leads to all of it"""
COMMIT = 12
"""digits of a commit's hash, enough for links; the run's own file has the whole hash"""


class Stage:
    """A stage of a combination, as known from a history."""

    def __init__(self, name: str, clients: int) -> None:
        self.name, self.clients = name, clients

    @property
    def order(self) -> tuple[bool, int, list[str | int]]:
        return is_named(self), self.clients, by_numbers(self.name)


def stages(runs: Runs) -> list[Stage]:
    """The stages of any run, by size, with named stages last."""
    clients: dict[str, float] = {}
    for (_, stage, metric), column in runs.columns.items():
        if metric == "clients":
            values = runs.values[: len(runs.heads), column]
            known = values[~np.isnan(values)]
            if len(known):
                clients[stage] = max(clients.get(stage, 0.0), float(known[-1]))
    return sorted((Stage(name, _size(name, found)) for name, found in clients.items()), key=lambda stage: stage.order)


def _size(name: str, members: float) -> int:
    """The clients of a stage. A numeric name is the number requested; a history keeps only the number present."""
    return int(name) if name.isdigit() else round(members)


def metrics(runs: Runs, words: Vocabulary) -> list[str]:
    """The metrics with a trend in any run: those of the comparison's table."""
    found = {metric for _, _, metric in runs.columns}
    return [row.metric for group in groups(words) for row in group if row.metric in found - {"clients"}]


def runs_of(runs: Runs, window: RunWindow) -> Data:
    """The properties of a window's runs, one column each; times in seconds since 1970."""
    heads = runs.heads[window.begin : window.end]
    return {
        "from": window.begin,
        "ids": [head.record for head in heads],
        "times": [int(datetime.fromisoformat(head.created).timestamp()) for head in heads],
        "commits": [(head.commit or "")[:COMMIT] for head in heads],
        "subjects": [one_line(head.subject, SUBJECT) for head in heads],
        "invalid": {server: found for server in runs.servers if (found := _invalid(runs, window, server))},
    }


def series_of(runs: Runs, window: RunWindow, stage: str, metric: str) -> Data:
    """One metric in one stage, for all servers. Indices count from the beginning of the window."""
    found = {server: _series(runs, window, server, stage, metric) for server in runs.servers}
    return {"from": window.begin, "servers": {server: each for server, each in found.items() if each}}


def _series(runs: Runs, window: RunWindow, server: str, stage: str, metric: str) -> Data | None:
    column = runs.columns.get((server, stage, metric))
    if column is None:
        return None
    lead = max(0, window.begin - LEAD)
    values = runs.values[lead : window.end, column]
    measured = np.flatnonzero(~np.isnan(values))
    inside = measured[measured >= window.begin - lead]
    if not len(inside):
        return None
    known: list[float] = values[measured].tolist()
    changes = trend.changes(known) if min(known) > 0 else []
    shift = window.begin - lead
    return {
        "values": [_number(value) for value in values[shift:].tolist()],
        "levels": [
            [max(0, int(measured[level.begin]) - shift), int(measured[level.end - 1]) - shift + 1, *_band(level.band)]
            for level in trend.levels(known, changes)
            if measured[level.end - 1] >= shift
        ],
        "changes": [
            [int(measured[change.index]) - shift, _short(change.before), _short(change.after)]
            for change in changes
            if measured[change.index] >= shift
        ],
    }


def _band(band: trend.Band | None) -> list[float | None]:
    return [_short(each) for each in (band.low, band.level, band.high)] if band else [None, None, None]


def _invalid(runs: Runs, window: RunWindow, server: str) -> list[int]:
    """Runs in which the server had no valid trial."""
    column = runs.columns.get((server, *PRESENT))
    if column is None:
        return []
    found: list[int] = np.flatnonzero(runs.values[window.begin : window.end, column] == 0).tolist()
    return found


def _number(value: float) -> float | int | None:
    if not isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else value


def _short(value: float) -> float:
    """A number with four digits: bands and levels are estimates."""
    return float(f"{value:.4g}")


def ranking_stage(found: Sequence[Stage]) -> Stage | None:
    """The stage of the combination's headline; None without one."""
    return found[headline(found)] if found else None
