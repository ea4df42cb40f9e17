"""The known capacity of servers is found with the real generator under real load, and that of a real one twice.

The short test runs on every machine. `make capacity-truth` runs the long ones, five searches of each kind, and needs
a quiet machine.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from pathlib import Path

import pytest

from pushbench.metrics.carrying import results_of
from pushbench.records.capacity import CapacityRecord, Probe
from tests.capacity.scripted_capacities import find, scripted_project, twin_project

BOARD = 10
FRAME_BYTES = 4
"""of a WebSocket message of 126 bytes to 64 KiB from a server: RFC 6455, section 5.2"""
LIMIT_SECONDS = 0.5
"""of the suite, for the delivery p95"""
KINDS: dict[str, tuple[str, Callable[[CapacityRecord], float]]] = {
    "rate": ("-capacity 8000", lambda _: 8000 / BOARD),
    "clients": ("-refuse-beyond 730", lambda _: 730),
    "bytes": ("-bytes 1500000", lambda record: 1_500_000 / (BOARD * message_bytes(record))),
    "pause": ("-pause-each 500us", lambda _: LIMIT_SECONDS / 0.0005),
}
"""flags of the scripted server, and the number of clients that it carries with them; each sends once a second"""


def message_bytes(record: CapacityRecord) -> float:
    """The mean size of a delivered message, as measured by the probes of the record."""
    metrics = held(record).metrics
    out, deliveries = (metrics[name] for name in ("network_out_bytes_per_second", "throughput_per_second"))
    assert out and deliveries
    return out / deliveries - FRAME_BYTES


def held(record: CapacityRecord) -> Probe:
    """The carried probe with the longer duration."""
    return next(
        probe
        for start in record.servers[0].starts
        for probe in start.probes
        if probe.hold and probe.answer == "carried"
    )


@pytest.mark.slow
@pytest.mark.timed
def test_a_small_capacity_is_found_in_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Allows for whole boards and a disturbed machine; the long tests require more accuracy."""
    project = scripted_project(tmp_path / "checkout", "-refuse-beyond 64", monkeypatch)
    suite = project.scenarios / "whiteboard.yml"
    shorter = {"first: 100": "first: 60", "most: 20000": "most: 70", "warmup_seconds: 4": "warmup_seconds: 0"}
    shorter |= {"  steady_seconds: 3\n  hold_seconds: 10\n": "  steady_seconds: 1\n  hold_seconds: 2\n"}
    before, _, section = suite.read_text().partition("capacity:")
    for old, new in shorter.items():
        assert old in section
        section = section.replace(old, new)
    suite.write_text(f"{before}capacity:{section}")
    (found,) = results_of(find(project, starts=1, seconds=60))
    if found.end == "disturbed":
        pytest.skip("the machine was disturbed")
    assert (found.carried, found.high, found.end) == (60, 70, "limit")
    assert found.binding
    assert found.binding.resource == "connections"


@pytest.mark.measurement
@pytest.mark.parametrize("time", range(1, 6))
@pytest.mark.parametrize("kind", KINDS)
def test_a_set_capacity_is_found_within_five_percent(
    kind: str, time: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags, capacity = KINDS[kind]
    record = find(scripted_project(tmp_path / "checkout", flags, monkeypatch), starts=3, seconds=300)
    (found,) = results_of(record)
    truth = capacity(record)
    took = sum(start.seconds for start in record.servers[0].starts)
    print(
        f"{kind} {time}: {found.carried} [{found.low}, {found.high}], truth {truth:.0f}, "
        f"{found.reason}, {found.binding}, {took:.0f} s"
    )
    if found.end == "disturbed":
        pytest.skip("the machine was disturbed")
    assert found.end == "limit"
    assert found.carried == pytest.approx(truth, rel=0.05)
    assert took < 300


@pytest.mark.measurement
@pytest.mark.parametrize("server", ["node-ws", "spring-websocket"])
def test_a_real_server_that_is_searched_twice_in_turns_carries_the_same(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = find(twin_project(tmp_path / "checkout", server, monkeypatch), starts=3, seconds=300)
    one, again = results_of(record)
    for each in (one, again):
        print(f"{each.server}: {each.carried} [{each.low}, {each.high}], starts {each.starts}, {each.reason}")
    assert (one.end, again.end) == ("limit", "limit")
    assert one.carried
    assert again.carried == pytest.approx(one.carried, rel=0.15)
    assert one.low is not None
    assert again.low is not None
    assert (one.high or inf) >= again.low
    assert (again.high or inf) >= one.low
