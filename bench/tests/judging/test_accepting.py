"""A regression that a pull request accepts in thresholds.yml: which lines count, for which rows and values."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import pytest

from pushbench.foundation.errors import UserError
from pushbench.judging.accepting import LARGEST_FILE, MOST_LINES, accepts_only, new_lines, newly_accepted, parse, state
from pushbench.judging.thresholds import Regression, SuiteThresholds, Thresholds
from pushbench.judging.verdict import Verdict, judge
from pushbench.metrics.definitions import Better
from pushbench.records.record import Accepting, OneSided, Record
from pushbench.reporting import report
from pushbench.reporting.again import command
from pushbench.reporting.comment import Message, Part, comment
from pushbench.reporting.summary import summarize
from pushbench.site import runfile
from tests.comparisons import THRESHOLDS, arms, compared
from tests.factories import METRICS, make_stage, make_trial
from tests.judging.accepted_lines import CPU, DAY, KNOWN, TEXT, accepting, line


def judged(record: Record, *lines: Accepting) -> Verdict:
    assert record.comparison
    comparison = record.comparison.model_copy(update={"accepting": list(lines)})
    return judge(record.model_copy(update={"comparison": comparison}), THRESHOLDS)


def accept(bound: str = "change: 20%", **changed: Any) -> Accepting:
    [found] = new_lines(accepting(line(bound)), TEXT, "whiteboard", KNOWN)
    return found.model_copy(update=changed)


def slower(**changed: Any) -> Record:
    return compared(arms("node-ws", cpu=0.15), **changed)


def word(verdict: Verdict, metric: str = CPU) -> str:
    return next(change.word for change in verdict.changes if change.metric == metric)


def test_what_got_worse_by_no_more_than_is_accepted_fails_nothing_and_says_why() -> None:
    verdict = judged(slower(), accept())
    assert (word(verdict), verdict.outcome, verdict.reasons) == ("accepted", "pass", [])
    [note] = verdict.notes
    assert note.startswith("node-ws: CPU per delivery accepted at 500 clients: +1")
    assert note.endswith("margin 5 %; up to 20 % until 2027-01-31: checks every field (thresholds.yml:10)")
    assert Verdict.model_validate(json.loads(verdict.model_dump_json(by_alias=True))) == verdict


def test_what_got_worse_by_more_stays_worse_and_says_by_how_much() -> None:
    verdict = judged(slower(), accept("change: 12%"))
    assert (word(verdict), verdict.outcome) == ("worse", "fail")
    [reason] = verdict.reasons
    assert "margin 5 %; accepted up to 12 %, found 1" in reason
    assert verdict.notes == []


def test_a_level_bounds_the_head_s_value() -> None:
    assert word(judged(slower(), accept("level: 25us"))) == "accepted"
    verdict = judged(slower(), accept("level: 21us"))
    assert word(verdict) == "worse"
    assert "; accepted up to 21 µs, found 2" in verdict.reasons[0]


def test_a_loss_where_there_was_none_needs_a_level() -> None:
    lossy = compared(arms("node-ws", loss=0.005))
    loss = {"metric": "loss_ratio"}
    assert word(judged(lossy, accept(change=None, level=0.006, **loss)), "loss_ratio") == "accepted"
    verdict = judged(lossy, accept("change: 90%", **loss))
    assert verdict.reasons[0].count("found a change from nothing, which only a level can accept") == 1


def test_a_rate_that_falls_is_accepted_down_to_a_share() -> None:
    trials = [
        make_trial(
            "node-ws",
            round_,
            arm=arm,
            results=[make_stage(500, {"throughput_per_second": rate * (1 + round_ % 5 / 500)})],
        )
        for round_ in range(1, 21)
        for arm, rate in (("base", 5000.0), ("head", 4500.0))
    ]
    margin = Regression(METRICS["throughput_per_second"], 0.03, 0.0, Better.HIGHER)
    thresholds = Thresholds("d", {"whiteboard": SuiteThresholds(regressions=(margin,))})

    def outcome(**bound: Any) -> str:
        comparison = compared(trials, accepting=[accept(metric="throughput_per_second", **bound)])
        return judge(comparison, thresholds).changes[0].word

    assert outcome(change=0.11) == "accepted"
    assert outcome(change=0.09) == "worse"
    assert outcome(change=None, level=4400.0) == "accepted"
    assert outcome(change=None, level=4600.0) == "worse"


@pytest.mark.parametrize(
    "other", [{"server": "fastapi"}, {"metric": "loss_ratio"}, {"stages": ["1000"]}], ids=["server", "metric", "stage"]
)
def test_a_line_is_about_its_own_rows_only(other: dict[str, Any]) -> None:
    verdict = judged(slower(), accept(**other))
    assert (word(verdict), verdict.outcome) == ("worse", "fail")


def test_a_comment_shows_what_was_accepted_and_why_and_no_annotation_does() -> None:
    verdict = judged(slower(), accept(reason="faster <b>logins</b>"))
    text = comment(Message(verdict.outcome, [Part(slower(), summarize(slower(), verdict))]))
    first = text.partition("<details>")[0]
    assert "### Pushbench: pass" in first
    assert "| accepted |" in first
    assert "until 2027-01-31: faster \\<b\\>logins" in first
    assert [server.reasons for server in verdict.servers] == [[]], "annotations are made of reasons"


def test_the_site_and_the_terminal_show_the_word_and_the_reason() -> None:
    verdict = judged(slower(), accept())
    [shown, *_] = runfile.run(slower(), verdict)["verdict"]["changes"]
    assert (shown["word"], shown["acceptance"]["reason"]) == ("accepted", "checks every field")
    text = report.render_verdict(slower(), verdict)
    assert "accepted: worse, by no more than thresholds.yml accepts" in text
    assert "2027-01-31: checks every field" in " ".join(text.split())


def test_the_command_that_repeats_it_accepts_the_same() -> None:
    with_line = compared(arms("node-ws", cpu=0.15), accepting=[accept()])
    assert " --accept" in command(with_line)
    assert " --accept" not in command(compared(arms("node-ws"), accepting=[accept(confirmed=False)]))


def test_a_line_for_this_stage_accepts() -> None:
    assert word(judged(slower(), accept(stages=["500"]))) == "accepted"


def test_an_acceptance_of_what_did_not_get_worse_is_named_and_fails_nothing() -> None:
    same = compared(arms("node-ws", cpu=0.0))
    verdict = judged(same, accept())
    assert verdict.outcome == "pass"
    assert verdict.notes == [
        "thresholds.yml:10 accepts CPU per delivery of node-ws, which did not get worse: remove the line"
    ]
    assert judged(compared([], identical=["node-ws"]), accept()).notes[0] == (
        "thresholds.yml:10 accepts CPU per delivery of node-ws, which was not compared: remove the line"
    )


def test_nothing_is_said_to_be_needless_while_it_is_not_decided_or_cannot_be_compared() -> None:
    unknown = judged(compared(arms("node-ws", noise=0.15)), accept())
    assert (word(unknown), unknown.outcome) == ("unknown", "inconclusive")
    broken = OneSided(server="node-ws", reason="the changed server does not work: build: no", failed="head")
    failed = judged(compared([], one_sided=[broken]), accept())
    assert failed.outcome == "fail"
    assert not [note for verdict in (unknown, failed) for note in verdict.notes if "remove the line" in note]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"until": DAY - timedelta(days=1)}, "until 2026-11-20, which is over: it has no effect"),
        ({"until": DAY + timedelta(days=91)}, "which is more than 90 days after the run: it has no effect"),
        ({"confirmed": False}, "it has no effect until a maintainer confirms it with `/pushbench accept head=770fdf8a"),
    ],
)
def test_a_line_without_effect_is_named_with_the_reason(changed: dict[str, Any], said: str) -> None:
    verdict = judged(slower(), accept(**changed))
    assert (word(verdict), verdict.outcome) == ("worse", "fail")
    [note] = verdict.notes
    assert note.startswith("thresholds.yml:10 accepts CPU per delivery of node-ws")
    assert said in note


@pytest.mark.parametrize("until", [DAY, DAY + timedelta(days=90)])
def test_the_first_and_the_last_day_count(until: date) -> None:
    assert state(accept(until=until), DAY) == "holds"


def test_a_record_from_before_there_were_acceptances_is_judged_as_it_was() -> None:
    document = json.loads(slower().model_dump_json(by_alias=True))
    del document["comparison"]["accepting"]
    old = Record.model_validate(document)
    verdict = judge(old, THRESHOLDS)
    assert (word(verdict), verdict.outcome) == ("worse", "fail")
    judgement = json.loads(verdict.model_dump_json(by_alias=True))
    for change in judgement["changes"]:
        del change["acceptance"]
    assert Verdict.model_validate(judgement) == verdict


def test_only_lines_that_the_base_does_not_have_count() -> None:
    old, new = line(), line("change: 5%", "loss_ratio")
    assert [each.metric for each in new_lines(accepting(old, new), accepting(old), "whiteboard", KNOWN)] == [
        "loss_ratio"
    ]
    assert new_lines(accepting(old), accepting(f"# why\n        {old}"), "whiteboard", KNOWN) == []
    assert len(new_lines(accepting(old), None, "whiteboard", KNOWN)) == 1
    assert len(new_lines(accepting(line("change: 21%")), accepting(old), "whiteboard", KNOWN)) == 1
    assert new_lines(accepting(old), TEXT, "posts", KNOWN) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (accepting(line(metric="cpu")), "unknown metric"),
        (accepting(line(), server="go"), "unknown server 'go'"),
        (accepting(line(), suite="posts"), "node-ws has the suite 'whiteboard'"),
        (accepting(line(rest="stages: [7], ")), "unknown stage of whiteboard '7'"),
        (accepting(line("change: 20%, level: 3us")), "expected one of level, change and since"),
        (accepting(line("since: 2026-11-20")), "expected until beside level or change, and not beside since"),
        (accepting(line("change: 0%")), "expected a change between 0 % and 10000%"),
        (accepting(line("change: -5%")), "cannot be below 0"),
        (accepting(line("change: 100%", "throughput_per_second")), "expected a change between 0 % and 100%"),
        (accepting(line().replace("checks every field", '"..."')), "expected a reason in words"),
        (accepting(line().replace("checks every field", "x" * 501)), "at most 500 characters"),
        (accepting(line(until="soon")), "expected a date"),
        (accepting(line()) + "more: &a [1]\nagain: *a\n", "has an anchor or an alias"),
        (accepting(line()) + f"more: {'[' * 9000}\n", "more than 20 levels of nesting"),
        (accepting(line()) + "# " + "x" * LARGEST_FILE, "larger than 65,536 bytes"),
        (accepting(line()) + "more: \x00\n", "not valid YAML"),
        (accepting(line()) + "more: \udcff\n", "not valid YAML"),
        (accepting(*(line(metric=f"m{number}") for number in range(MOST_LINES + 1))), "101 new lines"),
        ("servers: [", "not valid YAML"),
    ],
)
def test_a_line_that_could_not_be_meant_is_refused(text: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        new_lines(text, TEXT, "whiteboard", KNOWN)
    assert "thresholds.yml" in str(error.value)
    assert said in str(error.value)


def test_nothing_else_of_a_stranger_s_file_is_even_read() -> None:
    text = accepting(line()).replace("loss_ratio: {max: 1%}", "loss_ratio: {max: nonsense}")
    assert len(new_lines(text, TEXT, "whiteboard", KNOWN)) == 1
    assert new_lines("- a list\n", TEXT, "whiteboard", KNOWN) == []


@pytest.mark.parametrize(
    ("before", "after", "only"),
    [
        (TEXT, accepting(line()), True),
        (accepting(line()), TEXT, True),
        (accepting(line()), accepting(line("change: 5%")), True),
        (TEXT, "# about the file\n" + TEXT, True),
        (TEXT, accepting(line()).replace("1%", "2%"), False),
        (TEXT, TEXT.replace("max: 1%", "max: 0.9%"), False),
        (
            TEXT,
            TEXT + "servers:\n  node-ws:\n    whiteboard:\n      limits: {loss_ratio: {max: 2%, reason: x}}\n",
            False,
        ),
        ("", accepting(line()), False),
        (TEXT, "servers: [", False),
        ("servers: [", TEXT, False),
    ],
)
def test_a_change_that_only_accepts_is_told_from_one_of_what_counts(before: str, after: str, *, only: bool) -> None:
    assert accepts_only(before, after) is only


def test_the_servers_of_new_lines_are_told() -> None:
    assert newly_accepted(TEXT, accepting(line())) == {"node-ws"}
    assert newly_accepted(accepting(line()), accepting(line())) == set()
    assert newly_accepted(TEXT, "servers: [") == set()
    assert parse(TEXT).data["version"] == 1
