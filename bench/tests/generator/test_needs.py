"""The largest stage's needs on the machine are known before a trial; anything missing is reported with its remedy."""

from __future__ import annotations

from typing import Any

import pytest

from pushbench.catalog.suites import Load
from pushbench.foundation.errors import UserError
from pushbench.generator import limits
from pushbench.generator.needs import Limits, Means, generators_for, parse_addresses, server_doubt, sources_for, spin_us
from pushbench.machine import ports
from pushbench.measuring.common import Options, means_of
from pushbench.records.record import Schedule, StagePlan
from pushbench.records.vocabulary import ORIGINAL

HERE = Limits(open_files=20_000, ports=28_232)


@pytest.mark.parametrize(
    ("clients", "wanted", "found"),
    [(1_000, None, 1), (19_900, None, 1), (19_901, None, 2), (50_000, None, 3), (1_000, 4, 4), (50_000, 3, 3)],
)
def test_there_are_as_many_generators_as_the_file_limit_asks_for(clients: int, wanted: int | None, found: int) -> None:
    assert generators_for(clients, HERE, wanted) == found


def test_too_few_generators_are_told_with_the_number_that_is_enough() -> None:
    with pytest.raises(UserError) as refused:
        generators_for(50_000, HERE, 2)
    assert refused.value.what == (
        "--generators 2 is too few: one generator may open 20,000 files, and the largest stage has 50,000 connections"
    )
    assert refused.value.hint == "give --generators 3, or raise `ulimit -n`"
    with pytest.raises(UserError, match="the load cannot be played: one generator may open 64 files"):
        generators_for(10, Limits(64, 28_232), None)


@pytest.mark.parametrize(
    ("clients", "wanted", "found"),
    [
        (12_704, None, []),
        (12_705, None, ["127.0.0.2", "127.0.0.3"]),
        (30_000, None, ["127.0.0.2", "127.0.0.3", "127.0.0.4"]),
        (1_000, ["127.0.0.9"], ["127.0.0.9"]),
        (30_000, ["127.0.0.7", "127.0.0.8", "10.0.0.5"], ["127.0.0.7", "127.0.0.8", "10.0.0.5"]),
    ],
)
def test_clients_of_the_loopback_device_have_as_many_addresses_as_their_ports_ask_for(
    clients: int, wanted: list[str] | None, found: list[str]
) -> None:
    assert sources_for(clients, HERE, wanted, loopback=True) == found


def test_many_loopback_addresses_are_all_different() -> None:
    found = sources_for(28_000, Limits(20_000, 100), None, loopback=True)
    assert len(set(found)) == len(found) == 623
    assert found[-1] == "127.0.2.112"


def test_clients_of_a_container_need_real_addresses_where_one_is_not_enough() -> None:
    assert sources_for(12_000, HERE, None, loopback=False) == []
    with pytest.raises(
        UserError, match="one address has ports for 12,704 connections, and the largest stage has 25,000"
    ) as e:
        sources_for(25_000, HERE, None, loopback=False)
    assert e.value.hint
    assert e.value.hint.startswith("name 2 of this machine's addresses with --source-addresses, or widen net.ipv4.ip_")
    assert sources_for(25_000, HERE, ["10.0.0.5", "10.0.0.6"], loopback=False) == ["10.0.0.5", "10.0.0.6"]
    with pytest.raises(UserError, match=r"127\.0\.0\.2 is a loopback address, which reaches no container"):
        sources_for(1_000, HERE, ["127.0.0.2"], loopback=False)


def test_too_few_addresses_that_were_named_are_told() -> None:
    with pytest.raises(UserError, match="--source-addresses has too few"):
        sources_for(50_000, HERE, ["127.0.0.2"], loopback=True)
    with pytest.raises(UserError, match="there are no local ports"):
        sources_for(1, Limits(20_000, 1), None, loopback=True)


