"""The text for a pull request fits on a screen and into a comment, and its content is inert."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from pushbench.judging.thresholds import Thresholds
from pushbench.judging.verdict import judge
from pushbench.records.record import Record
from pushbench.reporting.comment import MARK, MOST_BYTES, Intended, Link, Message, Part, comment
from pushbench.reporting.markdown import inline
from pushbench.reporting.summary import summarize
from tests.comparisons import BASE, THRESHOLDS, arms, compared
from tests.factories import make_record, make_thresholds, make_trial, measured
from tests.reporting.shown_records import CONTROL, bad, hostile


def said(*records: Record, thresholds: Thresholds = THRESHOLDS, sentences: Sequence[str] = ()) -> str:
    parts = [Part(record, summarize(record, judge(record, thresholds))) for record in records]
    links = [Link("Run", "https://example.org/runs/1")]
    return comment(Message(parts[0].summary.verdict.outcome, parts, sentences, links))


HOSTILE = "<script>alert(1)</script> [x](javascript:1) @team #1 <!-- | ` :: --> </details>"


def first_screen(text: str) -> str:
    return text.partition("<details>")[0]


def test_what_got_worse_is_on_the_first_screen_and_nothing_that_stayed() -> None:
    text = first_screen(said(compared(arms("node-ws", rounds=20, cpu=0.10))))
    assert text.startswith(f"{MARK}\n### Pushbench: FAIL\n")
    assert "CPU per delivery" in text
    assert "| WORSE |" in text
    assert "| same |" not in text
    assert "[Run](https://example.org/runs/1)" in text
    assert len(text.splitlines()) < 40


def test_where_nothing_changed_that_is_said_with_the_number_of_comparisons() -> None:
    text = first_screen(said(compared(arms("node-ws", rounds=20))))
    assert "### Pushbench: pass" in text
    assert "comparisons are the same within what is allowed" in text
    assert "|" not in text


def test_what_was_not_decided_is_said_with_the_reason() -> None:
    text = first_screen(said(compared(arms("node-ws", rounds=2))))
    assert "### Pushbench: INCONCLUSIVE" in text
    assert "undecided" in text


def test_all_rows_limits_environment_and_the_command_are_folded() -> None:
    text = said(compared(arms("node-ws", rounds=20, cpu=0.10)))
    for title in ("Reproduce", "All changes against base", "Environment and versions"):
        assert f"<summary>{title}" in text
    assert "./pushbench compare --base" in text
    assert text.count("<details>") == text.count("</details>") >= 4


@pytest.mark.parametrize("record", [bad, hostile])
def test_a_comment_is_text_whatever_the_pull_request_says(record: object, tmp_path: Path) -> None:
    assert callable(record)
    run = record()
    text = said(run, thresholds=make_thresholds(tmp_path), sentences=[HOSTILE])
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert CONTROL.search(text) is None
    assert "<script" not in html
    assert html.count("<a ") == 1, "ours, to the run"
    assert html.count("<!--") == 1
    assert html.count("<details>") == html.count("</details>") == text.count("\n<details>\n")
    outside = re.sub(r"(?s)<pre>.*?</pre>", "", html)
    assert "@team" not in outside
    assert "#1" not in outside


def test_what_can_be_unfolded_has_titles_without_markup_of_others() -> None:
    """Inside HTML a backslash escapes nothing: `\\<img ...\\>` would be an image."""
    base = BASE.model_copy(
        update={"subject": "a_b <img src=//evil.example> <a href='//evil.example'> @team </details>"}
    )
    text = said(compared(arms("node-ws"), base=base), make_record([make_trial("fastapi")]))
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert "against base 0123456: a_b &lt;img src=//evil.example&gt;" in html
    assert "<img" not in html
    assert html.count("<a ") == 1, "ours, to the run"
    assert "@team" not in html
    assert html.count("</details>") == text.count("\n</details>\n")


@pytest.mark.slow
def test_a_comment_of_very_many_servers_keeps_to_what_fits(tmp_path: Path) -> None:
    trials = [measured(f"server-{number:03d}-{'ü' * 60}", {"loss_ratio": 0.5}) for number in range(300)]
    run = make_record(trials)
    text = said(run, thresholds=make_thresholds(tmp_path, servers=[trial.server for trial in trials]))
    assert len(text.encode()) <= MOST_BYTES
    assert "more, in the report" in text
    assert "Too long for a comment, and in the report:" in text


def test_a_run_that_measured_nothing_still_has_its_sentence(tmp_path: Path) -> None:
    run = make_record([], planned=[make_trial("node-ws")])
    text = said(run, thresholds=make_thresholds(tmp_path))
    assert "### Pushbench: INVALID" in text


def test_several_steps_have_a_heading_each_and_one_line_says_what_it_amounts_to(tmp_path: Path) -> None:
    compared_one = compared(arms("node-ws", rounds=20, cpu=0.10))
    text = said(compared_one, make_record([make_trial("fastapi")]), sentences=["go: it is new"])
    screen = first_screen(text)
    assert screen.startswith(f"{MARK}\n### Pushbench: FAIL\n\n- go: it is new\n")
    assert [line for line in screen.splitlines() if line.startswith("#### ")] == [
        "#### whiteboard, profile quick, against the base. Failed: node-ws.",
        "#### whiteboard, profile quick, by the limits. Not decided: fastapi.",
    ]
    assert text.count("<summary>Environment and versions") == 2


@pytest.mark.slow
def test_a_first_screen_that_is_too_long_ends_with_a_sentence() -> None:
    record = compared(arms(f"server-{'x' * 4000}", rounds=20, cpu=0.10))
    text = said(*[record] * 6)
    assert len(text.encode()) <= MOST_BYTES
    assert "the rest is in the report" in text


LINES = Intended("thresholds.yml", ["servers:", "  node-ws: {}"], "They go to its end.")


def test_a_reader_is_told_what_to_do_and_what_to_copy() -> None:
    record = compared(arms("node-ws", rounds=20, cpu=0.10))
    part = Part(record, summarize(record, judge(record, THRESHOLDS)), intended=[LINES])
    message = Message(
        "inconclusive",
        [part],
        ["A fork's code is read first. Nothing is wrong."],
        headline="waiting for a maintainer",
        advice=["Read the commit, then start it."],
        commands=["gh workflow run bench.yml -f pull_request=7"],
    )
    screen = first_screen(comment(message))
    assert screen.startswith(f"{MARK}\n### Pushbench: waiting for a maintainer\n")
    assert "**What to do now**\n\n- Read the commit, then start it.\n" in screen
    assert "```sh\ngh workflow run bench.yml -f pull_request=7\n```" in screen
    assert "```yaml\nservers:\n  node-ws: {}\n```" in screen


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("run `make a_b` now", "run `make a_b` now"),
        ("a_b `c` d_e", "a\\_b `c` d\\_e"),
        ("an odd ` one", "an odd \\` one"),
        ("`a` and ` @team", "`a` and \\` @&#8203;team"),
        ("``x``", "\\`\\`x\\`\\`"),
        ("`` <b>", "\\`\\` \\<b\\>"),
    ],
)
def test_between_two_backticks_is_code_and_all_else_is_text(text: str, shown: str) -> None:
    assert inline(text) == shown
    assert "<b>" not in MarkdownIt("commonmark").render(inline(text))


def test_what_an_author_wrote_cannot_end_a_block_that_is_to_be_copied() -> None:
    hostile = "```\n@team <script>"
    screen = first_screen(comment(Message("fail", (), commands=[hostile], advice=[HOSTILE], headline=HOSTILE)))
    html = MarkdownIt("commonmark").render(screen)
    assert "<script" not in html
    assert "@team" not in re.sub(r"(?s)<pre>.*?</pre>", "", html)


def test_the_words_of_a_table_of_changes_are_explained_beside_it() -> None:
    screen = first_screen(said(compared(arms("node-ws", rounds=20, cpu=0.10))))
    assert (
        "A change counts when it is larger than allowed (its margin) and the rounds leave no doubt that there is one."
        in screen
    )
    for jargon in ("visible", " arm", "| head |"):
        assert jargon not in screen
