"""The stages of a run that differ only in their load, so that a line may join them; and a table of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from pushbench.metrics.definitions import Unit, metrics_of
from pushbench.metrics.units import NOT_MEASURED, format_quantity
from pushbench.records.record import StagePlan
from pushbench.records.stages import is_named
from pushbench.reporting.summary import ServerSummary, Summary
from pushbench.reporting.table import BREAKS, Cell, Line, Table

RATE = "_per_second"
"""the suffix of a parameter that is a rate, unless another one is named"""
BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Kind:
    """Stages that differ only in their load."""

    stages: list[tuple[int, float]]
    """indices and loads: clients or exchanges per second, the lowest first"""
    is_rate: bool
    is_plain: bool
    """open, and without parameters of the stages' own"""


def kinds(stages: Sequence[StagePlan], rate: str = "") -> list[Kind]:
    """The kinds, those with the most stages first. A stage with an outage measures no load.

    `rate` names the parameter that is the rate of all clients together.
    """
    found: dict[object, Kind] = {}
    for index, stage in enumerate(stages):
        if stage.outage is None:
            name = _rate_of(stage, rate)
            own = tuple(sorted((key, value) for key, value in stage.parameters.items() if key != name))
            load = float(stage.parameters[name]) if name else float(stage.clients)
            kind = Kind([], is_rate=bool(name), is_plain=not (stage.closed or own))
            found.setdefault((name, stage.closed, own), kind).stages.append((index, load))
    for kind in found.values():
        kind.stages.sort(key=lambda stage: stage[1])
    return sorted(found.values(), key=lambda kind: -len(kind.stages))


def _rate_of(stage: StagePlan, rate: str) -> str | None:
    own = {} if stage.closed else stage.parameters
    numbers = [name for name, value in own.items() if isinstance(value, int | float) and value > 0]
    return next((name for name in sorted(numbers) if (name == rate if rate else name.endswith(RATE))), None)


def curve(stages: Sequence[StagePlan]) -> list[int]:
    """The stages of the longest curve, the lowest load first; empty if no two stages belong to one."""
    found = kinds(stages)
    return [index for index, _ in found[0].stages] if found and len(found[0].stages) > 1 else []


def load_table(summary: Summary) -> Table | None:
    """The headline of each server at each load, with a bar for each; None without a curve."""
    metric = metrics_of(summary.words)[summary.words.headline]
    indices = curve(summary.stages)
    values = {server.server: [_value(server, index, metric.name) for index in indices] for server in summary.servers}
    known = [value for row in values.values() for value in row if value is not None and value > 0]
    if not known:
        return None
    broken = {
        (limit.server, limit.name)
        for limit in summary.verdict.limits
        if limit.metric == metric.name and limit.outcome == "fail"
    }
    plans = [summary.stages[index] for index in indices]
    lines = [
        Line(
            server,
            "",
            [
                *(
                    Cell(_said(value, metric.unit), broken=(server, plan.name) in broken)
                    for value, plan in zip(row, plans, strict=True)
                ),
                Cell("".join(_bar(value, min(known), max(known)) for value in row)),
            ],
        )
        for server, row in values.items()
    ]
    marks = [BREAKS] if any(cell.broken for line in lines for cell in line.cells) else []
    scale = "bars: one logarithmic scale for all servers"
    headings = [plan.name if is_named(plan) else f"{plan.clients:,}" for plan in plans]
    return Table([*headings, ""], lines, ["; ".join([*marks, scale])])


def _value(server: ServerSummary, stage: int, metric: str) -> float | None:
    """The value from a valid trial: an invalid trial is no point of a curve."""
    if server.numbers_from != "valid trials" or stage >= len(server.stages):
        return None
    spread = server.stages[stage].metrics.get(metric)
    return spread.median if spread else None


def _said(value: float | None, unit: Unit) -> str:
    return NOT_MEASURED if value is None else format_quantity(value, unit)


def _bar(value: float | None, low: float, high: float) -> str:
    if value is None or value <= 0:
        return "·"
    share = (log(value) - log(low)) / (log(high) - log(low)) if log(high) > log(low) else 0.0
    return BARS[min(len(BARS) - 1, int(share * len(BARS)))]
