"""A ranking as finished text, for a terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pushbench.metrics.definitions import in_sentence, metrics_of
from pushbench.metrics.units import format_number
from pushbench.records import stages
from pushbench.records.record import Record
from pushbench.reporting import rows as table_rows
from pushbench.reporting.ranking import Place, Ranking, Unplaced


class Row(NamedTuple):
    """One server with a place."""

    place: str
    """`1`, or `1=` if several servers share it"""
    server: str
    value: str
    """with its unit"""
    between: str
    """smallest and largest trial, if there are several"""
    beside: str
    """the multiple of the first server's value, and remarks"""


def heading(record: Record, ranking: Ranking) -> str:
    """`Ranking by delivery p95, at 1,000 clients`; for a single server only the subject."""
    place = stages.places([record.schedule.stages[ranking.stage]])
    several = len(ranking.places) + len(ranking.unplaced) > 1
    return f"Ranking by {in_sentence(ranking.title)}, {place}" if several else f"{ranking.title}, {place}"


def rows(record: Record, ranking: Ranking) -> Iterator[Row]:
    """The servers with a place, in the unit that the tables use for the metric."""
    unit = table_rows.plain(metrics_of(record.words)[ranking.metric])
    places = [each.place for each in ranking.places]
    for each in ranking.places:
        yield Row(
            place=f"{each.place}=" if places.count(each.place) > 1 else str(each.place),
            server=each.server,
            value=f"{format_number(each.value * unit.factor)} {unit.unit}",
            between=_between(each, unit.factor),
            beside=", ".join(_beside(each, ranking)),
        )


def unplaced(of: Unplaced) -> str:
    """`fastapi: FAIL, loss 20.3 % at 1,000 clients, limit 1 %`."""
    word = of.outcome.upper() if of.outcome in ("fail", "invalid") else ""
    return f"{of.server}: {', '.join(filter(None, [word, of.reason]))}"


def _between(place: Place, factor: float) -> str:
    low, high = (format_number(each * factor) for each in (place.min, place.max))
    return f"{low}-{high}" if low != high else ""


def _beside(place: Place, ranking: Ranking) -> Iterator[str]:
    if place.times_best is not None and place is not ranking.places[0]:
        yield f"{place.times_best:,.1f} x"
    if place.outcome != "pass":
        yield place.outcome
