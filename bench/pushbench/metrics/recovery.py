"""The results of a kill: the time until all clients were back, the losses, and the cost of coming back. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from pushbench.machine.resources import Usage
from pushbench.machine.sampling import Sample
from pushbench.records.load_report import Outage
from pushbench.records.record import OutageResult
from pushbench.records.vocabulary import POINTS
from pushbench.statistics.histogram import Latencies

LATEST_SECONDS = 1.0
"""before the end of the window: later losses leave too little time to observe the recovery of a service"""


def outage_result(report: Outage, kill_seconds: float) -> OutageResult:
    """The results of a kill `kill_seconds` after the start of the load."""
    return OutageResult(
        kill=report.kill,
        kill_seconds=round(kill_seconds, 6),
        begin_seconds=report.begin_us / 1e6,
        end_seconds=report.end_us / 1e6,
        back_seconds=_seconds(report.back_us),
        last_lost_seconds=_seconds(report.last_lost_us),
        disconnects=report.disconnects,
        attempts=report.attempts,
        failed=report.failed,
        unsent=report.messages.unsent,
        receipts=report.receipts,
    )


def recovery_metrics(
    report: Outage, found: OutageResult, samples: Sequence[Sample], origin: float
) -> dict[str, float | None]:
    """The metrics of a kill, from the `samples` of its stage; `origin` is the start of the load in time.monotonic()."""
    recovery = recovery_seconds(found)
    until = found.kill_seconds + (found.end_seconds - found.kill_seconds if recovery is None else recovery)
    metrics: dict[str, float | None] = {
        "recovery_seconds": recovery,
        "reconnect_attempts": report.attempts,
        "clients_not_back": report.not_back,
        "outage_lost": report.receipts.lost,
        "outage_loss_ratio": report.receipts.lost / report.receipts.expected if report.receipts.expected else None,
        "lost_after_recovery": report.lost_after,
        "outage_cpu_cores": _cores(samples, origin + found.kill_seconds, origin + until),
    }
    for name, text in (("away", report.away), ("reconnect", report.reconnect)):
        summary = Latencies.decode(text).summary()
        for point in POINTS:
            metrics[f"{name}_seconds.{point}"] = asdict(summary)[point] if summary else None
    return metrics


def recovery_seconds(found: OutageResult) -> float | None:
    """From the kill until all clients are members again. Clients stay members while a service is away; then it ends
    with the due time of the last lost message. None without a recovery.
    """
    if found.disconnects and found.back_seconds is None:
        return None
    moments = [found.kill_seconds]
    if found.back_seconds is not None:
        moments.append(found.back_seconds)
    if found.kill == "service" and found.last_lost_seconds is not None:
        if found.last_lost_seconds >= found.end_seconds - LATEST_SECONDS:
            return None
        moments.append(found.last_lost_seconds)
    return max(moments) - found.kill_seconds


def _cores(samples: Sequence[Sample], begin: float, end: float) -> float | None:
    """The server's mean CPU from the last sample before `begin` to the first one after `end`."""
    before = [sample for sample in samples if sample.at <= begin and sample.server]
    after = [sample for sample in samples if sample.at >= end and sample.server]
    if not before or not after:
        return None
    first, last = before[-1].server, after[0].server
    return _rate(first, last) if first and last else None


def _rate(first: Usage, last: Usage) -> float | None:
    grown = last.cpu_seconds - first.cpu_seconds
    return grown / (last.at - first.at) if grown >= 0 and last.at > first.at else None


def _seconds(microseconds: int | None) -> float | None:
    return None if microseconds is None else microseconds / 1e6
