"""The verdict on a run, rule by rule."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from pushbench.judging.thresholds import NO_THRESHOLDS, Thresholds
from pushbench.judging.verdict import Verdict, judge
from pushbench.records.history import entry_of
from pushbench.records.record import Failure, Record, Skipped, Trial
from pushbench.reporting.report import render_terminal
from pushbench.site import runfile
from pushbench.watching.progress import conclusion
from tests.factories import (
    CLASSROOM,
    CLASSROOM_SCHEDULE,
    LIMITS,
    SERVERS,
    failed,
    in_classroom,
    invalid,
    make_record,
    make_thresholds,
    make_trial,
    measured,
)

LOSS = {"loss_ratio": 0.021}


@pytest.fixture
def thresholds(tmp_path: Path) -> Thresholds:
    return make_thresholds(tmp_path)


def of(verdict: Verdict, server: str) -> str:
    return next(each.outcome for each in verdict.servers if each.server == server)


def test_a_run_whose_servers_keep_every_limit_passes(thresholds: Thresholds) -> None:
    verdict = judge(make_record([make_trial(server) for server in SERVERS]), thresholds)
    assert verdict.outcome == "pass"
    assert verdict.reasons == []
    assert verdict.exit_code() == 0
    assert len(verdict.limits) == 4 * 4 * 2


def test_a_broken_limit_fails_the_run_and_is_told_in_a_sentence(thresholds: Thresholds) -> None:
    verdict = judge(make_record([measured("node-ws", LOSS, at=700), make_trial("fastapi")]), thresholds)
    assert (verdict.outcome, of(verdict, "node-ws"), of(verdict, "fastapi")) == ("fail", "fail", "pass")
    assert verdict.reasons == ["node-ws: loss 2.10 % at 700 clients, limit 1 %"]
    assert verdict.exit_code() == 1


def test_a_limit_is_asked_in_a_stage_with_a_name_as_in_every_other(thresholds: Thresholds) -> None:
    record = make_record([in_classroom("node-ws", LOSS), in_classroom("fastapi")], schedule=CLASSROOM_SCHEDULE)
    verdict = judge(record, thresholds)
    assert verdict.reasons == ["node-ws: loss 2.10 % in classroom-1000, limit 1 %"]
    assert {limit.name for limit in verdict.limits} == {"100", "300", "700", "1000", *CLASSROOM}


def test_the_bound_itself_is_allowed(thresholds: Thresholds) -> None:
    assert judge(make_record([measured("node-ws", {"loss_ratio": 0.01})]), thresholds).outcome == "pass"


def test_a_value_that_would_be_shown_like_its_bound_is_told_as_just_above_it(thresholds: Thresholds) -> None:
    verdict = judge(make_record([measured("node-ws", {"loss_ratio": 0.010001})]), thresholds)
    assert verdict.reasons == ["node-ws: loss 1.00 % at 1,000 clients, just above the limit of 1 %"]


def test_a_min_limit_is_broken_from_below(tmp_path: Path) -> None:
    text = "version: 1\nsuites:\n  whiteboard:\n    limits:\n      throughput_per_second: {min: 900/s}\n"
    verdict = judge(
        make_record([measured("node-ws", {"throughput_per_second": 500.0})]), make_thresholds(tmp_path, text)
    )
    assert verdict.reasons == ["node-ws: deliveries out 500 /s at 1,000 clients, limit at least 900 /s"]


LATE = {"delivery_seconds.p95": 0.512, "lateness_seconds.p95": 0.02}
DOUBTFUL = (
    "node-ws: delivery p95 512 ms at 700 clients, limit 500 ms: invalid, the generator itself was 20 ms late at p95"
)


def test_a_limit_that_is_broken_by_the_generators_own_lateness_is_invalid(thresholds: Thresholds) -> None:
    record = make_record([measured("node-ws", LATE, at=700), make_trial("fastapi")])
    verdict = judge(record, thresholds)
    assert (verdict.outcome, of(verdict, "node-ws"), of(verdict, "fastapi")) == ("invalid", "invalid", "pass")
    assert verdict.reasons == [DOUBTFUL]
    [row] = [limit for limit in verdict.limits if limit.outcome == "invalid"]
    assert (row.value, row.detail) == (0.512, "the generator itself was 20 ms late at p95")
    assert verdict.exit_code(allow_inconclusive=True) == 3
    shown = render_terminal(record, verdict, width=200)
    assert "Verdict: INVALID" in shown
    assert "the generator itself was 20 ms late at p95" in shown


def test_a_limit_that_is_broken_without_the_generators_lateness_as_well_fails(thresholds: Thresholds) -> None:
    slow = {"delivery_seconds.p95": 0.521, "lateness_seconds.p95": 0.02}
    trials = [measured("node-ws", LATE, at=700), measured("node-ws", slow, round_=2)]
    verdict = judge(make_record(trials), thresholds)
    assert verdict.outcome == "fail"
    assert verdict.reasons == ["node-ws: delivery p95 521 ms at 1,000 clients in round 2, limit 500 ms"]
    assert [limit.outcome for limit in verdict.limits].count("invalid") == 1


def test_only_the_equal_percentile_of_the_lateness_is_part_of_a_latency(thresholds: Thresholds, tmp_path: Path) -> None:
    later = {"delivery_seconds.p95": 0.512, "lateness_seconds.p95": 0.001, "lateness_seconds.p99": 0.02}
    assert judge(make_record([measured("node-ws", later)]), thresholds).outcome == "fail"
    unknown = {"delivery_seconds.p95": 0.512, "lateness_seconds.p95": None}
    assert judge(make_record([measured("node-ws", unknown)]), thresholds).outcome == "fail"
    connect = LIMITS.replace("delivery_seconds.p95", "connect_seconds.p95")
    slow = {"connect_seconds.p95": 0.512, "lateness_seconds.p95": 0.02}
    verdict = judge(make_record([measured("node-ws", slow)]), make_thresholds(tmp_path, connect))
    assert verdict.outcome == "fail", "nobody sends when a client connects"


def test_with_several_rounds_the_worst_valid_trial_is_judged(thresholds: Thresholds) -> None:
    trials = [make_trial("node-ws", 1), measured("node-ws", LOSS, round_=2), make_trial("node-ws", 3)]
    verdict = judge(make_record(trials), thresholds)
    assert verdict.reasons == ["node-ws: loss 2.10 % at 1,000 clients in round 2, limit 1 %"]


def test_an_invalid_trial_is_never_judged(thresholds: Thresholds) -> None:
    trials = [make_trial("node-ws", 1), invalid(measured("node-ws", LOSS, round_=2))]
    verdict = judge(make_record(trials), thresholds)
    assert verdict.outcome == "pass"
    assert verdict.notes == ["node-ws: 1 of 2 trials are valid, only those are judged"]


def test_a_server_without_a_valid_trial_is_invalid(thresholds: Thresholds) -> None:
    verdict = judge(make_record([invalid(make_trial("node-ws")), make_trial("fastapi")]), thresholds)
    assert (verdict.outcome, verdict.exit_code()) == ("invalid", 3)
    assert verdict.reasons == [
        "node-ws: no trial is valid: the generator used 92 % of its CPU, above 80 % (generator_cpu)"
    ]
    assert verdict.exit_code(allow_inconclusive=True) == 3


def test_a_failure_of_the_server_fails_the_run(thresholds: Thresholds) -> None:
    verdict = judge(
        make_record([failed("node-ws", message="exit code 1\nafter 2 s"), make_trial("fastapi")]), thresholds
    )
    assert verdict.outcome == "fail"
    assert verdict.reasons == ["node-ws: failed in round 1: start: exit code 1 after 2 s"]


def test_a_failure_that_is_no_fault_of_the_server_is_invalid(thresholds: Thresholds) -> None:
    assert judge(make_record([invalid(failed("node-ws"))]), thresholds).outcome == "invalid"


def test_a_limit_on_what_was_not_measured_is_never_a_pass(thresholds: Thresholds) -> None:
    verdict = judge(make_record([measured("node-ws", {"loss_ratio": None}, at=300)]), thresholds)
    assert (verdict.outcome, verdict.exit_code()) == ("inconclusive", 3)
    assert verdict.exit_code(allow_inconclusive=True) == 0
    assert verdict.reasons == ["node-ws: loss has a limit but was not measured at 300 clients"]


def test_one_round_that_was_not_measured_leaves_a_limit_unknown(thresholds: Thresholds) -> None:
    trials = [make_trial("node-ws", 1), measured("node-ws", {"loss_ratio": None}, round_=2)]
    assert judge(make_record(trials), thresholds).outcome == "inconclusive"


def test_a_breach_outweighs_a_round_that_was_not_measured(thresholds: Thresholds) -> None:
    trials = [measured("node-ws", LOSS), measured("node-ws", {"loss_ratio": None}, round_=2)]
    assert judge(make_record(trials), thresholds).outcome == "fail"


def test_a_stage_that_a_trial_did_not_reach_is_unknown(thresholds: Thresholds) -> None:
    whole = make_trial("node-ws")
    verdict = judge(make_record([whole.model_copy(update={"stages": whole.stages[:2]})]), thresholds)
    assert verdict.outcome == "inconclusive"
    assert "node-ws: loss has a limit but was not measured at 700, 1,000 clients" in verdict.reasons


DIED = Failure(step="load", message="the server ended under load with exit code 7")


def test_a_server_that_ended_under_load_fails_and_its_stages_are_shown(thresholds: Thresholds) -> None:
    whole = make_trial("node-ws")
    died = whole.model_copy(update={"stages": whole.stages[:2], "failure": DIED})
    record = make_record([died, make_trial("fastapi")])
    verdict = judge(record, thresholds)
    assert (verdict.outcome, of(verdict, "node-ws")) == ("fail", "fail")
    assert verdict.reasons == [
        "node-ws: failed in round 1: load: the server ended under load with exit code 7",
    ]
    own = [limit.outcome for limit in verdict.limits if limit.server == "node-ws"]
    assert own == ["pass"] * 4 + ["unknown"] * 4
    assert "failed to load: the server ended under load" in conclusion(died)
    for stage in range(4):
        assert "FAILED" in render_terminal(record, verdict, stages=[stage])
    assert [bool(stage["metrics"]) for stage in runfile.run(record, verdict)["servers"][1]["stages"]] == [
        True,
        True,
        False,
        False,
    ]
    kept = entry_of(record).servers["node-ws"]
    assert (kept.failed_trials, [name for name, values in kept.stages.items() if values]) == (1, ["100", "300"])


def test_a_server_that_ended_under_load_fails_even_where_the_machine_was_disturbed(thresholds: Thresholds) -> None:
    died = make_trial("node-ws").model_copy(update={"failure": DIED})
    verdict = judge(make_record([invalid(died)]), thresholds)
    assert (verdict.outcome, verdict.limits) == ("fail", [])


def test_a_planned_trial_that_is_missing_is_named(thresholds: Thresholds) -> None:
    record = make_record([make_trial("node-ws")], planned=[make_trial("node-ws", 2), make_trial("fastapi")])
    verdict = judge(record, thresholds)
    assert verdict.outcome == "inconclusive"
    assert verdict.reasons == [
        "fastapi: the trial of round 1 was planned and is not in the record",
        "node-ws: the trial of round 2 was planned and is not in the record",
    ]


def test_a_run_without_any_trial_is_invalid(thresholds: Thresholds) -> None:
    verdict = judge(make_record([], planned=[make_trial("node-ws")]), thresholds)
    assert verdict.outcome == "invalid"
    assert verdict.reasons[0] == "the run has no trial"


def test_without_limits_nothing_passes() -> None:
    verdict = judge(make_record([make_trial("node-ws")]), NO_THRESHOLDS)
    assert verdict.outcome == "inconclusive"
    assert verdict.reasons == ["node-ws: thresholds.yml has no limit for it in whiteboard"]


def test_a_skipped_server_is_named_and_changes_nothing(thresholds: Thresholds) -> None:
    skipped = [Skipped(server="spring-stomp", reason="needs java >=21")]
    verdict = judge(make_record([make_trial("node-ws")], skipped=skipped), thresholds)
    assert verdict.outcome == "pass"
    assert verdict.notes == ["spring-stomp: skipped: needs java >=21"]


def test_other_thresholds_than_those_of_the_run_are_noted(thresholds: Thresholds) -> None:
    record = make_record([make_trial("node-ws")], thresholds_digest="0" * 64)
    assert judge(record, thresholds).notes == ["thresholds.yml is not the one of the run: judged by what it says now"]


def test_the_base_arm_is_not_asked_for_limits(thresholds: Thresholds) -> None:
    base = measured("node-ws", LOSS).model_copy(update={"arm": "base"})
    assert judge(make_record([make_trial("node-ws"), base]), thresholds).outcome == "pass"


class TestServersOwnLimit:
    OWN = LIMITS + "servers:\n  fastapi:\n    whiteboard:\n      limits:\n        {limit}\n"

    def test_is_used_instead_of_the_suite_s_and_its_reason_is_kept(self, tmp_path: Path) -> None:
        text = self.OWN.replace("{limit}", "loss_ratio: {max: 20%, reason: one event loop}")
        verdict = judge(make_record([measured("fastapi", LOSS)]), make_thresholds(tmp_path, text))
        assert verdict.outcome == "pass"
        assert {limit.reason for limit in verdict.limits if limit.metric == "loss_ratio"} == {"one event loop"}

    def test_holds_in_the_stages_that_it_names(self, tmp_path: Path) -> None:
        limit = "loss_ratio: {max: 20%, stages: [700, classroom-1000], reason: one event loop}"
        thresholds = make_thresholds(tmp_path, self.OWN.replace("{limit}", limit))
        lossy = in_classroom("fastapi", LOSS)
        assert judge(make_record([lossy], schedule=CLASSROOM_SCHEDULE), thresholds).outcome == "pass"
        verdict = judge(make_record([measured("fastapi", LOSS)]), thresholds)
        assert verdict.reasons == ["fastapi: loss 2.10 % at 1,000 clients, limit 1 %"]

    def test_once_expired_is_named_and_never_green_and_the_suite_s_holds_again(self, tmp_path: Path) -> None:
        text = self.OWN.replace("{limit}", "loss_ratio: {max: 20%, reason: known, until: 2026-11-20}")
        thresholds = make_thresholds(tmp_path, text)
        note = "fastapi: its own limit for loss_ratio expired on 2026-11-20: renew or remove it (thresholds.yml:11)"
        broken = judge(make_record([measured("fastapi", LOSS)]), thresholds)
        assert (broken.outcome, broken.notes) == ("fail", [note])
        kept = judge(make_record([make_trial("fastapi")]), thresholds)
        assert (kept.outcome, kept.reasons, kept.notes) == ("inconclusive", [note], [])

    def test_once_expired_with_nothing_in_its_place_leaves_the_run_inconclusive(self, tmp_path: Path) -> None:
        text = self.OWN.replace("{limit}", "memory_bytes.peak: {max: 1MB, reason: known, until: 2026-11-20}")
        verdict = judge(make_record([make_trial("fastapi")]), make_thresholds(tmp_path, text))
        assert verdict.outcome == "inconclusive"
        assert verdict.reasons == [
            "fastapi: its own limit for memory_bytes.peak expired on 2026-11-20: renew or remove it (thresholds.yml:11)"
        ]


def eventful() -> list[Trial]:
    """Every outcome at once."""
    return [
        measured("a", LOSS, round_=1),
        measured("a", {"loss_ratio": 0.05}, round_=2),
        invalid(make_trial("b", 1)),
        invalid(make_trial("b", 2), "stolen"),
        measured("c", {"loss_ratio": None}, round_=1),
        make_trial("c", 2),
        failed("d", 1),
        make_trial("d", 2),
        make_trial("e", 1),
        make_trial("e", 2),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_trials_does_not_matter(thresholds: Thresholds, seed: int) -> None:
    record = make_record(eventful())
    shuffled = random.Random(seed).sample(record.trials, len(record.trials))
    assert judge(record.model_copy(update={"trials": shuffled}), thresholds) == judge(record, thresholds)


@pytest.mark.parametrize("seed", range(20))
def test_the_names_of_servers_do_not_matter(thresholds: Thresholds, seed: int) -> None:
    names = dict(zip("abcde", random.Random(seed).sample(["v1", "v2", "v3", "v4", "v5"], 5), strict=True))
    record = make_record(eventful())
    renamed = Record.model_validate_json(rename(record.model_dump_json(by_alias=True), names))
    before, after = judge(record, thresholds), judge(renamed, thresholds)
    assert after.outcome == before.outcome
    assert {names[each.server]: each.outcome for each in before.servers} == {
        each.server: each.outcome for each in after.servers
    }
    told = [f"{names[reason[0]]}{reason[1:]}" for reason in before.reasons]
    assert sorted(after.reasons) == sorted(told)


def rename(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(f'"server":{json.dumps(old)}', f'"server":{json.dumps(new)}')
    return text


def test_a_profile_that_judges_no_times_fails_for_all_else(tmp_path: Path) -> None:
    limits = "loss_ratio: {max: 1%}, delivery_seconds.p95: {max: 1ms}, connect_late_ratio: {max: 0%}"
    thresholds = make_thresholds(tmp_path, f"version: 1\nsuites:\n  whiteboard:\n    limits: {{{limits}}}\n")
    slow = {"delivery_seconds.p95": 0.5, "connect_late_ratio": 0.1}
    records = [make_record([measured(server, values)]) for server, values in (("go", slow), ("bun", slow | LOSS))]
    assert [judge(record, thresholds).outcome for record in records] == ["fail", "fail"]
    late, lossy = (judge(record.model_copy(update={"judges_times": False}), thresholds) for record in records)
    assert (late.outcome, {limit.metric for limit in late.limits}) == ("pass", {"loss_ratio"})
    assert late.notes == ["profile quick is too short to judge times: limits and margins do not apply to them"]
    assert (lossy.outcome, lossy.reasons) == ("fail", ["bun: loss 2.10 % at 1,000 clients, limit 1 %"])
