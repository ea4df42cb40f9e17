"""The cost of changes without a meaning: estimated from kept comparisons, with a list of the missing ones."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pushbench.calibration.bias import biases, of_newest_ways, proposed, read_biases
from pushbench.calibration.bias_campaign import BiasRequest, Wanted, count, missing, of_schedules, play
from pushbench.calibration.bias_table import lines, markdown
from pushbench.cli.conclusion import thresholds_of
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.foresight import rounds_of_noise
from pushbench.records.record import Record, Trial
from tests.comparisons import MARGINS, THRESHOLDS, arms, compared, with_compilers
from tests.factories import make_thresholds

BEGAN = datetime.fromisoformat("2026-11-25T10:00:00+00:00")
GO, NODE = Wanted("go", "comment"), Wanted("node-ws", "comment")


def comparison(wanted: Wanted, *, cpu: float = 0.0, rounds: int = 8, hours: float = 0.0, noise: float = 0.01) -> Record:
    created = (BEGAN + timedelta(hours=hours)).isoformat()
    record = compared(arms(wanted.server, rounds=rounds, cpu=cpu, noise=noise), injected=wanted.change)
    return record.model_copy(update={"created": created, "id": f"{wanted.server}-{wanted.change}-{hours:g}"})


def another_schedule(record: Record) -> Record:
    return record.model_copy(update={"schedule": record.schedule.model_copy(update={"warmup_seconds": 99.0})})


def test_the_bias_of_a_change_is_the_centre_of_all_its_rounds() -> None:
    records = [comparison(GO, cpu=0.02), comparison(GO, cpu=0.02, hours=2), comparison(Wanted("go", "unused"))]
    [server] = biases(records, THRESHOLDS).servers
    comment, unused = sorted(server.changes, key=lambda each: each.change)
    assert (comment.comparisons, comment.rounds, comment.worse) == (2, 16, 0)
    assert comment.low is not None and comment.high is not None
    assert comment.low < 0.02 < comment.high
    assert comment.estimate == pytest.approx(0.02, abs=0.01)
    assert abs(unused.estimate) < 0.01
    assert server.largest == comment.estimate
    assert biases(records, THRESHOLDS).sittings == 2


def test_noise_is_that_of_rounds_and_not_of_the_bias_of_comparisons() -> None:
    records = [comparison(GO, cpu=0.3, rounds=40), comparison(Wanted("go", "unused"), cpu=-0.2, rounds=40)]
    [server] = biases(records, THRESHOLDS).servers
    assert server.noise == pytest.approx(0.01 * 2**0.5, rel=0.25)


def test_of_each_server_only_comparisons_with_its_newest_schedule_count() -> None:
    before = [another_schedule(comparison(each, cpu=0.1)) for each in (GO, NODE)]
    go, node = biases([*before, comparison(GO, hours=3)], THRESHOLDS).servers
    assert (go.server, go.changes[0].comparisons) == ("go", 1)
    assert go.largest < 0.02
    assert (node.server, node.changes[0].comparisons) == ("node-ws", 1)
    assert node.largest > 0.08


def test_comparisons_with_the_cpu_of_compilers_count_no_more_once_it_is_known() -> None:
    """Compilers use half of the CPU, and a tenth more in the head: this is a bias until their CPU is left out."""
    known = comparison(GO, hours=1)
    known = known.model_copy(update={"trials": with_compilers(known.trials, 1.0, of_head=1.1)})
    before = known.model_copy(
        update={"created": BEGAN.isoformat(), "trials": [_unknown(each) for each in known.trials]}
    )
    [old] = biases([before], THRESHOLDS).servers
    assert old.largest > 0.04
    [server] = biases([before, known], THRESHOLDS).servers
    assert (server.changes[0].comparisons, server.largest < 0.01) == (1, True)
    assert of_newest_ways([before, known]) == [known]


def _unknown(trial: Trial) -> Trial:
    """The trial without a separate value for the CPU of compilers."""
    [stage] = trial.stages
    metrics = {**stage.metrics, "compilers_cpu_seconds_per_delivery": None}
    return trial.model_copy(update={"stages": [stage.model_copy(update={"metrics": metrics})]})


def test_a_comparison_with_another_schedule_is_missing() -> None:
    now, before = comparison(GO), another_schedule(comparison(NODE))
    assert count(of_schedules([now, before], {now.suite: now.schedule})) == {GO: 1}
    assert of_schedules([now], {}) == []


def test_comparisons_with_a_fault_or_of_one_build_say_nothing_of_bias() -> None:
    other = [comparison(Wanted("go", name)) for name in ("none", "burn=10%")]
    assert biases(other, THRESHOLDS).servers == []
    assert count(other) == {}


def test_the_proposed_margin_is_twice_the_bias_and_can_be_decided_in_ten_minutes() -> None:
    def margin(cpu: float, noise: float) -> float | None:
        [server] = biases([comparison(GO, cpu=cpu, noise=noise, rounds=30)], THRESHOLDS).servers
        line = proposed(server, MARGINS[0])
        if line is None:
            return None
        assert line.margin >= 2 * line.bias >= 2 * server.largest
        assert rounds_of_noise(line) <= 40
        return line.margin

    assert margin(0.0, 0.01) == 0.03
    assert margin(0.035, 0.01) == 0.08
    assert (margin(0.0, 0.05) or 0.0) > 0.05
    assert margin(0.15, 0.01) is None, "twice the bias is more than any margin"
    assert margin(0.0, 0.60) is None, "too noisy"


def test_the_lines_that_it_prints_are_lines_of_a_thresholds_file(tmp_path: Path) -> None:
    found = biases([comparison(GO, cpu=0.01, rounds=40)], THRESHOLDS)
    text = "\n".join(["version: 1", "servers:", *lines(found, THRESHOLDS)])
    read = make_thresholds(tmp_path, text.replace("  go:", "  node-ws:"))
    [own] = read.suite("whiteboard").own_regressions["node-ws"]
    assert (own.metric, own.margin) == ("cpu_seconds_per_delivery", 0.03)
    assert 0.005 < own.bias < 0.015
    assert "| go | a comment more | 1 | 40 | +" in markdown(found, THRESHOLDS)


def test_a_server_without_a_margin_is_named_in_a_comment() -> None:
    found = biases([comparison(GO, cpu=0.15, rounds=40)], THRESHOLDS)
    assert list(lines(found, THRESHOLDS)) == ["  # go: no margin up to 20 % suits its bias and noise"]
    assert markdown(found, THRESHOLDS).endswith(" | - |\n")


def test_a_page_without_comparisons_says_so() -> None:
    text = markdown(biases([], THRESHOLDS), THRESHOLDS)
    assert text.endswith("\n\nNothing was measured yet.\n")
    assert "|" not in text


def test_the_rarest_comparisons_come_first_and_those_that_are_there_are_not_made_again() -> None:
    assert missing([GO, NODE], {}, 2) == [GO, NODE, GO, NODE]
    assert missing([GO, NODE], {GO: 1}, 2) == [NODE, GO, NODE]
    assert missing([GO, NODE], {GO: 5}, 1) == [NODE]


def test_each_comparison_is_kept_as_soon_as_it_ended_and_the_next_campaign_goes_on() -> None:
    kept: list[Record] = []

    def interrupted(wanted: Wanted) -> Record:
        if kept:
            raise KeyboardInterrupt
        return comparison(wanted)

    with pytest.raises(KeyboardInterrupt):
        play(BiasRequest([GO, NODE]), kept, interrupted, kept.append, lambda _: None)
    assert count(kept) == {GO: 1}
    made: list[Wanted] = []
    notes: list[str] = []

    def compare(wanted: Wanted) -> Record:
        made.append(wanted)
        return comparison(wanted)

    left = play(BiasRequest([GO, NODE]), list(kept), compare, kept.append, notes.append)
    assert (left, made, count(kept)) == (0, [NODE], {GO: 1, NODE: 1})
    assert notes[0].startswith("1 of 1: node-ws, comment; about ")


def test_a_disturbed_comparison_is_not_kept_and_still_missing() -> None:
    kept: list[Record] = []
    left = play(BiasRequest([GO]), [], lambda each: comparison(each, rounds=3), kept.append, lambda _: None)
    assert (left, kept) == (1, [])


def test_a_server_that_cannot_be_built_leaves_the_others_to_be_measured() -> None:
    kept: list[Record] = []
    notes: list[str] = []

    def compare(wanted: Wanted) -> Record:
        if wanted == GO:
            raise UserError("no server of whiteboard can be built here")
        return comparison(wanted)

    assert play(BiasRequest([GO, NODE]), [], compare, kept.append, notes.append) == 1
    assert count(kept) == {NODE: 1}
    assert "go, comment: left out: no server of whiteboard can be built here" in notes


def test_it_ends_before_a_comparison_for_which_there_is_no_time() -> None:
    kept: list[Record] = []
    assert play(BiasRequest([GO, NODE], all_seconds=100.0), [], comparison, kept.append, lambda _: None) == 2
    assert kept == []


def test_the_margins_of_this_checkout_rest_on_published_figures() -> None:
    """A bias in thresholds.yml is at least the largest published one, and its margin at least twice the bias."""
    project = Project.at(Path(__file__).parents[3])
    published = {each.server: each for each in read_biases(project.root / "docs" / "calibration-bias.json").servers}
    for suite in thresholds_of(project).suites.values():
        for server, own in suite.own_regressions.items():
            for line in (each for each in own if each.bias or each.noise):
                assert line.metric == published[server].metric
                assert line.margin >= 2 * line.bias >= 2 * published[server].largest


def test_another_file_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"schema": 1}')
    with pytest.raises(UserError, match="no biases"):
        read_biases(tmp_path / "x.json")
    assert read_biases(tmp_path / "none.json").servers == []
