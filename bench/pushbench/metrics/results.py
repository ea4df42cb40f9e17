"""The results of a trial: metrics of each stage, timeline and resources, from a load report and samples. Pure.

The names of the metrics are those of `metrics`. A metric that could not be measured is None.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import TypeVar

from pushbench.generator.events import Started
from pushbench.machine.resources import Usage, between, most_of_known
from pushbench.machine.sampling import Sample
from pushbench.metrics.definitions import RARE, WORST_SECOND
from pushbench.metrics.recovery import outage_result, recovery_metrics
from pushbench.metrics.told import Telling, told_metrics
from pushbench.records.load_report import Histogram, LoadReport, LoadTimeline, Outage, StageReport
from pushbench.records.record import StageResult
from pushbench.records.seconds import Resources, Timeline
from pushbench.records.vocabulary import POINTS, Vocabulary
from pushbench.statistics.histogram import Latencies

Value = TypeVar("Value")
Metrics = dict[str, float | None]
Borders = tuple[Sample | None, Sample | None]


@dataclass(frozen=True)
class Window:
    """The samples of one stage's steady window: those at its borders and those between them."""

    begin: Sample | None
    end: Sample | None
    inside: Sequence[Sample]


@dataclass(frozen=True)
class Happened:
    """A kill as the generator saw it, with its time and the start of the load in time.monotonic()."""

    report: Outage
    at: float
    origin: float

    @property
    def histograms(self) -> dict[str, Histogram]:
        return {"reconnect": self.report.reconnect, "away": self.report.away}


def windows(started: Started, samples: Sequence[Sample]) -> list[Window]:
    """The windows of all stages. A border is None if the load ended before it."""
    at_borders = [sample for sample in samples if sample.border]
    borders = dict(zip(sorted(moment for window in started.windows for moment in window), at_borders, strict=False))
    return [
        Window(
            borders.get(begin),
            borders.get(end),
            [
                sample
                for sample in samples
                if begin <= sample.at <= end or sample in (borders.get(begin), borders.get(end))
            ],
        )
        for begin, end in started.windows
    ]


def stage_result(
    report: StageReport,
    window: Window,
    cpus: int,
    words: Vocabulary,
    *,
    told: Sequence[Telling] = (),
    outage: Happened | None = None,
    by_second: Timeline | None = None,
) -> StageResult:
    """The results of a stage. `cpus` is the number that the run uses, for the share of steal; `told` are the server's
    own reports in the window, `outage` is the kill in it, and `by_second` is the timeline of the whole trial.
    """
    histograms = _histograms(report, words)
    seconds = (report.end_us - report.begin_us) / 1e6
    found = outage_result(outage.report, outage.at - outage.origin) if outage else None
    recovery = recovery_metrics(outage.report, found, window.inside, outage.origin) if outage and found else {}
    return StageResult(
        clients=report.clients.target,
        name=report.name,
        parameters=report.parameters,
        begin_seconds=report.begin_us / 1e6,
        end_seconds=report.end_us / 1e6,
        metrics={
            **_load_metrics(report, seconds),
            **({"superseded": report.receipts.superseded} if words.supersedes else {}),
            **_room_metrics(report, words),
            **_latency_metrics(histograms, words.headline_latency),
            **_tail_metrics(report, histograms, words, by_second),
            **told_metrics(told, words),
            **_resource_metrics(window, report, seconds, cpus, f"per_{words.work.name}"),
            **recovery,
        },
        parts=_parts(window, report, f"per_{words.work.name}"),
        outage=found,
        receipts=report.receipts,
        beside={name: each.receipts for name, each in report.beside.items()},
        arrived=report.arrived,
        histograms={**histograms, **(outage.histograms if outage else {})},
    )


def timeline(report: LoadTimeline) -> Timeline:
    points = [Latencies.decode(text).summary() if text else None for text in report.latency]
    return Timeline(
        clients=report.clients,
        sent=report.sent,
        received=report.received,
        latency_p50_seconds=[point.p50 if point else None for point in points],
        latency_p95_seconds=[point.p95 if point else None for point in points],
        latency_p99_seconds=[point.p99 if point else None for point in points],
        latency_max_seconds=[point.max if point else None for point in points],
        expected=report.expected,
        lost=report.lost,
        network_in_bytes=report.sent_bytes,
        network_out_bytes=report.received_bytes,
    )


def resources(report: LoadReport, samples: Sequence[Sample]) -> Resources:
    """The resources by the second; CPU is the mean since the previous sample."""
    begin = report.started_monotonic_us / 1e6
    pairs = list(itertools.pairwise(samples))
    return Resources(
        seconds=[round(later.at - begin, 3) for _, later in pairs],
        cpu_cores=[_rate(_server, pair, _cpu) for pair in pairs],
        memory_bytes=[later.server.memory_bytes if later.server else None for _, later in pairs],
        threads=[later.server.threads if later.server else None for _, later in pairs],
        services_cpu_cores=[_rate(_services, pair, _cpu) for pair in pairs],
        generator_cpu_cores=[_rate(_generator, pair, _cpu) for pair in pairs],
        throttled_seconds=_known([throttled_seconds(pair) for pair in pairs]),
        pod_received_bytes=_known([_traffic(pair, 0) for pair in pairs]),
        pod_sent_bytes=_known([_traffic(pair, 1) for pair in pairs]),
    )


