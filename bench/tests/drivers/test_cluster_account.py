"""Readings of meters become samples, with clocks that differ by a known amount of limited accuracy."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pushbench.drivers.cluster_account import Heard, Meter, account_of, starts_here
from pushbench.drivers.cluster_clocks import Compared, parse_compared, seen_by
from pushbench.generator.events import Started
from pushbench.generator.load import Account

METER = Meter("server-1", "10.0.0.1:18080", 2.0)
OTHER = Meter("server-2", "10.0.0.2:18080", 2.0)
WINDOWS = [(103.0, 113.0)]
"""of a load that began at 100 by the generator's clock"""
STARTED = Started(100.0, WINDOWS, 115.0)
AHEAD = 5_000.0
HERE = 900.0
"""when the start was read on this machine"""


def compared(meter: Meter = METER, ahead: float = AHEAD, within: float = 0.001, at: float = 100.0) -> Compared:
    return Compared(at, meter.address, ahead, within)


def heard(*comparisons: Compared, started: Started = STARTED, arrived: float = HERE) -> Heard:
    return Heard(started, arrived, comparisons or [compared()])


def reading(at: float, cpu: float, **more: Any) -> dict[str, Any]:
    used = {
        "cpu": round(cpu * 1e6), "user": round(cpu * 6e5), "system": round(cpu * 4e5), "memory_bytes": 50_000_000,
        "threads": 7, "processes": 1, "throttled": 0, "switches": round(at * 100), **more,
    }  # fmt: skip
    return {
        "meter_at": round(at * 1e6), "realtime": 1_700_000_000_000_000, "server": used,
        "received_bytes": 10 * round(at), "sent_bytes": 20 * round(at), "steal": 0, "swapped_bytes": 0,
    }  # fmt: skip


def log(cpu: Callable[[float], float], *, begin: float = AHEAD + 99.05, seconds: float = 17.0, **more: Any) -> str:
    """The lines of a meter, ten per second, of a server that has used `cpu(seconds of the load)`."""
    moments = [begin + tenth / 10 for tenth in range(int(seconds * 10))]
    return "\n".join(json.dumps(reading(moment, cpu(moment - AHEAD - 100), **more)) for moment in moments)


def steady(cores: float) -> Callable[[float], float]:
    return lambda seconds: 10 + cores * seconds


def account(logs: dict[Meter, str], *heards: Heard, without: str = "") -> Account:
    told = starts_here(heards, list(logs))
    return account_of(logs, heards, told, without)


def cores(found: Account) -> float:
    """The cores that the server used between the borders of the window."""
    begin, end = [sample for sample in found.samples if sample.machine]
    assert begin.server
    assert end.server
    return (end.server.cpu_seconds - begin.server.cpu_seconds) / (end.at - begin.at)


def codes(found: Account) -> list[str]:
    return [each.code for each in found.warnings]


def test_what_was_used_in_a_window_is_found_by_the_meters_clock() -> None:
    # Three cores before and after the window, half a core within it: an error of a second would be visible.
    def bursts(seconds: float) -> float:
        return 100 + 3 * min(seconds, 3) + 0.5 * max(0.0, min(seconds, 13) - 3) + 3 * max(0.0, seconds - 13)

    found = account({METER: log(bursts)}, heard())
    assert cores(found) == pytest.approx(0.5, abs=0.015), "readings lie a tenth of a second apart"
    borders = [sample.at for sample in found.samples if sample.machine]
    assert borders == pytest.approx([HERE + 3, HERE + 13])
    assert len(found.samples) == 14, "one each second from the start; the borders are among them"
    assert codes(found) == ["border_uncertainty"]
    assert "agree to 2.30 ms, 0.023% of the shortest window" in found.warnings[0].message, "drift included"


def test_a_border_between_two_readings_is_interpolated() -> None:
    odd = heard(started=Started(100.0, [(103.0, 112.94)], 115.0))
    assert cores(account({METER: log(steady(0.5))}, odd)) == pytest.approx(0.5, rel=1e-5)


