"""The words of a comparison: the evidence for each; names, order, units and sides have no influence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from pushbench.judging.comparison import Pair
from pushbench.judging.sequential import ENOUGH_ROUNDS, Decision, Gated, Word, decide, is_over, looks, rounds_until_over
from pushbench.judging.thresholds import Regression
from pushbench.metrics.definitions import Better
from tests.factories import METRICS

MOST = 20
CPU = Regression(METRICS["cpu_seconds_per_delivery"], margin=0.05, floor=0.0, better=Better.LOWER)
LOSS = Regression(METRICS["loss_ratio"], margin=0.10, floor=0.001, better=Better.LOWER)
THROUGHPUT = Regression(METRICS["throughput_per_second"], margin=0.03, floor=0.0, better=Better.HIGHER)


def gated(
    regression: Regression, effect: float = 0.0, *, noise: float = 0.02, seed: int = 1, level: float = 20e-6
) -> Gated:
    random = np.random.default_rng(seed)
    base, head = level * np.exp(random.normal(0, noise, (2, MOST)))
    return Gated([Pair(each + 1, base[each], head[each] * (1 + effect)) for each in range(MOST)], regression)


def constant(regression: Regression, base: float, head: float) -> Gated:
    return Gated([Pair(each + 1, base, head) for each in range(MOST)], regression)


def only(row: Gated, rounds: int = MOST) -> Decision:
    return decide({"cpu": row}, rounds=rounds)["cpu"]


@pytest.mark.parametrize(
    ("effect", "word"), [(0.15, "worse"), (-0.15, "better"), (0.0, "same"), (0.02, "same"), (0.05, "unknown")]
)
def test_a_change_beyond_the_margin_one_inside_it_and_one_at_it(effect: float, word: Word) -> None:
    assert only(gated(CPU, effect)).word == word


def test_a_doubled_cost_is_called_after_few_rounds_and_a_tenth_soon_after() -> None:
    def rounds(effect: float) -> float:
        found = [rounds_until_over({"cpu": gated(CPU, effect, seed=seed)}, MOST) for seed in range(25)]
        return float(np.median(found))

    assert rounds(1.0) <= 6
    assert rounds(0.10) <= 12
    assert rounds(1.0) < rounds(0.10)


def test_a_change_that_only_the_first_rounds_show_is_not_called() -> None:
    slow, usual = gated(CPU, 0.15), gated(CPU)
    assert only(Gated([*slow.pairs[:3], *usual.pairs[3:]], CPU)).word == "same"


def test_a_word_that_later_rounds_contradict_does_not_stand() -> None:
    usual, slow = gated(CPU), gated(CPU, 0.5)
    row = Gated([*usual.pairs[:9], *slow.pairs[9:]], CPU)
    assert only(row, rounds=9).word == "same"
    assert only(row).word == "unknown"


def test_more_rows_of_a_run_need_more_evidence() -> None:
    row = gated(CPU, 0.15, noise=0.03)
    alone = rounds_until_over({"cpu": row}, MOST)
    assert alone < rounds_until_over({"cpu": row}, MOST, among=5000)
    found = decide({"cpu": row}, rounds=alone, among=5000)["cpu"]
    assert (found.word, found.suspected) == ("unknown", "worse")


def test_it_ends_when_all_is_decided_or_it_is_worse_after_enough_rounds() -> None:
    assert is_over(["same", "better", "worse"], 4)
    assert not is_over(["same", "unknown"], 100)
    assert not is_over(["better", "unknown"], 100)
    assert not is_over(["worse", "unknown"], ENOUGH_ROUNDS - 1)
    assert is_over(["worse", "unknown"], ENOUGH_ROUNDS)
    wild = gated(CPU, noise=0.5)
    assert rounds_until_over({"cpu": gated(CPU, 1.0), "tail": wild}, MOST) == ENOUGH_ROUNDS
    assert rounds_until_over({"cpu": gated(CPU), "tail": wild}, MOST) == MOST


def test_pairs_count_and_not_rounds() -> None:
    """Rounds with invalid trials do not count."""
    row = gated(CPU, 0.5, noise=0.001)
    assert only(Gated(row.pairs[9:12], CPU)) == Decision()
    assert only(Gated(row.pairs[9:13], CPU)).word == "worse"


def test_too_few_rounds_say_nothing() -> None:
    assert only(gated(CPU, 0.5), rounds=3) == Decision()
    assert only(gated(CPU, 0.0, noise=1e-6), rounds=3) == Decision()


@pytest.mark.slow
def test_noise_that_hides_the_margin_is_unknown_and_not_the_same() -> None:
    words = {only(gated(CPU, noise=0.3, seed=seed)).word for seed in range(20)}
    assert words == {"unknown"}


def test_loss_of_nothing_is_the_same_and_a_small_loss_counts_from_the_floor_on() -> None:
    assert only(constant(LOSS, 0.0, 0.0)).word == "same"
    assert only(constant(LOSS, 0.0, 0.0005)).word == "same"
    assert only(constant(LOSS, 0.0, 0.005)).word == "worse"
    assert only(constant(LOSS, 0.005, 0.0)).word == "better"


def test_a_floor_keeps_small_absolute_changes_out() -> None:
    latency = Regression(METRICS["delivery_seconds.p95"], margin=0.15, floor=1e-3, better=Better.LOWER)
    assert only(gated(latency, 0.3, level=2e-3)).word == "same"
    assert only(gated(latency, 0.3, level=20e-3)).word == "worse"


def test_more_is_better_where_the_metric_says_so() -> None:
    assert only(gated(THROUGHPUT, -0.10, level=1e4)).word == "worse"
    assert only(gated(THROUGHPUT, 0.10, level=1e4)).word == "better"


def test_there_is_a_look_after_each_round_and_later_after_every_second() -> None:
    assert looks(8) == [4, 5, 6, 7, 8]
    assert looks(21)[-4:] == [15, 16, 18, 20]
    assert looks(3) == looks(0) == []
    assert decide({"cpu": gated(CPU)}, rounds=0) == {"cpu": Decision()}


def rows(seed: int) -> dict[str, Gated]:
    random = np.random.default_rng(seed)
    return {
        "cpu": gated(CPU, random.choice([0, 0.03, 0.08, 0.2, -0.1]), noise=0.04, seed=seed),
        "throughput": gated(THROUGHPUT, random.choice([0, -0.05]), noise=0.01, seed=seed + 1, level=1e4),
        "loss": constant(LOSS, 0.0, random.choice([0.0, 0.002])),
    }


def words(of: Mapping[str, Gated]) -> dict[str, Word]:
    return {row: decision.word for row, decision in decide(of, rounds=MOST).items()}


@pytest.mark.parametrize("seed", range(25))
def test_names_order_and_units_change_no_word_and_sides_swap_better_and_worse(seed: int) -> None:
    usual = rows(seed)
    expected = words(usual)
    assert words({name: Gated(row.pairs[::-1], row.regression) for name, row in usual.items()}) == expected
    renamed = words({f"z-{name}"[::-1]: row for name, row in reversed(usual.items())})
    assert {name[::-1].removeprefix("z-"): word for name, word in renamed.items()} == expected
    assert words({name: scaled(row, 1000.0) for name, row in usual.items()}) == expected
    swapped: dict[Word, Word] = {"better": "worse", "worse": "better", "same": "same", "unknown": "unknown"}
    mirrored = {
        name: Gated([Pair(p.round, p.head, p.base) for p in row.pairs], row.regression) for name, row in usual.items()
    }
    assert words(mirrored) == {name: swapped[word] for name, word in expected.items()}


def scaled(row: Gated, factor: float) -> Gated:
    """The row in a smaller unit: `factor` new units are one old unit. The floor is in the new unit, too."""
    old = row.regression
    regression = Regression(old.of, old.margin, old.floor * factor, old.better)
    return Gated([Pair(p.round, p.base * factor, p.head * factor) for p in row.pairs], regression)


def test_the_control_takes_the_machine_out_of_both_arms() -> None:
    random = np.random.default_rng(3)
    machine = random.normal(0, 0.2, (2, MOST))
    own = random.normal(0, 0.01, (2, MOST))
    values, controls = np.exp(machine + own), np.exp(machine)
    blind = [Pair(each + 1, values[0, each], values[1, each] * 1.1) for each in range(MOST)]
    seeing = [
        Pair(each + 1, values[0, each], values[1, each] * 1.1, controls[0, each], controls[1, each])
        for each in range(MOST)
    ]
    assert only(Gated(blind, CPU)).word == "unknown"
    assert only(Gated(seeing, CPU)).word == "worse"


def test_a_control_that_the_head_changed_is_left_alone() -> None:
    pairs = [
        Pair(pair.round, pair.base, pair.head, 1.0 + 0.001 * pair.round, 1.2 + 0.003 * pair.round)
        for pair in gated(CPU, 0.15).pairs
    ]
    assert Gated(pairs, CPU).until(MOST).controlled == 0.0
    assert only(Gated(pairs, CPU)).word == "worse"


@pytest.mark.slow
def test_false_alarms_are_rare_and_a_tenth_is_found() -> None:
    """Simulated with the measured noise; `pushbench calibrate` publishes the results of real runs."""
    alarms = sum("worse" in words(three(seed, 0.0)).values() for seed in range(300))
    found = sum(words(three(seed, 0.10))["cpu"] == "worse" for seed in range(100))
    assert alarms <= 3
    assert found >= 90


def three(seed: int, effect: float) -> dict[str, Gated]:
    return {
        "cpu": gated(CPU, effect, noise=0.03, seed=3 * seed),
        "throughput": gated(THROUGHPUT, noise=0.001, seed=3 * seed + 1, level=1e4),
        "loss": constant(LOSS, 0.0, 0.0),
    }


def test_a_difference_within_the_bias_is_no_evidence() -> None:
    """4 % in every round: worse, unless a change without a meaning may cost almost as much."""
    random = np.random.default_rng(1)
    pairs = [Pair(number, 1.0, float(np.exp(random.normal(0.04, 0.004)))) for number in range(1, 13)]
    narrow = replace(CPU, margin=0.03)
    assert decide({0: Gated(pairs, narrow)}, rounds=12)[0].word == "worse"
    assert decide({0: Gated(pairs, replace(narrow, bias=0.039))}, rounds=12)[0].word == "unknown"
    larger = [replace(pair, head=pair.head * 1.05) for pair in pairs]
    assert decide({0: Gated(larger, replace(narrow, bias=0.03))}, rounds=12)[0].word == "worse"
