"""The lines that a comment proposes can be inserted unchanged, and still apply when the commits are measured again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from pushbench.foundation.errors import UserError
from pushbench.judging.accepting import Known, new_lines
from pushbench.judging.proposing import PLACEHOLDER, Addition, propose
from pushbench.judging.thresholds import Regression, SuiteThresholds, Thresholds
from pushbench.judging.verdict import Verdict, judge
from pushbench.metrics.definitions import Better
from pushbench.records.record import Record, Trial
from tests.comparisons import THRESHOLDS, arms, compared
from tests.factories import LIMITS, METRICS, known_suite, make_record, make_stage, make_thresholds, make_trial, measured

WITHOUT_SERVERS = "# What is judged otherwise than the suites' own files say.\nversion: 1\n"
KNOWN = Known({"whiteboard": known_suite("500", "1000")}, {"node-ws": "whiteboard", "fastapi": "whiteboard"})
REASON = '"it checks every field"'
WITH_SERVERS = """\
version: 1
servers:
  fastapi:
    whiteboard:
      limits:
        loss_ratio: {max: 20%, stages: [700], reason: one event loop, until: 2027-06-30} # a note
  # what follows is of node-ws
  node-ws:
    whiteboard:
      limits:
        disconnects: {max: 3, reason: slow}
      accepted:
        # older ones
        loss_ratio: {level: 3%, reason: known, until: 2026-12-01}