def test_two_generators_have_the_window_that_both_measure() -> None:
    later = Started(7.2, [(10.2, 20.2)], 22.2)
    second = Heard(later, HERE + 0.9, [Compared(7.2, METER.address, AHEAD + 93.5, 0.001)])
    told = starts_here([heard(), second], [METER])
    assert [start.at - told[0].at for start in told] == pytest.approx([0.0, 0.7]), "not 0.9, when its line arrived"
    assert told[0].at == HERE, "by the line that arrived first"
    found = account({METER: log(steady(0.5))}, heard(), second)
    begin, end = [sample.at for sample in found.samples if sample.machine]
    assert end - begin == pytest.approx(9.3)
    assert "0.700 s apart" in found.warnings[0].message
    assert cores(found) == pytest.approx(0.5)


def test_services_are_accounted_beside_the_server_and_not_with_it() -> None:
    service = Meter("redis-1", "10.0.0.3:18080", 1.0, of_service=True)
    both = heard(compared(), compared(service))
    found = account({METER: log(steady(0.5)), service: log(steady(0.2))}, both)
    assert cores(found) == pytest.approx(0.5)
    begin, end = [sample for sample in found.samples if sample.machine]
    assert begin.services
    assert end.services
    assert end.services.cpu_seconds - begin.services.cpu_seconds == pytest.approx(0.2 * 10)
    assert "spread" not in codes(found), "a service has no clients of the load"


def test_generators_tell_their_cpu_by_their_own_clocks() -> None:
    # A tenth of a core in the first three seconds of the load, then half a core; reported each second, slightly late.
    def told(own: Started) -> list[tuple[float, float]]:
        return [(own.at + second + 0.004, 0.1 * min(second, 3) + 0.5 * max(0, second - 3)) for second in range(1, 16)]

    later = Started(7.2, [(10.2, 20.2)], 22.2)
    one = Heard(STARTED, HERE, [compared()], told(STARTED))
    other = Heard(later, HERE + 0.9, [Compared(7.2, METER.address, AHEAD + 93.5, 0.001)], told(later))
    found = account({METER: log(steady(0.5))}, one, other)
    begin, end = [sample for sample in found.samples if sample.machine]
    assert begin.generator
    assert end.generator
    assert end.generator.cpu_seconds - begin.generator.cpu_seconds == pytest.approx(2 * 0.5 * 9.3, rel=0.03)
    silent = account({METER: log(steady(0.5))}, one, Heard(later, HERE, other.compared, told(later)[:5]))
    assert [each.generator for each in silent.samples][-1] is None, "one of the two has told nothing any more"


def test_generators_that_begin_far_apart_make_the_trial_invalid() -> None:
    apart = Heard(STARTED, HERE, [Compared(100.0, METER.address, AHEAD + 1.3, 0.001)])
    [reason] = account({METER: log(steady(0.5))}, heard(), apart).reasons
    assert (reason.code, reason.message) == ("start_skew", "the generators began 1.300 s apart, more than 1 s")


def test_generators_that_begin_a_window_apart_measured_nothing_together() -> None:
    apart = Heard(STARTED, HERE, [Compared(100.0, METER.address, AHEAD + 10.5, 0.001)])
    found = account({METER: log(steady(0.5), seconds=40)}, heard(), apart)
    assert [reason.code for reason in found.reasons] == ["start_skew"]
    assert (codes(found), found.samples) == (["not_accounted"], [])


def counting(lines: str, *clients: int) -> str:
    """The lines with a count of connections in every fiftieth line."""
    found = [json.loads(line) for line in lines.splitlines()]
    for reading, count in zip(found[::50], clients, strict=False):
        reading["clients"] = count
    return "\n".join(map(json.dumps, found))


