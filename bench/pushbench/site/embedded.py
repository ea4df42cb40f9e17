"""Charts for READMEs of other projects: a server's latency and CPU over its runs, and its latency by load. Pure.

Each is a standalone picture with both themes and no script.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, log

from pushbench.foundation.text import counted, one_line
from pushbench.judging.thresholds import Thresholds
from pushbench.metrics.definitions import Metric, cost, metrics_of
from pushbench.metrics.units import format_quantity
from pushbench.records.capacity import CLIENTS
from pushbench.records.record import StagePlan
from pushbench.reporting.loads import Kind, kinds
from pushbench.reporting.looks import Look
from pushbench.reporting.pictures import Chart, Line, Point, Upright, standalone
from pushbench.site.combining import Combination
from pushbench.site.layout import Data, part
from pushbench.site.series import Stage

P95, CPU, LOAD = "p95", "cpu", "load"
"""the suffixes of the charts' names"""
RUNS = 60
"""of a trend: the newest"""
WIDE = 8.0
"""ratio of the highest to the lowest load from which the axis is logarithmic"""
CLOSE = 0.08
"""minimum distance between two numbers, as a share of the axis"""
NAME, ABOUT = 60, 100
"""characters of a server and of the line below a heading"""


@dataclass(frozen=True)
class Setting:
    """What the charts of a combination share."""

    combination: Combination
    title: str
    """of the suite"""
    stage: Stage
    """the largest one"""
    machine: str
    looks: Mapping[str, Look]
    thresholds: Thresholds
    rate: str
    """the parameter that is the load, or `clients`"""
    carried: Mapping[str, Data]
    """capacities of servers, from searches with the parameters of the runs"""

    def limit(self, metric: Metric) -> float | None:
        """The upper limit for all servers and stages."""
        limits = self.thresholds.suite(self.combination.suite).limits
        own = [each.bound for each in limits if (each.metric, each.server, each.stages) == (metric.name, None, None)]
        return next((each.value for each in own if each.side == "max"), None)


def file_of(server: str, name: str) -> str:
    """`charts/node-ws-p95.svg`; a `/` in an id becomes `--`, as in badges."""
    return f"charts/{part(server.replace('/', '--'))}-{name}.svg"


def of_server(setting: Setting, server: str, run: Data | None) -> Iterator[tuple[str, str]]:
    """Names and contents of the pictures; `run` is the file of the last run. Unmeasured metrics have no picture."""
    words = setting.combination.words
    metrics = metrics_of(words)
    headline = metrics[words.headline]
    found = {
        P95: _trend(setting, server, headline),
        CPU: _trend(setting, server, metrics[cost(words)]),
        LOAD: _against_load(setting, server, headline, run) if run else "",
    }
    yield from ((name, picture) for name, picture in found.items() if picture)


def _trend(setting: Setting, server: str, metric: Metric) -> str:
    """One metric in the largest stage."""
    runs = setting.combination.runs
    column = runs.columns.get((server, setting.stage.name, metric.name))
    if column is None:
        return ""
    having = [int(each) for each in runs.having(server)[-RUNS:]]
    values = [float(runs.values[each, column]) for each in having]
    points = [(float(index), value) for index, value in enumerate(values) if isfinite(value)]
    days = [runs.heads[each].created[:10] for each in having]
    chart = Chart(
        title=f"{one_line(server, NAME)}: {metric.in_sentence}",
        lines=[Line(setting.looks[server], points)],
        said=partial(_said, metric),
        across="",
        marks=[(0.0, days[0]), (float(len(days) - 1), days[-1])][: len(set(days))],
        limit=setting.limit(metric),
    )
    at = f"{setting.stage.clients:,} clients" if setting.stage.name.isdigit() else setting.stage.name
    return _picture(setting, chart, f"at {at}, {counted(len(points), 'run')}", points)


def _against_load(setting: Setting, server: str, metric: Metric, run: Data) -> str:
    own = next((each for each in run["servers"] if each["server"] == server), None)
    curve = next(iter(kinds(plans_of(run), setting.rate)), None)
    if own is None or curve is None or len(curve.stages) < 2:
        return ""
    points = list(points_of(own, curve, metric.name, run))
    loads = [load for _, load in curve.stages]
    chart = Chart(
        title=f"{one_line(server, NAME)}: {metric.in_sentence} against load",
        lines=[Line(setting.looks[server], points)],
        said=partial(_said, metric),
        across=f"{setting.combination.words.exchange.plural.lower()}/s" if curve.is_rate else "clients",
        marks=_numbers(loads),
        limit=setting.limit(metric),
        logarithmic=True,
        across_logarithmic=_is_wide(loads),
        uprights=marks_of(setting.carried.get(server), curve, setting.rate),
    )
    return _picture(setting, chart, run["run"]["created"][:10], points if len(points) > 1 else [], newest=False)


def marks_of(found: Data | None, curve: Kind, rate: str) -> list[Upright]:
    """A server's capacity as a mark on the curve whose load was searched."""
    if not found or not found["carried"] or not curve.is_plain or curve.is_rate == (rate == CLIENTS):
        return []
    least = "at least " if found["at_least"] else ""
    return [Upright(found["carried"], f"carries {least}{found['carried']:,}")]


def plans_of(run: Data) -> list[StagePlan]:
    """The stages' plans. A run without its record has only the stages' names: a number is a number of clients."""
    if schedule := run.get("schedule"):
        return [StagePlan.model_validate(each) for each in schedule["stages"]]
    names = {stage["name"]: None for server in run["servers"] for stage in server["stages"] if stage["name"].isdigit()}
    return [StagePlan(clients=int(name), ramp_seconds=0, settle_seconds=0, steady_seconds=1) for name in names]


def points_of(server: Data, curve: Kind, metric: str, run: Data) -> Iterator[Point]:
    """The points of stages with a valid trial."""
    stages = {stage["name"]: stage for stage in server["stages"]}
    plans = plans_of(run)
    for index, load in curve.stages:
        stage = stages.get(plans[index].name, {})
        value = _value(stage, metric, run)
        if value is not None and server["valid"] and stage.get("believed") is not False:
            yield load, value


def _value(stage: Data, metric: str, run: Data) -> float | None:
    """A metric of a stage. The file of a run without its record lists the metrics' names only once."""
    if "values" in stage:
        return dict(zip(run["metrics"], stage["values"], strict=True)).get(metric)
    found = stage.get("metrics", {}).get(metric)
    return float(found[0]) if found else None


def _is_wide(loads: Sequence[float]) -> bool:
    return loads[0] > 0 and loads[-1] / loads[0] >= WIDE


def _numbers(loads: Sequence[float]) -> list[tuple[float, str]]:
    """The numbers of the axis: the largest load, and each load that does not overlap with a larger one."""
    scale = log if _is_wide(loads) else float
    width = scale(loads[-1]) - scale(loads[0]) or 1.0
    found: list[tuple[float, str]] = []
    for load in reversed(loads):
        if not found or (scale(found[-1][0]) - scale(load)) / width >= CLOSE:
            found.append((load, f"{load:,.0f}"))
    return found[::-1]


def _picture(setting: Setting, chart: Chart, about: str, points: Sequence[Point], *, newest: bool = True) -> str:
    if not points:
        return ""
    whole = one_line(f"{setting.title} {about}; {setting.machine}", ABOUT)
    return standalone(chart, whole, chart.said(points[-1][1]) if newest else "")


def _said(metric: Metric, value: float) -> str:
    return format_quantity(value, metric.unit).replace(" us", " \u00b5s")