def throttled_seconds(borders: Borders) -> float | None:
    """How long a quota stopped the server between two samples, summed over its CPUs."""
    begin, end = (usage.throttled_seconds if (usage := _server(border)) else None for border in borders)
    return None if begin is None or end is None else round(end - begin, 6)


def _traffic(borders: Borders, way: int) -> int | None:
    begin, end = (border.traffic if border else None for border in borders)
    return None if begin is None or end is None else end[way] - begin[way]


def _known(column: list[Value | None]) -> list[Value | None] | None:
    """The column; None if it has no values."""
    return column if any(value is not None for value in column) else None


def _load_metrics(report: StageReport, seconds: float) -> Metrics:
    """Rates cover the whole steady window, including the window of an outage."""
    clients, traffic, outage = report.clients, report.traffic, report.outage
    sent = report.messages.sent + (outage.messages.sent if outage else 0)
    expected = report.receipts.expected + (outage.receipts.expected if outage else 0)
    return {
        "clients": clients.members,
        "clients_missing_ratio": _ratio(clients.target - clients.members, clients.target),
        "connect_late_ratio": _ratio(clients.late, clients.target),
        "connect_failures": clients.connect_failures,
        "disconnects": clients.disconnects,
        "messages_per_second": _ratio(sent, seconds),
        "throughput_per_second": _ratio(report.arrived, seconds),
        "offered_per_second": _ratio(expected, seconds),
        **_fault_ratios(report),
        "network_in_bytes_per_second": _ratio(traffic.sent_bytes, seconds),
        "network_out_bytes_per_second": _ratio(traffic.received_bytes, seconds),
    }


def _room_metrics(report: StageReport, words: Vocabulary) -> Metrics:
    if not words.rooms:
        return {}
    rooms = report.rooms
    return {"rooms_begun": rooms.begun if rooms else None, "rooms_ended": rooms.ended if rooms else None}


def _fault_ratios(report: StageReport) -> Metrics:
    """The faults as ratios of the receipts owed by all exchanges, the first one and those beside it."""
    counts = [report.receipts, *(each.receipts for each in report.beside.values())]
    expected = sum(each.expected for each in counts)
    return {
        "loss_ratio": _ratio(sum(each.lost for each in counts), expected),
        "duplicate_ratio": _ratio(sum(each.duplicate for each in counts), expected),
        "out_of_order_ratio": _ratio(sum(each.out_of_order for each in counts), expected),
        "corrupt_ratio": _ratio(sum(each.corrupt for each in counts), expected),
    }


def _histograms(report: StageReport, words: Vocabulary) -> dict[str, Histogram]:
    """The generator's histograms, by the suite's names."""
    measured = {name: getattr(report.histograms, each.until) for name, each in words.exchange.latencies.items()}
    for name, exchange in words.beside.items():
        if name in report.beside:
            measured[next(iter(exchange.latencies))] = report.beside[name].own
    known = {name: text for name, text in measured.items() if text is not None}
    return {**known, "lateness": report.histograms.lateness, "connect": report.histograms.connect}


def _latency_metrics(histograms: Mapping[str, Histogram], headline: str) -> Metrics:
    metrics: Metrics = {}
    for name, text in histograms.items():
        summary = Latencies.decode(text).summary()
        for point in POINTS:
            metrics[f"{name}_seconds.{point}"] = asdict(summary)[point] if summary else None
    for point in ("p95", "p99"):
        late, whole = (metrics.get(f"{name}_seconds.{point}") for name in ("lateness", headline))
        metrics[f"lateness_share.{point}"] = _ratio(late, whole or 0.0)
    return metrics


def _tail_metrics(
    report: StageReport, histograms: Mapping[str, Histogram], words: Vocabulary, by_second: Timeline | None
) -> Metrics:
    """The waits of the slowest few receipts, and of the worst second."""
    metrics: Metrics = {
        f"{name}_seconds.{RARE}": Latencies.decode(histograms[name]).rare(0.001) if name in histograms else None
        for name in words.latencies
    }
    begin, end = ceil(report.begin_us / 1e6), int(report.end_us / 1e6)
    seconds = by_second.latency_p95_seconds[begin:end] if by_second else []
    known = [second for second in seconds if second is not None]
    return {**metrics, f"{words.headline_latency}_seconds.{WORST_SECOND}": max(known, default=None)}


