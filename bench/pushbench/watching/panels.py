"""What `run --watch` draws of a trial: its unit of work, the p95 of its headline latency, and CPU, with limits. Pure.

The limits are those of the suite and thresholds.yml for the current stage, and of the rule that makes a trial invalid.
"""

from __future__ import annotations

from collections.abc import Iterator

from pushbench.judging.thresholds import Bound
from pushbench.metrics.definitions import Unit, metrics_of
from pushbench.metrics.units import NOT_MEASURED, format_number, format_quantity
from pushbench.metrics.validity import GENERATOR_CPU_MOST
from pushbench.records.record import Record
from pushbench.records.vocabulary import Vocabulary
from pushbench.watching.bounds import Limits
from pushbench.watching.minute import SECONDS, Minute, Program, Values, latest
from pushbench.watching.plotting import Scale, decades, linear
from pushbench.watching.screen import Panel


def panels(minute: Minute | None, record: Record, limits: Limits) -> list[Panel]:
    """The panels from top to bottom; without values if the load has not begun."""
    return [_work(minute, record.words, limits), _latency(minute, record, limits), *_cpu(minute, record, limits)]


def _work(minute: Minute | None, words: Vocabulary, limits: Limits) -> Panel:
    received = minute.counts(lambda second: second.received) if minute else _unknown()
    owed = minute.counts(lambda second: second.owed) if minute else _unknown()
    bound, now = limits.get("throughput_per_second"), latest(received)
    due = f", {format_number(latest(owed) or 0)} due" if now is not None else ""
    return Panel(
        title=words.work.plural,
        now=format_quantity(now, Unit.PER_SECOND) + due,
        values=received,
        scale=linear([*received, *owed, bound.value if bound else None]),
        write=_short,
        weight=3,
        limit=bound,
        due=owed,
    )


def _latency(minute: Minute | None, record: Record, limits: Limits) -> Panel:
    name = f"{record.words.headline_latency}_seconds.p95"
    values = minute.counts(lambda second: second.headline_p95) if minute else _unknown()
    bound = limits.get(name)
    several = (record.environment.generators or 1) > 1
    return Panel(
        title=metrics_of(record.words)[name].title,
        now=format_quantity(values[-1], Unit.SECONDS) + (", of the slowest generator" if several else ""),
        values=values,
        scale=decades([*values, bound.value if bound else None]),
        write=lambda seconds: format_quantity(seconds, Unit.SECONDS),
        weight=4,
        limit=bound,
    )


def _cpu(minute: Minute | None, record: Record, limits: Limits) -> Iterator[Panel]:
    environment = record.environment
    of_server, of_generator = len(environment.server_cpus), len(environment.generator_cpus)
    server, services, generator = (_cores(minute, each) for each in ("server", "services", "generator"))
    yield _cores_panel("Server CPU", server, of_server, limits.get("cpu_cores"))
    if latest(services) is not None:
        yield _cores_panel("Services' CPU", services, of_generator, limits.get("services_cpu_cores"))
    shares = [None if cores is None else cores / of_generator for cores in generator]
    yield Panel(
        title="Generator CPU",
        now=f"{_percent(latest(shares))} of {_cpus(of_generator)}",
        values=shares,
        scale=Scale(0.0, 1.0),
        write=_percent,
        weight=2,
        limit=Bound(side="max", value=GENERATOR_CPU_MOST),
    )


def _cores_panel(title: str, values: Values, cpus: int, limit: Bound | None) -> Panel:
    return Panel(
        title=title,
        now=f"{_hundredths(latest(values))} of {_cpus(cpus)}",
        values=values,
        scale=Scale(0.0, cpus),
        write=format_number,
        weight=2,
        limit=limit,
    )


def _cores(minute: Minute | None, program: Program) -> Values:
    return minute.cores(program) if minute else _unknown()


def _unknown() -> Values:
    return [None] * SECONDS


def _cpus(count: int) -> str:
    return "1 core" if count == 1 else f"{count} cores"


def _hundredths(cores: float | None) -> str:
    return NOT_MEASURED if cores is None else f"{cores:.2f}"


def _percent(share: float | None) -> str:
    """The share in whole percent: a second has no better resolution."""
    return NOT_MEASURED if share is None else f"{share:.0%}".replace("%", " %")


def _short(count: float) -> str:
    """The count, short enough to fit beside a chart: `200,000`, `2M`."""
    return format_number(count) if count < 1e6 else f"{format_number(count / 1e6)}M"
