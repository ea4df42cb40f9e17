"""What changes without a meaning cost each server, from the stored comparisons with them. Pure.

A comparison of two builds of the same code differs by noise and by bias. More rounds remove the noise. The bias
remains, so evidence of a change has to exceed it, and a margin has to lie above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from math import ceil, sqrt
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt, ValidationError

from pushbench.calibration.faults import APART
from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.judging.changes import Row, decisions, rows
from pushbench.judging.comparison import Contrast, as_share, contrast, effect
from pushbench.judging.foresight import rounds_of_noise
from pushbench.judging.judged_changes import INTERVAL_ALPHA
from pushbench.judging.thresholds import Regression, Thresholds
from pushbench.metrics.definitions import cost, metrics_of
from pushbench.records.record import Record, Schedule
from pushbench.statistics import signed_ranks

SITTING = timedelta(hours=1)
"""comparisons further apart belong to two sittings"""
MARGINS: Sequence[float] = (0.03, 0.04, 0.05, 0.06, 0.08, 0.10, 0.12, 0.15, 0.20)
"""margins that may be proposed: a change is found from about one and a half times the margin"""
MOST_ROUNDS = 40
"""that fit into ten minutes, if two run at the same time"""


class Bias(Document):
    """The effect of one change without a meaning on the CPU per unit of work of one server."""

    change: str
    comparisons: NonNegativeInt
    rounds: NonNegativeInt = Field(description="number of rounds that count, over all comparisons")
    estimate: float = Field(
        description="relative cost of the change, where 0.01 is 1 % more; negative if the change costs less"
    )
    low: float | None = Field(
        description="lower bound of a 95 % interval for the estimate; null if there are too few rounds"
    )
    high: float | None
    worse: NonNegativeInt = Field(
        description="number of comparisons in which any metric was called worse, which is a false alarm"
    )


class ServerBias(Document):
    """The effects of changes without a meaning on one server."""

    server: str
    suite: str
    metric: str
    changes: list[Bias]
    noise: NonNegativeFloat = Field(description="standard deviation of head / base between rounds, where 0.03 is 3 %")

    @property
    def largest(self) -> float:
        """The largest estimate of any change, as a ratio, for the worse or the better."""
        return max(abs(each.estimate) for each in self.changes)


class Biases(Document):
    """The results of `pushbench calibrate bias`."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    environments: list[str]
    sittings: NonNegativeInt = Field(
        description="number of groups of comparisons with at least an hour between the groups"
    )
    servers: list[ServerBias]


def biases(records: Sequence[Record], thresholds: Thresholds) -> Biases:
    """The bias of each server that was compared with builds of the same code, from these records.

    A different schedule measures a different part of a server's life, with different noise. So does CPU with that of
    compilers. For each server, only the comparisons count that measured in the same way as its newest one.
    """
    own = of_newest_ways([record for record in records if _injected(record) in APART and record.complete])
    found: dict[str, list[_Seen]] = {}
    for record in own:
        for seen in _seen(record, thresholds):
            found.setdefault(seen.row.server, []).append(seen)
    return Biases(
        environments=sorted({record.environment.key for record in own}),
        sittings=_sittings(map(_created, own)),
        servers=[_of_server(server, seen) for server, seen in sorted(found.items())],
    )


def read_biases(file: Path) -> Biases:
    """The published figures; empty if there is no file. Raises UserError for another file."""
    if not file.exists():
        return Biases(environments=[], sittings=0, servers=[])
    try:
        return Biases.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise UserError("no biases", where=str(file), hint=str(error).splitlines()[0]) from None


def proposed(found: ServerBias, regression: Regression) -> Regression | None:
    """The margin of a server that follows from its bias; None if there is none. It is the smallest of `MARGINS` that is
    at least twice the bias, and decides 19 of 20 comparisons with the server's noise after `MOST_ROUNDS`.
    """
    bias = ceil(1000 * found.largest) / 1000
    noise = ceil(1000 * found.noise) / 1000
    candidates = (
        replace(regression, margin=margin, bias=bias, noise=noise) for margin in MARGINS if margin >= 2 * bias
    )
    return next((each for each in candidates if rounds_of_noise(each) <= MOST_ROUNDS), None)


def of_newest_ways(records: Iterable[Record]) -> list[Record]:
    """The records that measured in the same way as the newest record of each of their servers, newest first: with the
    same schedule, and with the CPU of compilers known in both or in neither.
    """
    newest: dict[str, tuple[Schedule, bool]] = {}
    kept = []
    for record in sorted(records, key=_created, reverse=True):
        ways = {server: (record.schedule, _knows_compilers(record, server)) for server in record.servers}
        if all(newest.setdefault(server, way) == way for server, way in ways.items()):
            kept.append(record)
    return kept


def _knows_compilers(record: Record, server: str) -> bool:
    warmup = metrics_of(record.words)[cost(record.words)].warmup
    stages = (stage for trial in record.trials if trial.server == server for stage in trial.stages)
    return any(stage.metrics.get(warmup or "") is not None for stage in stages)


@dataclass(frozen=True)
class _Seen:
    """One comparison of one server."""

    suite: str
    change: str
    row: Row
    contrast: Contrast
    worse: bool


def _seen(record: Record, thresholds: Thresholds) -> Iterator[_Seen]:
    gated = rows(record, thresholds)
    said = decisions(record, gated)
    for row, each in gated.items():
        if row.metric == cost(record.words) and each.pairs:
            worse = any(decision.word == "worse" for other, decision in said.items() if other.server == row.server)
            seen = contrast(each.pairs, each.regression)
            if seen.scale == "ratio":
                yield _Seen(record.suite, _injected(record), row, seen, worse)


def _of_server(server: str, seen: Sequence[_Seen]) -> ServerBias:
    changes: Mapping[str, list[_Seen]] = {name: [each for each in seen if each.change == name] for name in APART}
    return ServerBias(
        server=server,
        suite=seen[0].suite,
        metric=seen[0].row.metric,
        changes=[_of_change(name, own) for name, own in changes.items() if own],
        noise=as_share("ratio", _noise([each.contrast for each in seen])),
    )


def _of_change(name: str, seen: Sequence[_Seen]) -> Bias:
    differences = np.concatenate([each.contrast.differences for each in seen])
    found = effect(replace(seen[0].contrast, differences=differences), INTERVAL_ALPHA)
    low, high = (as_share("ratio", each) if np.isfinite(each) else None for each in (found.low, found.high))
    return Bias(
        change=name,
        comparisons=len(seen),
        rounds=len(differences),
        estimate=as_share("ratio", found.estimate),
        low=low,
        high=high,
        worse=sum(each.worse for each in seen),
    )


def _noise(contrasts: Sequence[Contrast]) -> float:
    """The noise of rounds around the centre of their own comparison, so that it includes no bias."""
    away = [each.differences - signed_ranks.centre(each.differences) for each in contrasts]
    count = sum(len(each) - 1 for each in away)
    return sqrt(sum(float((each**2).sum()) for each in away) / count) if count else 0.0


def _sittings(times: Iterable[datetime]) -> int:
    ordered = sorted(times)
    apart = [later - earlier > SITTING for earlier, later in pairwise(ordered)]
    return len(ordered) and 1 + sum(apart)


def _created(record: Record) -> datetime:
    return datetime.fromisoformat(record.created)


def _injected(record: Record) -> str:
    return (record.comparison.injected if record.comparison else None) or ""
