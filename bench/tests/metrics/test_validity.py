"""A trial is invalid if it measured the generator or a disturbed machine, never because the server is bad."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pushbench.metrics import validity
from pushbench.metrics.results import Window
from pushbench.records.environment import Environment
from pushbench.records.load_report import Shortage, StageReport
from pushbench.records.record import Validity
from pushbench.records.vocabulary import ORIGINAL
from tests.factories import make_trial
from tests.samples import ENVIRONMENT, WITH_PINGS, pings, result_of, stage_report, window


def judge(
    report: StageReport | None = None, seen: Window | None = None, environment: Environment = ENVIRONMENT
) -> Validity:
    report, seen = report or stage_report(), seen or window()
    return validity.judge([result_of(report, seen, 4)], [report], [seen], environment, words=ORIGINAL)


def only_reason(found: Validity) -> str:
    assert not found.valid
    assert [reason.stage for reason in found.reasons] == [0]
    return f"{found.reasons[0].code}: {found.reasons[0].message}"


def only_warning(found: Validity) -> str:
    assert found.valid
    assert len(found.warnings) == 1
    return f"{found.warnings[0].code}: {found.warnings[0].message}"


def test_a_quiet_machine_and_an_idle_generator_are_valid() -> None:
    assert judge() == Validity(valid=True, reasons=[], warnings=[])


def test_a_busy_generator_is_told_with_its_share_and_the_bound() -> None:
    assert judge(seen=window(generator_cpu=0.79 * 12)).valid
    told = only_reason(judge(seen=window(generator_cpu=0.81 * 12)))
    assert told == "generator_cpu: the generator used 81 % of its CPU, above 80 %: it may have measured itself"


def test_a_saturated_service_is_told_for_the_load_met_its_limit() -> None:
    """12 s of CPU are available: two CPUs for 6 s, which the generator shares."""
    assert judge(seen=window(services_cpu=0.64 * 12, generator_cpu=0.25 * 12)).warnings == []
    assert judge(seen=window(services_cpu=0.44 * 12, generator_cpu=0.47 * 12)).warnings == [], "the generator's own"
    told = only_warning(judge(seen=window(services_cpu=0.66 * 12, generator_cpu=0.25 * 12)))
    assert told == (
        "service_saturated: service saturated: the services used 66 % of the CPU that they share with the generator, "
        "which used 25 %: the load met their limit, perhaps not the server's"
    )


@pytest.mark.parametrize(("lateness", "share"), [(0.00049, None), (0.00062, "31 %"), (0.002, "100 %")])
def test_a_late_generator_is_a_warning_beside_the_percentiles_that_it_is_part_of(
    lateness: float, share: str | None
) -> None:
    found = judge(stage_report(lateness=lateness, delivery=0.002))
    assert found.valid
    late = f"{lateness * 1e3:.2g}" if lateness < 0.002 else "2"
    points = " and ".join(f"{late} ms late at {p} ({share} of the delivery {p} of 2 ms)" for p in ("p95", "p99"))
    told = [f"the generator sent {points}"] if share else []
    assert [(each.code, each.message) for each in found.warnings] == [("send_lateness", text) for text in told]


@pytest.mark.parametrize(
    ("lateness", "delivery", "valid"), [(0.011, 0.020, False), (0.011, 0.030, True), (0.009, 0.010, True)]
)
def test_a_trial_that_measured_the_generator_more_than_the_server_is_invalid(
    lateness: float, delivery: float, valid: bool
) -> None:
    found = judge(stage_report(lateness=lateness, delivery=delivery))
    assert found.valid is valid
    if not valid:
        assert only_reason(found) == (
            "generator_late: the generator sent 11.0 ms late at p95, 55.0 % of the delivery p95, above 50 %: "
            "it measured itself more than the server"
        )


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"steal_seconds": 0.3}, "steal: the hypervisor took 1.25 % of the CPU time, above 1 %"),
        (
            {"taken_seconds": 2.4, "idle_seconds": 0.12},
            "cpu_taken: other processes took 20 % of the server's CPU time, above 5 %, and 1 % was idle",
        ),
        (
            {"taken_seconds": 1.2, "idle_seconds": 3.6, "waited": 1.2},
            "cpu_taken: other processes took 10 % of the server's CPU time, above 5 %, "
            "and the server waited 10 % of it",
        ),
        ({"throttled": 3}, "throttled: the cgroup's CPU quota stopped the run 3 times"),
        ({"swapped_bytes": 4_000_000}, "swap: the machine swapped 4 MB of memory"),
        ({"clock_offset_seconds": 1.7e9 - 1.5}, "clock_step: the clock was set, by 1.50 s"),
    ],
)
def test_a_disturbed_machine_is_told(changed: dict[str, Any], told: str) -> None:
    assert only_reason(judge(seen=window(**changed))) == told


@pytest.mark.parametrize(
    "changed",
    [
        {"steal_seconds": 0.2},
        {"taken_seconds": 2.4, "idle_seconds": 0.7, "waited": 0.5},  # the server got the CPU that it needed
        {"taken_seconds": 0.5, "idle_seconds": 3.6, "waited": 6.0},  # its threads waited for each other
        {"taken_seconds": 2.4, "own_seconds": 11.4, "idle_seconds": 0.12},  # no CPU was left for others to take
        {"taken_seconds": 0.5},  # the usual share of the machine's small processes
        {"swapped_bytes": 500_000},
        {"clock_offset_seconds": 1.7e9 + 0.001},
    ],
)
def test_what_every_machine_does_is_no_disturbance(changed: dict[str, Any]) -> None:
    assert judge(seen=window(**changed)).valid


def test_a_server_that_sends_twice_is_measured() -> None:
    assert judge(stage_report(duplicate=6_000)).valid


def test_more_receipts_than_were_owed_are_a_bug_of_the_generator() -> None:
    told = only_reason(judge(stage_report(expected=5_999)))
    assert told.startswith("too_many_receipts: 6000 receipts were counted, 5999 were owed")


def test_a_client_that_the_generator_did_not_play_is_its_fault() -> None:
    told = only_reason(judge(stage_report(playing=99, connected=99, members=99)))
    assert told == "clients_missing: the generator played 99 of 100 clients"


def test_an_exchange_that_the_suite_counts_and_nobody_sent_was_not_measured() -> None:
    report, seen = stage_report(beside={"ping": pings()}), window()
    results = [result_of(report, seen, 4)]
    assert validity.judge(results, [report], [seen], ENVIRONMENT, words=WITH_PINGS).valid
    told = only_reason(validity.judge(results, [stage_report()], [seen], ENVIRONMENT, words=WITH_PINGS))
    assert told == "exchange_missing: the suite counts ping, and its scenario has clients send none"


def test_a_client_that_the_server_refused_or_kept_waiting_is_the_servers_result() -> None:
    found = judge(stage_report(members=98, connect_failures=2))
    assert only_warning(found) == "connect_failures: 2 connections failed (2 % of 100 clients)"
    assert judge(stage_report(members=90, disconnects=10)).valid
    assert judge(stage_report(connected=90, members=80)).valid


def test_a_server_that_loses_everything_is_valid() -> None:
    assert judge(stage_report(received=0, lost=6_000)).valid


def test_a_server_that_died_is_valid() -> None:
    seen = window()
    assert seen.begin
    assert judge(seen=Window(seen.begin, None, [seen.begin])).valid


def test_what_disturbed_the_stage_in_which_the_server_ended_hides_no_failure() -> None:
    busy = window(generator_cpu=0.81 * 12)
    results = [result_of(stage_report(), busy, 4)] * 2
    found = validity.judge(results, [stage_report()] * 2, [busy] * 2, ENVIRONMENT, words=ORIGINAL)
    assert [(each.code, each.stage) for each in found.reasons] == [("generator_cpu", 0), ("generator_cpu", 1)]
    without = validity.without_server(found, 1)
    assert [(each.code, each.stage) for each in without.reasons] == [("generator_cpu", 0)]
    assert [(each.code, each.stage) for each in without.warnings] == [("generator_cpu", 1)]
    assert not without.valid
    assert validity.without_server(without, 0).valid


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("open_files", "no open file left: raise `ulimit -n`, or add --generators"),
        ("addresses", "no free address and port: name more --source-addresses, or widen net.ipv4.ip_local_port_range"),
        ("buffers", "no network buffer: raise net.ipv4.tcp_mem, or play fewer clients"),
        ("memory", "no memory: give the machine more, or play fewer clients"),
    ],
)
def test_what_the_generators_own_machine_lacked_is_no_fault_of_the_server(reason: str, told: str) -> None:
    short = Shortage.model_validate({"reason": reason, "count": 7})
    found = validity.judge([], [], [], ENVIRONMENT, words=ORIGINAL, shortages=[short])
    assert not found.valid
    assert [(each.code, each.stage) for each in found.reasons] == [("generator_shortage", None)]
    assert found.reasons[0].message == f"7 connections failed because the generator had {told}"


def test_another_busy_process_is_a_warning_that_names_it() -> None:
    told = only_warning(judge(seen=window(others={(42, "backup"): 0.9, (43, "idle"): 0.1})))
    assert told == "other_process: backup (pid 42) used 15 % of a core meanwhile"


def test_a_thread_of_the_kernel_that_manages_memory_is_a_warning_that_says_what_it_does() -> None:
    told = only_warning(judge(seen=window(memory_threads={(77, "kdamond.0"): 0.15, (45, "kswapd0"): 0.05})))
    assert told == (
        "memory_thread: the kernel's kdamond.0 used 2.50 % of a core: it manages memory, and can hold a CPU for "
        "milliseconds"
    )


def test_a_step_of_the_cpu_frequency_is_a_warning() -> None:
    told = only_warning(judge(seen=window(frequency_hz=3e9)))
    assert told == "frequency_step: the server's CPUs ran at 2.00 GHz to 3.00 GHz"


def test_a_shared_cpu_is_a_warning() -> None:
    shared = ENVIRONMENT.model_copy(update={"server_cpus": [0], "generator_cpus": [0]})
    found = judge(seen=window(generator_cpu=1.0), environment=shared)
    assert only_warning(found).startswith("shared_cpu: ")


def together(*servers: float, generators: float = 1.2) -> list[str]:
    """The findings for concurrent trials whose programs use these CPU seconds of the 12 available ones."""
    windows = [window(server_cpu=each, generator_cpu=generators) for each in servers]
    trials = [make_trial("x", results=[result_of(stage_report(), each, 4)]) for each in windows]
    judged = validity.judge_together(trials, ENVIRONMENT)
    assert [validity.is_crowded(trial) for trial in judged] == [not trial.validity.valid for trial in judged]
    assert len({trial.validity.valid for trial in judged}) == 1
    return [f"{reason.code}: {reason.message}" for reason in judged[0].validity.reasons]


def test_trials_at_the_same_time_are_invalid_where_they_are_too_much_for_their_cpus() -> None:
    assert together(4.7, 4.8) == []
    assert together(6.0, 3.8) == [
        "servers_crowded: the servers of all arms used 81.7 % of the CPU that they share, above 80 %: "
        "each may have measured the other"
    ]
    told = "generators_crowded: the generators of all arms used 81.7 % of the CPU that they share"
    assert together(1.0, 1.0, generators=4.9)[0].startswith(told)


@pytest.mark.parametrize(
    ("stopped", "used", "reasons", "warnings"),
    [
        (0.05, 3.0, [], []),
        (0.07, 3.0, ["throttled"], []),
        (0.07, 10.7, ["throttled"], []),
        (0.07, 10.9, [], ["quota_used_up"]),
    ],
)
def test_a_quota_that_stops_a_server_with_cpus_to_spare_disturbs_it(
    stopped: float, used: float, reasons: list[str], warnings: list[str]
) -> None:
    """The window is 6 s: 1 % of it is 0.06 s. The quota is two CPUs: 90 % of it is 10.8 s."""
    seen = window(server_cpu=used)
    assert seen.begin
    assert seen.begin.server
    assert seen.end
    assert seen.end.server
    begin = replace(seen.begin, server=replace(seen.begin.server, throttled_seconds=4.0, quota_cores=2.0))
    end = replace(seen.end, server=replace(seen.end.server, throttled_seconds=4.0 + stopped, quota_cores=2.0))
    found = judge(seen=Window(begin, end, [begin, end]))
    assert [each.code for each in found.reasons] == reasons
    assert [each.code for each in found.warnings] == warnings
    if reasons:
        assert f"above 1 %, while it used {used / 6:.2f} of 2 CPUs" in found.reasons[0].message
        assert validity.is_disturbed(make_trial("node-ws", validity=found))
