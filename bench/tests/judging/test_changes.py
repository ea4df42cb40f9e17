"""A verdict on two arms: every row with its numbers and word, and every reason for not being compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pushbench.judging.thresholds import Regression, SuiteThresholds, Thresholds
from pushbench.judging.verdict import Verdict, judge
from pushbench.metrics.definitions import Better
from pushbench.records.record import Failure, OneSided, Trial
from pushbench.reporting import report
from tests.comparisons import MARGINS, THRESHOLDS, arms, compared, with_compilers
from tests.factories import METRICS, invalid, make_record, make_stage, make_trial
from tests.reporting.shown_records import widest


def found(trials: list[Trial], **changed: Any) -> Verdict:
    return judge(compared(trials, **changed), THRESHOLDS)


def words(verdict: Verdict) -> dict[str, str]:
    return {change.metric: change.word for change in verdict.changes}


def test_a_server_that_became_slower_fails_with_effect_interval_and_margin() -> None:
    verdict = found(arms("node-ws", cpu=0.15))
    assert words(verdict) == {"cpu_seconds_per_delivery": "worse", "delivery_seconds.p95": "same", "loss_ratio": "same"}
    assert verdict.outcome == "fail"
    [reason] = verdict.reasons
    assert reason.startswith("node-ws: CPU per delivery worse at 500 clients: +1")
    assert reason.endswith("margin 5 %; 20 rounds")
    cpu = verdict.changes[0]
    assert cpu.low
    assert cpu.change
    assert cpu.high
    assert cpu.low < 0.15 < cpu.high
    assert cpu.head == pytest.approx(cpu.base * 1.15, rel=0.03) if cpu.base else False
    assert cpu.visible
    assert 0.05 < cpu.visible < 0.08


def test_a_server_with_a_margin_of_its_own_is_judged_by_it_and_the_row_says_its_bias() -> None:
    own = {"node-ws": (replace(MARGINS[0], margin=0.25, bias=0.01),)}
    suite = replace(THRESHOLDS.suite("whiteboard"), own_regressions=own)
    record = compared(arms("node-ws", cpu=0.35) + arms("go", cpu=0.15))
    verdict = judge(record, Thresholds("d", {"whiteboard": suite}))
    rows = {each.server: each for each in verdict.changes if each.metric == "cpu_seconds_per_delivery"}
    assert (rows["node-ws"].word, rows["go"].word) == ("worse", "worse")
    assert [rows["node-ws"].margin, rows["node-ws"].bias] == pytest.approx([0.25, 0.01])
    assert [rows["go"].margin, rows["go"].bias] == pytest.approx([0.05, 0.0])
    assert any(reason.endswith("margin 25 % (bias 1 %); 20 rounds") for reason in verdict.reasons)
    assert judge(compared(arms("node-ws", cpu=0.15)), Thresholds("d", {"whiteboard": suite})).outcome == "pass"


WITH_COMPILERS = Thresholds(
    "d",
    {
        "whiteboard": SuiteThresholds(
            regressions=(
                *MARGINS,
                Regression(METRICS["compilers_cpu_seconds_per_delivery"], 0.5, 1e-6, Better.LOWER),
            )
        )
    },
)


@pytest.mark.parametrize(("cpu", "word"), [(0.0, "same"), (0.15, "worse")])
def test_what_a_runtime_compiles_is_no_part_of_what_a_delivery_costs(cpu: float, word: str) -> None:
    """Compilers add 30 to 70 % of CPU, and a fifth less in the head: without them only `cpu` remains."""
    trials = with_compilers(arms("node-ws", cpu=cpu), 0.3, 0.5, 0.7, of_head=0.8)
    verdict = judge(compared(trials), WITH_COMPILERS)
    rows = {each.metric: each for each in verdict.changes}
    own = rows["cpu_seconds_per_delivery"]
    assert own.word == word
    assert own.base == pytest.approx(20e-6, rel=0.05)
    assert own.change == pytest.approx(cpu, abs=0.03)
    assert rows["compilers_cpu_seconds_per_delivery"].word == "same"
    [note] = [each for each in verdict.notes if "compilers" in each]
    said = "node-ws: CPU per delivery leaves out the runtime's compilers, which end when it is warm: 10"
    assert note.startswith(said)
    assert note.endswith(" µs in the head at 500 clients")


def test_a_head_that_has_more_to_compile_is_seen_in_a_row_of_its_own() -> None:
    verdict = judge(compared(with_compilers(arms("node-ws"), 0.3, 0.35, of_head=2.0)), WITH_COMPILERS)
    assert [change.metric for change in verdict.changes if change.word == "worse"] == [
        "compilers_cpu_seconds_per_delivery"
    ]


def test_a_server_without_compilers_has_no_row_and_no_note_of_them() -> None:
    verdict = judge(compared(arms("node-ws")), WITH_COMPILERS)
    assert "compilers_cpu_seconds_per_delivery" not in words(verdict)
    assert not [note for note in verdict.notes if "compilers" in note]


def test_a_round_in_which_a_server_ended_under_load_is_no_pair() -> None:
    trials = arms("node-ws")
    died = Failure(step="load", message="the server ended under load with exit code 7")
    trials[6] = trials[6].model_copy(update={"failure": died})
    verdict = found(trials)
    assert {change.pairs for change in verdict.changes} == {19}
    assert (trials[6].arm, verdict.outcome) == ("base", "pass")
    trials[7] = trials[7].model_copy(update={"failure": died})
    assert (trials[7].arm, found(trials).outcome) == ("head", "fail")


def late_arms(*, late: float, slower: float = 0.0) -> list[Trial]:
    """The head's generator sends `late` seconds later than the base's, and its server takes `slower` seconds longer."""
    random = np.random.default_rng(1)
    trials = []
    for round_ in range(1, 21):
        for arm in ("base", "head"):
            own, server = (0.0005 + late, 0.010 + slower) if arm == "head" else (0.0005, 0.010)
            delivery = own + server * float(np.exp(random.normal(0, 0.02)))
            metrics = {"delivery_seconds.p95": delivery, "lateness_seconds.p95": own, "loss_ratio": 0.0}
            trials.append(make_trial("node-ws", round_, arm=arm, results=[make_stage(500, metrics)]))
    return trials


def test_a_change_that_is_the_generators_own_lateness_is_invalid() -> None:
    verdict = found(late_arms(late=0.004))
    assert words(verdict)["delivery_seconds.p95"] == "invalid"
    assert (verdict.outcome, verdict.servers[0].outcome) == ("invalid", "invalid")
    detail = "the generator itself was 4.50 ms late at p95 (0.50 ms in the base), without which it would be same"
    assert verdict.changes[1].detail == detail
    [reason] = verdict.reasons
    assert reason.startswith("node-ws: delivery p95 invalid at 500 clients: +3")
    assert reason.endswith(detail)
    shown = report.render_terminal(compared(late_arms(late=0.004)), verdict, width=160)
    assert "INVALID" in shown
    assert "invalid: the change may be the generator's own lateness" in shown


def test_a_change_for_the_better_by_lateness_is_invalid_as_well() -> None:
    swapped = [
        each.model_copy(update={"arm": "base" if each.arm == "head" else "head"}) for each in late_arms(late=0.004)
    ]
    assert words(found(swapped))["delivery_seconds.p95"] == "invalid"


def test_a_change_beyond_the_generators_lateness_is_the_servers() -> None:
    verdict = found(late_arms(late=0.004, slower=0.004))
    assert words(verdict)["delivery_seconds.p95"] == "worse"
    assert verdict.outcome == "fail"
    assert verdict.changes[1].detail is None


def test_a_regression_of_something_else_outweighs_what_is_invalid() -> None:
    trials = late_arms(late=0.004)
    for index, trial in enumerate(trials):
        if trial.arm == "head":
            stage = trial.stages[0]
            metrics = {**stage.metrics, "loss_ratio": 0.01}
            trials[index] = trial.model_copy(update={"stages": [stage.model_copy(update={"metrics": metrics})]})
    verdict = found(trials)
    assert (words(verdict)["delivery_seconds.p95"], verdict.outcome) == ("invalid", "fail")


def test_a_server_that_became_faster_passes_and_is_told() -> None:
    verdict = found(arms("node-ws", cpu=-0.15))
    assert "better" in words(verdict).values()
    assert any(note.startswith("node-ws: CPU per delivery better at 500 clients: -1") for note in verdict.notes)


def test_what_noise_hides_is_inconclusive_and_says_how_many_rounds_would_decide() -> None:
    verdict = found(arms("node-ws", noise=0.06))
    assert verdict.changes[0].word == "unknown"
    [reason] = [reason for reason in verdict.reasons if "CPU" in reason]
    assert reason.startswith("node-ws: CPU per delivery undecided at 500 clients: ")
    assert "after 20 rounds; about " in reason
    assert verdict.outcome == "inconclusive"
    assert verdict.exit_code() == 3
    assert verdict.exit_code(allow_inconclusive=True) == 0


def test_loss_is_told_in_points_where_the_base_lost_nothing() -> None:
    verdict = found(arms("node-ws", loss=0.005))
    assert verdict.changes[2].scale == "difference"
    [reason] = verdict.reasons
    assert reason.startswith("node-ws: loss worse at 500 clients: +0.50 % (95 % interval +0.49 to +0.51 %), margin ")


def test_a_round_with_an_invalid_trial_does_not_count() -> None:
    trials = arms("node-ws", cpu=0.15)
    trials[0] = invalid(trials[0], stage=0)
    assert {change.pairs for change in found(trials).changes} == {19}


def test_without_a_valid_pair_a_server_is_invalid() -> None:
    trials = [invalid(trial, stage=0) if trial.arm == "base" else trial for trial in arms("node-ws")]
    verdict = found(trials)
    assert verdict.outcome == "invalid"
    assert verdict.reasons == ["node-ws: no round has a valid trial in both arms"]
    all_invalid = found([invalid(trial, stage=0) for trial in arms("node-ws")])
    assert all_invalid.outcome == "invalid"
    assert all_invalid.reasons == [
        "node-ws: no trial is valid: the generator used 92 % of its CPU, above 80 % (generator_cpu)"
    ]


def test_the_worst_server_decides_and_each_is_told_apart() -> None:
    verdict = found([*arms("node-ws"), *arms("fastapi", cpu=0.2)], identical=["bun"])
    assert {server.server: server.outcome for server in verdict.servers} == {
        "bun": "pass",
        "fastapi": "fail",
        "node-ws": "pass",
    }


def test_a_server_of_one_arm_is_named_and_not_passed() -> None:
    skipped = OneSided(server="go", reason="the base does not have it: there is nothing to compare with")
    verdict = found([], identical=["bun"], one_sided=[skipped])
    assert verdict.outcome == "inconclusive"
    assert verdict.reasons == [f"go: not compared: {skipped.reason}"]


def test_a_head_that_breaks_what_works_at_the_base_fails_without_a_trial() -> None:
    head = OneSided(server="go", reason="the changed server does not work: verify: R07: no", failed="head")
    verdict = found([], one_sided=[head])
    assert verdict.outcome == "fail"
    assert verdict.reasons == ["go: not compared: the changed server does not work: verify: R07: no"]
    base = OneSided(server="go", reason="the server of the base does not work: verify: R07: no", failed="base")
    assert found([*arms("node-ws")], one_sided=[head, base]).outcome == "inconclusive"
    assert found([*arms("node-ws")], one_sided=[base]).outcome == "inconclusive"


def test_the_order_of_trials_in_the_record_changes_nothing() -> None:
    trials = arms("node-ws", cpu=0.15)
    assert found(trials[::-1]).changes == found(trials).changes


def test_nobody_is_compared_in_a_run_of_one_arm() -> None:
    assert judge(make_record([make_trial("node-ws")]), THRESHOLDS).changes == []


@pytest.mark.parametrize("width", [80, 160])
def test_the_table_of_changes_fits_and_says_what_counts(width: int) -> None:
    record = compared(arms("node-ws", cpu=0.15))
    text = report.render_terminal(record, judge(record, THRESHOLDS), width=width)
    assert widest(text) <= width
    assert "against base 0123456: Measure twice" in text
    [line] = [line for line in text.splitlines() if line.startswith("  CPU per delivery")]
    assert line.endswith("WORSE")
    again = "./pushbench compare --base 0123456789ab --head 770fdf8a1b2c --suite whiteboard"
    assert again in " ".join(text.split())
    markdown = report.markdown(record, judge(record, THRESHOLDS))
    assert "## Changes against base 0123456: Measure twice" in markdown
