"""The events of a load: when it starts, and the counts of every second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

WINDOW_GRACE_SECONDS = 0.2  # after the end of a steady window: an event loop may be a few milliseconds behind


@dataclass(frozen=True)
class Started:
    """All generators have started. Moments of time.monotonic(); the windows are those that all of them measure."""

    at: float
    windows: Sequence[tuple[float, float]]
    end: float


class Exceeded(NamedTuple):
    """How many of the latencies exceeded a limit."""

    late: int
    of: int

    @classmethod
    def total(cls, counts: Iterable[Exceeded]) -> Exceeded:
        """The sum over seconds or generators."""
        late, of = map(sum, zip(*counts, strict=True))
        return cls(late, of)


@dataclass(frozen=True)
class Second:
    """The counts of one second, summed over the generators that have reported it."""

    at: float
    clients: int
    sent: int
    received: int
    owed: int = 0
    """receipts that became owed"""
    headline_p95: float | None = None
    """seconds; of several generators the highest, because quantiles do not add up"""
    exceeded: Sequence[Exceeded] = ()
    """for each of the plan's limits"""

    @classmethod
    def total(cls, told: Iterable[Second]) -> Second:
        """The sum over generators."""
        each = list(told)
        return cls(
            at=max(second.at for second in each),
            clients=sum(second.clients for second in each),
            sent=sum(second.sent for second in each),
            received=sum(second.received for second in each),
            owed=sum(second.owed for second in each),
            headline_p95=max((one.headline_p95 for one in each if one.headline_p95 is not None), default=None),
            exceeded=[Exceeded.total(counts) for counts in zip(*(second.exceeded for second in each), strict=True)],
        )


def together(starts: Sequence[Started]) -> Started:
    """The start of several generators: the windows are those that all of them measure."""
    windows = zip(*(start.windows for start in starts), strict=True)
    return Started(
        at=min(start.at for start in starts),
        windows=[(max(begin for begin, _ in parts), min(end for _, end in parts)) for parts in windows],
        end=max(start.end for start in starts),
    )


def window_end(starts: Sequence[Started], moment: float) -> float:
    """When all generators have measured the stage of `moment` to its end; `moment` itself outside all stages."""
    ends = (max(end for _, end in parts) for parts in zip(*(start.windows for start in starts), strict=True))
    return next((end + WINDOW_GRACE_SECONDS for end in ends if moment < end), moment)


def parse_event(event: dict[str, Any]) -> Started | Second | None:
    """The event of a line; None for an event that is not used."""
    match event["event"]:
        case "start":
            windows = [(_moment(stage["begin"]), _moment(stage["end"])) for stage in event["stages"]]
            return Started(_moment(event["at"]), windows, _moment(event["end_of_load"]))
        case "second":
            p95 = event.get("p95_us")
            return Second(
                at=_moment(event["at"]),
                **{name: event[name] for name in ("clients", "sent", "received", "owed")},
                headline_p95=None if p95 is None else _moment(p95),
                exceeded=[Exceeded(each["late"], each["of"]) for each in event.get("exceeded", [])],
            )
    return None


def moved(start: Started, seconds: float) -> Started:
    """The start by another clock, whose moments are `seconds` later."""
    windows = [(begin + seconds, end + seconds) for begin, end in start.windows]
    return Started(start.at + seconds, windows, start.end + seconds)


def _moment(microseconds: int) -> float:
    return microseconds / 1e6