def _resource_metrics(window: Window, report: StageReport, seconds: float, cpus: int, per: str) -> Metrics:
    """Costs per unit of work: all work that arrived in the window counts, whenever it was due. Spinning of the
    generator is excluded.
    """
    arrived, spun = report.arrived, report.spun_us / 1e6
    borders = (window.begin, window.end)
    memory = [sample.server.memory_bytes for sample in window.inside if sample.server]
    threads = [sample.server.threads for sample in window.inside if sample.server and sample.server.threads is not None]
    return {
        "cpu_cores": _rate(_server, borders, _cpu),
        "cpu_user_cores": _rate(_server, borders, lambda usage: usage.user_seconds),
        "cpu_system_cores": _rate(_server, borders, lambda usage: usage.system_seconds),
        f"cpu_seconds_{per}": _ratio(_spent(_server, borders), arrived),
        f"compilers_cpu_seconds_{per}": _ratio(_compiled(borders), arrived),
        f"instructions_{per}": _ratio(_instructions(borders), arrived),
        "services_cpu_cores": _rate(_services, borders, _cpu),
        f"services_cpu_seconds_{per}": _ratio(_spent(_services, borders), arrived),
        "memory_bytes.mean": _ratio(sum(memory), len(memory)),
        "memory_bytes.peak": max(memory, default=None),
        "context_switches_per_second": _switches_per_second(borders),
        "threads": max(threads, default=None),
        "open_files_ratio": most_of_known(sample.server.open_files_ratio for sample in window.inside if sample.server),
        "generator_cpu_cores": _less(_rate(_generator, borders, _cpu), spun / seconds),
        f"generator_cpu_seconds_{per}": _ratio(_less(_spent(_generator, borders), spun), arrived),
        "generator_spin_cores": spun / seconds,
        "steal_ratio": _steal(borders, cpus),
    }


def _parts(window: Window, report: StageReport, per: str) -> dict[str, Metrics]:
    """What each part of a system used, by the names of the metrics of the whole."""
    borders = (window.begin, window.end)
    found = {}
    for name in window.begin.parts if window.begin else ():

        def part(sample: Sample | None, name: str = name) -> Usage | None:
            return sample.parts.get(name) if sample else None

        memory = [usage.memory_bytes for sample in window.inside if (usage := part(sample))]
        found[name] = {
            "cpu_cores": _rate(part, borders, _cpu),
            f"cpu_seconds_{per}": _ratio(_spent(part, borders), report.arrived),
            "memory_bytes.mean": _ratio(sum(memory), len(memory)),
            "memory_bytes.peak": max(memory, default=None),
        }
    return found


Program = Callable[[Sample | None], Usage | None]


def _server(sample: Sample | None) -> Usage | None:
    return sample.server if sample else None


def _services(sample: Sample | None) -> Usage | None:
    return sample.services if sample else None


def _generator(sample: Sample | None) -> Usage | None:
    return sample.generator if sample else None


def _cpu(usage: Usage) -> float:
    return usage.cpu_seconds


def _rate(program: Program, borders: Borders, counter: Callable[[Usage], float | None]) -> float | None:
    begin, end = (program(border) for border in borders)
    if begin is None or end is None:
        return None
    before, after = counter(begin), counter(end)
    if before is None or after is None:
        return None
    grown = after - before  # negative when a process ended and no parent waited for it
    return grown / (end.at - begin.at) if grown >= 0 else None


def _spent(program: Program, borders: Borders) -> float | None:
    begin, end = (program(border) for border in borders)
    if begin is None or end is None or end.cpu_seconds < begin.cpu_seconds:
        return None
    return end.cpu_seconds - begin.cpu_seconds


def _compiled(borders: Borders) -> float | None:
    """The CPU time of the server's compiler threads; None if it has none, or if it is not counted."""
    begin, end = (_server(border) for border in borders)
    if begin is None or end is None or not end.compiler_seconds:
        return None
    return between(begin.compiler_seconds, end.compiler_seconds)


def _less(value: float | None, part: float) -> float | None:
    return None if value is None else max(0.0, value - part)


def _instructions(borders: Borders) -> float | None:
    begin, end = (border.instructions if border else None for border in borders)
    return None if begin is None or end is None else end - begin


def _switches_per_second(borders: Borders) -> float | None:
    begin, end = (_server(border) for border in borders)
    if begin is None or end is None or not end.context_switches:  # a process has a thread, which has a count
        return None
    return between(begin.context_switches, end.context_switches) / (end.at - begin.at)


def waited_for_cpu(borders: Borders) -> float | None:
    """The seconds for which threads of the server were ready to run and had no CPU, added up over threads; None if the
    kernel does not count them.
    """
    begin, end = (_server(border) for border in borders)
    if begin is None or end is None or not end.waited_seconds:
        return None
    return between(begin.waited_seconds, end.waited_seconds)


def _steal(borders: Borders, cpus: int) -> float | None:
    begin, end = (border.machine if border else None for border in borders)
    if begin is None or end is None:
        return None
    return (end.steal_seconds - begin.steal_seconds) / ((end.at - begin.at) * cpus)


def _ratio(part: float | None, whole: float) -> float | None:
    return None if part is None or not whole else part / whole
