"""Changes: relevant changes of level, found in the series of a combination. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from pushbench.foundation.text import one_line
from pushbench.judging.thresholds import Regression, SuiteThresholds
from pushbench.metrics.definitions import Better
from pushbench.records.runs import Runs
from pushbench.site.layout import Data
from pushbench.site.series import COMMIT, SUBJECT, Stage
from pushbench.statistics.trend import SHORTEST_LEVEL

_NAMESPACE = uuid.UUID("5f0e5c8e-6d1b-5d3f-9a43-2f1f6a3f0b7e")
"""fixed; ids of feed entries are derived from it and never change"""


@dataclass(frozen=True)
class Event:
    """A metric's level moved by at least the margin for one server, between the runs `previous` and `run`."""

    id: str
    combination: str
    server: str
    metric: str
    stage: str
    stages: list[str]
    """all stages in which it moved; `stage` is the largest"""
    word: Literal["better", "worse"]
    before: float
    after: float
    run: str
    created: str
    commit: str
    previous: str
    """commit of the previous run"""
    subject: str

    def data(self) -> Data:
        return asdict(self)


def events(
    combination: str,
    runs: Runs,
    stages: Sequence[Stage],
    thresholds: SuiteThresholds,
    series: Mapping[tuple[str, str], Data],
) -> list[Event]:
    """The changes, newest first. `series` has a window's data by stage and metric; only metrics with a margin count."""
    largest_first = sorted(stages, key=lambda stage: stage.order, reverse=True)
    found: list[tuple[int, Event]] = []
    own = {server: {each.metric: each for each in thresholds.margins(server)} for server in runs.servers}
    for regression in thresholds.regressions:
        for stage in largest_first:
            data = series.get((stage.name, regression.metric), {"from": 0, "servers": {}})
            for server, each in data["servers"].items():
                for index, before, after in _counting(each["changes"], own[server][regression.metric]):
                    at = data["from"] + index
                    if not _again(found, at, server, regression.metric, stage.name):
                        move = _Move(at, server, stage.name, before, after)
                        found.append((at, _event(combination, runs, regression, move)))
    found.sort(key=lambda pair: (-pair[0], pair[1].server, pair[1].metric))
    return [event for _, event in found]


def _counting(changes: Sequence[Sequence[float]], regression: Regression) -> Iterator[tuple[int, float, float]]:
    for index, before, after in changes:
        if abs(after - before) >= max(regression.margin * before, regression.floor):
            yield int(index), before, after


def _again(found: Sequence[tuple[int, Event]], at: int, server: str, metric: str, stage: str) -> bool:
    """Whether it also moved in a larger stage at about the same run; if so, the larger stage's event lists this one."""
    for index, event in found:
        if (event.server, event.metric) == (server, metric) and abs(index - at) <= SHORTEST_LEVEL:
            if stage not in event.stages:
                event.stages.append(stage)
            return True
    return False


@dataclass(frozen=True)
class _Move:
    at: int
    """index of the run"""
    server: str
    stage: str
    before: float
    after: float

    def word(self, better: Better) -> Literal["better", "worse"]:
        return "worse" if (self.after > self.before) == (better is Better.LOWER) else "better"


def _event(combination: str, runs: Runs, regression: Regression, move: _Move) -> Event:
    head = runs.heads[move.at]
    name = "\n".join([combination, move.server, regression.metric, move.stage, head.record])
    return Event(
        id=str(uuid.uuid5(_NAMESPACE, name)),
        combination=combination,
        server=move.server,
        metric=regression.metric,
        stage=move.stage,
        stages=[move.stage],
        word=move.word(regression.better),
        before=move.before,
        after=move.after,
        run=head.record,
        created=head.created,
        commit=(head.commit or "")[:COMMIT],
        previous=(runs.heads[move.at - 1].commit or "")[:COMMIT] if move.at else "",
        subject=one_line(head.subject, SUBJECT),
    )
