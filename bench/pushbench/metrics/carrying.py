"""The results of a capacity record: how much each server carries, what ended it, what binds, what it costs. Pure.

A server has a number if most starts ended at a limit of the suite: the median of what the starts carried. A start that
ended earlier carries at least its load, so the median is not too high. Without such a majority, the carried load is a
lower bound, and the number is not the server's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from statistics import median, median_low
from typing import Literal

from pydantic import Field

from pushbench.foundation.model import Document
from pushbench.metrics.binding import Binding, binding_of
from pushbench.metrics.definitions import metrics_of
from pushbench.metrics.units import format_number, format_quantity
from pushbench.records.capacity import CLIENTS, Broken, CapacityRecord, Probe, Search, ServerCapacity, Start
from pushbench.records.vocabulary import Vocabulary

COSTS = (
    "cpu_cores",
    "services_cpu_cores",
    "memory_bytes.peak",
    "network_in_bytes_per_second",
    "network_out_bytes_per_second",
)
"""metrics that are reported per 1,000 of the load"""
NEAR = 1.1
"""a start that ran out of time shows how much starts differ if it refused at most this multiple of what it carried"""


class CapacityResult(Document):
    """What one server carries."""

    server: str
    carried: int | None = Field(
        description="largest load that was carried: the median of the starts, or the lower middle one of an even "
        "number; of a lower bound, the median of the starts that count; null if there are none"
    )
    low: int | None = Field(
        description="smallest load that a start carried, among the starts that came near their limit"
    )
    high: int | None = Field(
        description="largest load that one of these starts refused, or any start carried; "
        "null if one of these refused nothing"
    )
    at_least: bool = Field(
        description="whether `carried` is only a lower bound, because something else than the server ended the search"
    )
    end: Literal["limit", "generator", "disturbed", "most", "time"] | None = Field(
        description="what ended the starts, as in the record; null if no start counts"
    )
    reason: str = Field(description="the limit and the value that was found, or why there is no number, in words")
    binding: Binding | None = Field(
        description="what binds the server at the refused load; null if no limit ended the search"
    )
    per_1000: dict[str, float | None] = Field(
        description="metrics at the carried load, per 1,000 of it; null for a metric that was not measured"
    )
    starts: list[int] = Field(description="load that each start carried")
    confirmed: bool = Field(description="whether every start that counts held its load, and refused the next one twice")
    failure: str | None = Field(description="why no further start was possible; null if no start failed")


class CapacityReport(Document):
    """What `pushbench capacity --json` prints: a record and its results."""

    record: CapacityRecord
    results: list[CapacityResult]


def results_of(record: CapacityRecord) -> list[CapacityResult]:
    """One for each server, in the order of the record."""
    return [_result(record, each) for each in record.servers]


def load_text(load: int, search: Search, words: Vocabulary) -> str:
    """`1,600 clients`, `320 requests/s`."""
    number = f"{load:,}"
    return f"{number} clients" if search.searched == CLIENTS else f"{number} {words.exchange.plural.lower()}/s"


def probe_sentence(probe: Probe, search: Search, words: Vocabulary) -> str:
    """The result of a probe, in less than 60 columns if names are short."""
    held = " held" if probe.hold else ""
    load = load_text(probe.load, search, words) + held
    if probe.failure:
        return f"{load}: the server ended"
    if probe.answer == "carried":
        headline = metrics_of(words)[words.headline]
        found = format_quantity(probe.metrics.get(headline.name), headline.unit)
        return f"{load}: carried, {headline.in_sentence} {found}"
    if probe.answer in ("generator", "disturbed"):
        why = probe.findings[0].message if probe.findings else "it was late itself"
        return f"{load}: {'the generator ended' if probe.answer == 'generator' else 'disturbed'}: {why}"
    then = {"connecting": ", again with a slower ramp", "unsettled": ", undecided"}.get(probe.answer, "")
    return f"{load}: {_broken_text(probe.broken[0], words)}{then}" if probe.broken else f"{load}: not carried"


def counted_starts(server: ServerCapacity) -> tuple[list[Start], bool]:
    """The starts that make the result, and whether it is only a lower bound."""
    ended = [start for start in server.starts if start.end == "limit"]
    if 2 * len(ended) > len(server.starts):
        return ended, False
    return [start for start in server.starts if start.carried or start.end != "time"], True


def _result(record: CapacityRecord, server: ServerCapacity) -> CapacityResult:
    counted, at_least = counted_starts(server)
    if not counted:
        return _nothing(server)
    ends = Counter(each.end for each in server.starts if each.end != "limit" or not at_least)
    end = ends.most_common(1)[0][0]
    near = [*counted, *(start for start in server.starts if start.end == "time" and _came_near(start))]
    refused = [start.refused for start in near]
    carried = [start.carried for start in server.starts]
    probes = [probe for start in counted if (probe := _refusal(start))]
    return CapacityResult(
        server=server.server,
        carried=median_low(start.carried for start in (counted if at_least else server.starts)),
        low=min(start.carried for start in near),
        high=None if None in refused else max(load for load in [*refused, *carried] if load),
        at_least=at_least,
        end=end,
        reason=_reason(end, probes, record),
        binding=_binding(probes, record) if end == "limit" else None,
        per_1000=_costs(counted),
        starts=carried,
        confirmed=all(start.confirmed for start in counted),
        failure=_failure(server),
    )


def _came_near(start: Start) -> bool:
    return start.refused is not None and start.refused <= NEAR * start.carried


def _nothing(server: ServerCapacity) -> CapacityResult:
    failure = _failure(server)
    return CapacityResult(
        server=server.server,
        carried=None,
        low=None,
        high=None,
        at_least=False,
        end=None,
        reason=failure or "the time ended before anything was carried",
        binding=None,
        per_1000={},
        starts=[],
        confirmed=False,
        failure=failure,
    )


def _failure(server: ServerCapacity) -> str | None:
    return f"failed to {server.failure.step}: {server.failure.message}" if server.failure else None


def _refusal(start: Start) -> Probe | None:
    """The last probe that refused the smallest load above the carried one."""
    found = [each for each in start.probes if each.load == start.refused and each.answer != "carried"]
    return next((each for each in reversed(found) if each.answer == "broken"), found[-1] if found else None)


def _binding(probes: Sequence[Probe], record: CapacityRecord) -> Binding | None:
    """What binds in most starts, worded as in the first of them."""
    found = [binding_of(probe, record) for probe in probes]
    most = Counter(each.resource for each in found).most_common(1)
    return next((each for each in found if each.resource == most[0][0]), None) if most else None


def _reason(end: str, probes: Sequence[Probe], record: CapacityRecord) -> str:
    match end:
        case "limit":
            if any(probe.failure for probe in probes):
                return "the server ended under the load"
            return _limit(probes, record.words)
        case "generator":
            return "the generator ended here" + _why(probes, "generator")
        case "disturbed":
            return "the machine was disturbed here" + _why(probes, "disturbed")
        case "most":
            if record.most_by == "generator":
                return "the generator ended here: it has files and ports for no more"
            return "the search goes no further"
    return "the time ended here"


def _limit(probes: Sequence[Probe], words: Vocabulary) -> str:
    """The limit that most starts list first among the broken ones, with the lower median of the values found. Falling
    behind is last in a list, so it is named only if no other limit was broken."""
    names = Counter(probe.broken[0].metric for probe in probes if probe.broken)
    if not names:
        return "not carried"
    name = names.most_common(1)[0][0]
    same = [broken for probe in probes for broken in probe.broken if broken.metric == name]
    return _broken_text(same[0].model_copy(update={"found": median_low(each.found for each in same)}), words)


def _why(probes: Sequence[Probe], answer: str) -> str:
    found = [probe.findings[0].message for probe in probes if probe.answer == answer and probe.findings]
    return f": {found[0]}" if found else ""


def _broken_text(broken: Broken, words: Vocabulary) -> str:
    """`delivery p95 812 ms, limit 500 ms`, `deliveries out 31,000 /s of 33,000 /s: it falls behind`."""
    metric = metrics_of(words).get(broken.metric)
    if metric is None:
        return f"{broken.metric} {format_number(broken.found)}, limit {format_number(broken.value)}"
    found, bound = (format_quantity(value, metric.unit) for value in (broken.found, broken.value))
    if metric.name == "throughput_per_second" and broken.side == "min":
        return f"it falls behind, {metric.in_sentence} {found}, wanted {bound}"
    return f"{metric.in_sentence} {found}, limit {bound}"


def _costs(starts: Sequence[Start]) -> dict[str, float | None]:
    """Medians over the starts. A metric that was not measured is None."""
    found: dict[str, float | None] = {}
    for name in COSTS:
        values = [value for start in starts if (value := _cost(start, name)) is not None]
        middle = median(values) if values else None
        found[name] = middle if middle is not None and isfinite(middle) else None
    return found


def _cost(start: Start, metric: str) -> float | None:
    """The cost in the last probe that carried the load, which is the one that held it."""
    carried = [each for each in start.probes if each.load == start.carried and each.answer == "carried"]
    measured = carried[-1].metrics.get(metric) if carried else None
    return None if measured is None else measured / start.carried * 1000