"""


def put(text: str, additions: Sequence[Addition]) -> str:
    """The text after a person has followed the instructions for each addition."""
    lines = text.splitlines(keepends=True)
    for each in reversed(additions):
        assert each.after is not None
        lines[each.after : each.after + each.replaces] = [each.text.replace(PLACEHOLDER, REASON)]
    return "".join(lines)


def proposed(record: Record, verdict: Verdict, text: str) -> str:
    return put(text, propose(record, verdict, text))


def accepted(record: Record, after: str, before: str, thresholds: Thresholds = THRESHOLDS) -> Verdict:
    """The verdict on the record if the file had this content."""
    assert record.comparison
    lines = new_lines(after, before, "whiteboard", KNOWN)
    comparison = record.comparison.model_copy(update={"accepting": lines})
    return judge(record.model_copy(update={"comparison": comparison}), thresholds)


def again(server: str, cpu: float, seed: int, *, day: float = 0.0) -> list[Trial]:
    """Another measurement of the same commits, on a day with a ratio that differs by `day`."""
    random = np.random.default_rng(seed)
    trials = []
    for round_ in range(1, 21):
        for arm, factor in (("base", 1.0), ("head", (1 + cpu) * (1 + day))):
            value = 20e-6 * factor * float(np.exp(random.normal(0, 0.03)))
            trials.append(
                make_trial(server, round_, arm=arm, results=[make_stage(500, {"cpu_seconds_per_delivery": value})])
            )
    return trials


@pytest.mark.slow
@pytest.mark.parametrize("text", [WITHOUT_SERVERS, WITH_SERVERS, "version: 1\nservers:\n"])
def test_what_is_proposed_can_be_put_into_the_file_and_accepts_the_same_record(tmp_path: Path, text: str) -> None:
    record = compared([*arms("node-ws", cpu=0.15, loss=0.02), *arms("fastapi", cpu=0.2)])
    verdict = judge(record, THRESHOLDS)
    assert verdict.outcome == "fail"
    after = proposed(record, verdict, text)
    make_thresholds(tmp_path, after)
    found = accepted(record, after, text)
    assert (found.outcome, found.reasons) == ("pass", [])
    assert [change.word for change in found.changes].count("accepted") == 3


def test_it_goes_to_the_end_of_a_file_without_servers_and_says_everything() -> None:
    record = compared(arms("node-ws", cpu=0.15))
    [addition] = propose(record, judge(record, THRESHOLDS), WITHOUT_SERVERS)
    assert addition.where == "at the end of thresholds.yml"
    assert addition.after == len(WITHOUT_SERVERS.splitlines())
    assert addition.text == (
        "servers:\n"
        "  node-ws:\n"
        "    whiteboard:\n"
        "      accepted:\n"
        '        cpu_seconds_per_delivery: {change: 23%, reason: "...", until: 2027-02-19}\n'
    )


def test_it_goes_below_the_server_that_is_there_and_takes_the_place_of_an_older_line() -> None:
    record = compared([*arms("node-ws", cpu=0.15, loss=0.02), *arms("fastapi", cpu=0.2)])
    verdict = judge(record, THRESHOLDS)
    below, above, instead = propose(record, verdict, WITH_SERVERS)
    assert below.where == "below `servers: fastapi: whiteboard:`, line 4 of thresholds.yml"
    assert below.text.startswith("      accepted:\n        cpu_seconds_per_delivery: {change: ")
    assert above.where.startswith("below `servers: node-ws: whiteboard: accepted:`")
    assert above.text.startswith("        cpu_seconds_per_delivery: {change: ")
    assert (instead.where, instead.replaces) == ("instead of line 14 of thresholds.yml", 1)
    assert instead.text.startswith("        loss_ratio: {level: ")


@pytest.mark.parametrize("text", [None, "servers: [", "- a list\n", "{version: 1}\n"])
def test_without_a_file_that_can_be_read_it_begins_with_the_servers(text: str | None) -> None:
    record = compared(arms("node-ws", cpu=0.15))
    [addition] = propose(record, judge(record, THRESHOLDS), text)
    assert (addition.after, addition.where) == (None, "to thresholds.yml")
    assert addition.text.startswith("servers:\n  node-ws:\n")


def test_what_is_on_one_line_is_left_to_a_person() -> None:
    record = compared(arms("node-ws", cpu=0.15))
    text = "version: 1\nservers:\n  node-ws: {whiteboard: {limits: {disconnects: {max: 3, reason: slow}}}}\n"
    [addition] = propose(record, judge(record, THRESHOLDS), text)
    assert (addition.after, addition.where) == (None, "into what thresholds.yml has in line 3")
    assert addition.text.startswith("servers:\n  node-ws:\n    whiteboard:\n      accepted:\n")


def test_the_reason_has_to_be_filled_in() -> None:
    record = compared(arms("node-ws", cpu=0.15))
    [addition] = propose(record, judge(record, THRESHOLDS), WITHOUT_SERVERS)
    with pytest.raises(UserError, match=r"reason: expected a reason in words, found the string '\.\.\.'"):
        new_lines(WITHOUT_SERVERS + addition.text, WITHOUT_SERVERS, "whiteboard", KNOWN)


def test_nothing_is_proposed_for_what_is_not_worse() -> None:
    for record in (compared(arms("node-ws")), compared(arms("node-ws", noise=0.15))):
        assert propose(record, judge(record, THRESHOLDS), WITHOUT_SERVERS) == []


def test_what_was_accepted_is_not_proposed_again() -> None:
    record = compared(arms("node-ws", cpu=0.15))
    after = proposed(record, judge(record, THRESHOLDS), WITHOUT_SERVERS)
    assert propose(record, accepted(record, after, WITHOUT_SERVERS), after) == []


@pytest.mark.slow
def test_the_bound_holds_when_the_same_commits_are_measured_again() -> None:
    first = compared(again("node-ws", 0.12, seed=1))
    after = proposed(first, judge(first, THRESHOLDS), WITHOUT_SERVERS)
    for seed in range(2, 22):
        for day in (-0.01, 0.01):
            repeated = accepted(compared(again("node-ws", 0.12, seed, day=day)), after, WITHOUT_SERVERS)
            assert "worse" not in {change.word for change in repeated.changes}, (seed, day)
    assert accepted(compared(again("node-ws", 0.25, seed=1)), after, WITHOUT_SERVERS).outcome == "fail", (
        "another regression"
    )


def test_a_rate_that_fell_is_proposed_as_a_share_and_almost_all_of_it_as_a_level() -> None:
    margins = SuiteThresholds(regressions=(Regression(METRICS["throughput_per_second"], 0.03, 0.0, Better.HIGHER),))
    thresholds = Thresholds("d", {"whiteboard": margins})

    def fallen(to: float) -> tuple[Record, str]:
        trials = [
            make_trial("node-ws", round_, arm=arm, results=[make_stage(500, {"throughput_per_second": rate + round_})])
            for round_ in range(1, 21)
            for arm, rate in (("base", 5000.0), ("head", to))
        ]
        record = compared(trials)
        return record, proposed(record, judge(record, thresholds), WITHOUT_SERVERS)

    for to, line in ((4500.0, "{change: 13%,"), (10.0, "{level: ")):
        record, after = fallen(to)
        assert f"throughput_per_second: {line}" in after
        assert accepted(record, after, WITHOUT_SERVERS, thresholds).changes[0].word == "accepted"


def test_a_broken_limit_gets_an_exception_for_the_server(tmp_path: Path) -> None:
    record = make_record([measured("node-ws", {"loss_ratio": 0.021, "disconnects": 3.0}, at=700)])
    before = LIMITS.replace("limits:", "limits:\n      disconnects: {max: 0}")
    verdict = judge(record, make_thresholds(tmp_path, before))
    assert verdict.outcome == "fail"
    after = proposed(record, verdict, before)
    assert 'loss_ratio: {max: 2.6%, stages: [700], reason: "it checks every field", until: 2027-02-19}' in after
    assert judge(record, make_thresholds(tmp_path, after)).outcome == "pass"


def test_an_exception_that_is_there_keeps_its_stages_and_its_looser_bound(tmp_path: Path) -> None:
    before = WITH_SERVERS.replace(
        "servers:", "suites:\n  whiteboard:\n    limits: {loss_ratio: {max: 1%}}\nservers:", 1
    )
    record = make_record([measured("fastapi", {"loss_ratio": 0.05}, at=1000)])
    after = proposed(record, judge(record, make_thresholds(tmp_path, before)), before)
    assert "loss_ratio: {max: 20%, stages: [700, 1000], reason:" in after
    assert judge(record, make_thresholds(tmp_path, after)).outcome == "pass"


def test_a_rate_below_its_limit_gets_one_that_it_keeps(tmp_path: Path) -> None:
    before = "version: 1\nsuites:\n  whiteboard:\n    limits:\n      throughput_per_second: {min: 900/s}\n"
    record = make_record([measured("node-ws", {"throughput_per_second": 500.0})])
    after = proposed(record, judge(record, make_thresholds(tmp_path, before)), before)
    assert "throughput_per_second: {min: 400/s, stages: [1000], reason:" in after
    assert judge(record, make_thresholds(tmp_path, after)).outcome == "pass"


def test_it_holds_for_as_long_as_a_line_may() -> None:
    record = compared(arms("node-ws", cpu=0.15))
    [line] = new_lines(
        proposed(record, judge(record, THRESHOLDS), WITHOUT_SERVERS), WITHOUT_SERVERS, "whiteboard", KNOWN
    )
    assert line.until == date(2026, 11, 21) + timedelta(days=90)