@pytest.mark.parametrize(
    ("cpus", "generators", "trials", "services", "spins"),
    [
        (1, 1, 1, False, True),
        (1, 1, 1, True, False),  # Redis needs that CPU
        (1, 1, 2, False, False),  # both arms of a comparison
        (2, 1, 1, True, True),
        (2, 1, 2, False, True),
        (2, 1, 2, True, False),
        (2, 3, 1, False, False),
        (4, 1, 1, True, True),
        (0, 1, 1, False, False),  # the server uses the same CPUs
    ],
)
def test_a_loop_spins_only_where_nobody_else_needs_its_cpu(
    cpus: int, generators: int, trials: int, services: bool, spins: bool
) -> None:
    assert (spin_us(cpus, generators, trials, services=services) > 0) is spins


def test_a_server_that_may_open_fewer_files_than_there_are_clients_is_only_doubted() -> None:
    assert server_doubt(20_000, HERE) is None
    told = server_doubt(50_000, HERE)
    assert told
    assert told.startswith("a process may open 20,000 files (`ulimit -n`), fewer than the 50,000 connections")


def test_addresses_are_read_from_a_list() -> None:
    assert parse_addresses("auto") is None
    assert parse_addresses("10.0.0.5, 10.0.0.6") == ["10.0.0.5", "10.0.0.6"]
    for wrong, told in {"": "found ''", "10.0.0": "found '10.0.0'", "::1": "found '::1'"}.items():
        with pytest.raises(UserError, match=told):
            parse_addresses(wrong)
    with pytest.raises(UserError, match=r"10\.0\.0\.5 appears twice"):
        parse_addresses("10.0.0.5,10.0.0.5")


def test_an_address_of_another_machine_is_refused() -> None:
    limits.require_own(["127.0.0.2", "127.8.9.10"])
    with pytest.raises(UserError, match=r"192\.0\.2\.1 cannot be used: this machine does not have it"):
        limits.require_own(["192.0.2.1"])  # TEST-NET-1, which no machine has: RFC 5737


def test_the_limits_of_this_machine_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    found = limits.read_limits()
    assert found.open_files > 0
    assert 0 < found.ports <= 65_536
    monkeypatch.setattr(ports, "read", lambda _: "1024\t1123\n")
    assert limits.read_limits().ports == 100
    monkeypatch.setattr(ports, "read", lambda _: None)
    assert limits.read_limits().ports == 28_232


def means(
    monkeypatch: pytest.MonkeyPatch, options: Options, *clients: int, connections: int = 1
) -> tuple[Means, list[str]]:
    """The means for a load with these stages for a server of the process driver, and the notes about them."""
    monkeypatch.setattr(limits, "read_limits", lambda: HERE)
    stages = [StagePlan(clients=each, ramp_seconds=0, settle_seconds=0, steady_seconds=1) for each in clients]
    schedule = Schedule(warmup_seconds=0, stages=stages, drain_seconds=1)
    parts: Any = [None, type("Driver", (), {"name": "process"})]
    notes: list[str] = []
    load = Load("whiteboard", "huge", parts[0], schedule, {}, ORIGINAL, connections=connections)
    return means_of(load, parts[1], options, notes.append), notes


def test_the_largest_stage_decides_and_what_is_unusual_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert means(monkeypatch, Options(), 100, 1_000) == (Means(sources=[]), [])
    found, notes = means(monkeypatch, Options(), 100, 50_000, 1_000)
    assert (found.generators, found.sources) == (3, [f"127.0.0.{number}" for number in (2, 3, 4, 5)])
    assert notes[:2] == [
        "3 generators: each may open 20,000 files, and there are 50,000 connections",
        "clients connect from 4 addresses, because each has 12,704 ports for them",
    ]
    assert notes[2:] == [found.doubt]
    twice = means(monkeypatch, Options(), 100, 25_000, connections=2)
    assert twice == (found, notes), "clients with two connections need as much as twice as many clients"
    asked = Options(generators=3, sources=found.sources)
    assert means(monkeypatch, asked, 50_000)[1] == [found.doubt], "what was asked for is not told"
