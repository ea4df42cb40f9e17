"""Merging the load reports of several generators: counts and histograms add, percentiles are never averaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest
from typing import TypeVar

from pushbench.foundation.model import Document
from pushbench.records.load_report import (
    Beside,
    Histograms,
    LoadReport,
    LoadTimeline,
    Outage,
    ReportedError,
    Shortage,
    StageReport,
)
from pushbench.statistics.histogram import Latencies

D = TypeVar("D", bound=Document)


def merge(reports: Sequence[LoadReport]) -> LoadReport:
    """Merge the reports of one trial's generators, as if one generator had played all segments.

    A generator that was interrupted has only the stages that it finished, so the sum has the fewest.
    Raises ValueError if they did not play the same load. Groups never span generators, so they add as well.
    """
    first = reports[0]
    if len(reports) == 1:
        return first
    for other in reports[1:]:
        require_same_load(first, other)
    errors = _counts(report.errors for report in reports)
    shortages = _counts(report.shortages for report in reports)
    return first.model_copy(
        update={
            "segment": ",".join(report.segment for report in reports),
            "started_unix_us": min(report.started_unix_us for report in reports),
            "started_monotonic_us": min(report.started_monotonic_us for report in reports),
            "stages": [_stage(parts) for parts in zip(*(report.stages for report in reports), strict=False)],
            "timeline": _timeline([report.timeline for report in reports]),
            "errors": [ReportedError(reason=reason, count=count) for reason, count in errors],
            "shortages": [Shortage.model_validate({"reason": reason, "count": count}) for reason, count in shortages],
        }
    )


def require_same_load(first: LoadReport, other: LoadReport) -> None:
    """Raises ValueError if the two generators did not play the same load."""
    for name in ("protocol", "url", "seed", "parameters"):
        if getattr(other, name) != getattr(first, name):
            raise ValueError(f"generators disagree on {name}: {getattr(first, name)} and {getattr(other, name)}")
    for one, another in zip(first.stages, other.stages, strict=False):
        if one.name != another.name:
            raise ValueError(f"generators disagree on stages: {one.name} and {another.name}")
        if one.beside.keys() != another.beside.keys():
            raise ValueError(f"generators disagree on the exchanges of stage {one.name}")
        if (one.outage is None) != (another.outage is None):
            raise ValueError(f"generators disagree on the outage of stage {one.name}")


def _stage(parts: Sequence[StageReport]) -> StageReport:
    return StageReport(
        name=parts[0].name,
        parameters=parts[0].parameters,
        begin_us=min(part.begin_us for part in parts),
        end_us=max(part.end_us for part in parts),
        clients=_sum([part.clients for part in parts]),
        messages=_sum([part.messages for part in parts]),
        receipts=_sum([part.receipts for part in parts]),
        arrived=sum(part.arrived for part in parts),
        traffic=_sum([part.traffic for part in parts]),
        rooms=_sum(rooms) if (rooms := [part.rooms for part in parts if part.rooms]) else None,
        spun_us=sum(part.spun_us for part in parts),
        histograms=Histograms(**{name: _both(parts, name) for name in Histograms.model_fields}),
        beside={name: _beside([part.beside[name] for part in parts]) for name in parts[0].beside},
        outage=_outage([part.outage for part in parts if part.outage]),
    )


def _outage(parts: Sequence[Outage]) -> Outage | None:
    """Merge the results of an outage: all clients are back when those of each generator are."""
    if not parts:
        return None
    counts = ("disconnects", "attempts", "failed", "not_back", "lost_after")
    never = any(part.disconnects and part.back_us is None for part in parts)
    backs = [part.back_us for part in parts if part.back_us is not None]
    lost = [part.last_lost_us for part in parts if part.last_lost_us is not None]
    return Outage(
        kill=parts[0].kill,
        kill_us=min(part.kill_us for part in parts),
        begin_us=min(part.begin_us for part in parts),
        end_us=max(part.end_us for part in parts),
        **{name: sum(getattr(part, name) for part in parts) for name in counts},
        back_us=None if never else max(backs, default=None),
        last_lost_us=max(lost, default=None),
        messages=_sum([part.messages for part in parts]),
        receipts=_sum([part.receipts for part in parts]),
        reconnect=_add(part.reconnect for part in parts),
        away=_add(part.away for part in parts),
    )


def _beside(parts: Sequence[Beside]) -> Beside:
    return Beside(
        messages=_sum([part.messages for part in parts]),
        receipts=_sum([part.receipts for part in parts]),
        own=_add(part.own for part in parts),
    )


def _both(parts: Sequence[StageReport], name: str) -> str | None:
    """The histogram of all parts; None if they have none of the kind."""
    encoded = [text for part in parts if (text := getattr(part.histograms, name)) is not None]
    return _add(encoded) if encoded else None


def _counts(lists: Iterable[Sequence[ReportedError | Shortage]]) -> list[tuple[str, int]]:
    """Each reason with its count, the most frequent first."""
    counts: Counter[str] = Counter()
    for counted in chain.from_iterable(lists):
        counts[counted.reason] += counted.count
    return counts.most_common()


def _sum(parts: Sequence[D]) -> D:
    """A document of counts, each summed over the parts."""
    kind = type(parts[0])
    return kind(**{name: sum(getattr(part, name) for part in parts) for name in kind.model_fields})


def _add(encoded: Iterable[str]) -> str:
    return Latencies.total(Latencies.decode(text) for text in encoded).encode()


def _timeline(parts: Sequence[LoadTimeline]) -> LoadTimeline:
    """The timelines summed by the second; a generator that ended earlier adds nothing to the rest."""

    def totals(column: Callable[[LoadTimeline], list[int]]) -> list[int]:
        return [sum(values) for values in zip_longest(*map(column, parts), fillvalue=0)]

    latencies = zip_longest(*(part.latency for part in parts), fillvalue=None)
    return LoadTimeline(
        clients=totals(lambda part: part.clients),
        sent=totals(lambda part: part.sent),
        received=totals(lambda part: part.received),
        latency=[
            _add(known) if (known := [text for text in second if text is not None]) else None for second in latencies
        ],
        expected=totals(lambda part: part.expected),
        lost=totals(lambda part: part.lost),
        sent_bytes=totals(lambda part: part.sent_bytes),
        received_bytes=totals(lambda part: part.received_bytes),
    )