def test_replicas_add_up_and_show_how_clients_spread() -> None:
    both = heard(compared(), compared(OTHER, AHEAD))
    one, other = counting(log(steady(0.5)), 0, 7, 12, 1), counting(log(steady(0.25)), 0, 9, 8, 0)
    found = account({METER: one, OTHER: other}, both)
    [spread] = [each for each in found.warnings if each.code == "spread"]
    assert (spread.stage, spread.message) == (0, "the Service gave the 2 pods 12 and 8 connections")
    assert cores(found) == pytest.approx(0.75)
    assert found.samples[-1].server
    assert found.samples[-1].server.memory_bytes == 100_000_000
    assert found.samples[-1].server.quota_cores == 4.0
    assert [each.traffic for each in found.samples][-1] == pytest.approx((2 * 10 * 5113, 2 * 20 * 5113), abs=40)


@pytest.mark.parametrize(
    ("logs", "comparisons", "said"),
    [
        ({}, [compared()], "forbidden by the cluster"),
        ({METER: "meter: the pod does not share its processes"}, [compared()], "does not share its processes"),
        ({METER: ""}, [compared()], "the meter saw no process of the server"),
        ({METER: "x"}, [Compared(1.0, METER.address, error="i/o timeout")], "the meter saw no process"),
        ({METER: log(steady(1))}, [Compared(1.0, METER.address, error="i/o timeout")], "compare clocks: i/o timeout"),
        ({METER: log(steady(1))}, [compared(within=0.2)], "above 1%"),
    ],
)
def test_without_a_meter_or_its_clock_nothing_is_measured_and_the_reason_said(
    logs: dict[Meter, str], comparisons: list[Compared], said: str
) -> None:
    found = account(logs, heard(*comparisons), without="forbidden by the cluster")
    assert not any(each.server or each.machine or each.traffic for each in found.samples)
    assert codes(found) == ["not_accounted"]
    assert said in found.warnings[0].message


def test_a_meter_that_ended_leaves_the_rest_of_the_window_unknown() -> None:
    found = account({METER: log(steady(0.5), seconds=9.0)}, heard())
    assert codes(found) == ["border_uncertainty", "not_accounted"]
    assert "no readings at 1 borders" in found.warnings[1].message
    assert [bool(sample.machine) for sample in found.samples if sample.at == HERE + 13] == [False]


def test_a_pause_of_the_meter_is_not_bridged() -> None:
    lines = log(steady(0.5)).splitlines()
    found = account({METER: "\n".join(lines[:30] + lines[60:])}, heard())
    known = [sample.server is not None for sample in found.samples[:8]]
    assert known == [True, True, False, False, False, False, True, True]


def test_lines_that_are_no_readings_are_left_out() -> None:
    lines = log(steady(0.5)).splitlines()
    hostile = ['{"meter_at": "x"}', '{"meter_at":-1}', "hello", '{"meter_at":' + "9" * 400, lines[0][:50]]
    assert cores(account({METER: "\n".join([*hostile, *lines, lines[-1][:40]])}, heard())) == pytest.approx(0.5)


def test_the_best_comparison_near_a_moment_counts() -> None:
    drifting = [compared(ahead=AHEAD, at=100.0), compared(ahead=AHEAD + 0.01, at=110.0), compared(within=5.0, at=113.0)]
    found = seen_by(STARTED, drifting)
    assert found
    assert found[0].at == AHEAD + 100.0
    assert found[0].windows[0] == pytest.approx((AHEAD + 103.0, AHEAD + 113.01))
    assert found[1] == pytest.approx(0.0013)


def test_a_comparison_is_an_event_of_its_own() -> None:
    event = {"event": "clock", "at": 2_000_000, "meter": "a:1"}
    assert parse_compared({**event, "ahead_us": -500, "within_us": 20}) == Compared(2.0, "a:1", -0.0005, 2e-05)
    assert parse_compared({**event, "error": "refused\n"}) == Compared(2.0, "a:1", error="refused")
    assert parse_compared({"event": "second", "at": 1}) is None
    with pytest.raises(ValueError, match="known exactly"):
        parse_compared({**event, "ahead_us": 1, "within_us": 0})
    with pytest.raises(KeyError):
        parse_compared({**event, "ahead_us": 1})
