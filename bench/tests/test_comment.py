"""What a pull request is told fits on a screen and into a comment, and nothing that it says can do anything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from pushbench.comment import MARK, MOST_CHARACTERS, Link, comment
from pushbench.record import Record
from pushbench.summary import summarize
from pushbench.verdict import judge
from tests.factories import make_record, make_thresholds, make_trial, measured
from tests.test_changes import THRESHOLDS, arms, compared
from tests.test_report import CONTROL, bad, hostile


def said(record: Record) -> str:
    verdict = judge(record, THRESHOLDS)
    return comment(record, summarize(record, verdict), [Link("Run", "https://example.org/runs/1")])


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
    assert "comparisons are the same within their margins" in text
    assert "|" not in text


def test_what_was_not_decided_is_said_with_the_reason() -> None:
    text = first_screen(said(compared(arms("node-ws", rounds=2))))
    assert "### Pushbench: INCONCLUSIVE" in text
    assert "undecided" in text


def test_all_rows_limits_environment_and_the_command_are_folded() -> None:
    text = said(compared(arms("node-ws", rounds=20, cpu=0.10)))
    for title in ("Do it again", "All changes against base", "Environment and versions"):
        assert f"<summary>{title}" in text
    assert "./pushbench compare --base" in text
    assert text.count("<details>") == text.count("</details>") >= 4


@pytest.mark.parametrize("record", [bad, hostile])
def test_a_comment_is_text_whatever_the_pull_request_says(record: object, tmp_path: Path) -> None:
    assert callable(record)
    run = record()
    verdict = judge(run, make_thresholds(tmp_path))
    text = comment(run, summarize(run, verdict))
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert CONTROL.search(text) is None
    assert "<script" not in html
    assert "<a " not in html
    assert html.count("<!--") == 1
    assert html.count("<details>") == html.count("</details>") == text.count("\n<details>\n")
    outside = re.sub(r"(?s)<pre>.*?</pre>", "", html)
    assert "@team" not in outside
    assert "#1" not in outside


def test_a_comment_of_very_many_servers_keeps_to_what_fits(tmp_path: Path) -> None:
    trials = [measured(f"server-{number:03d}-{'x' * 60}", {"loss_ratio": 0.5}) for number in range(300)]
    run = make_record(trials)
    text = comment(run, summarize(run, judge(run, make_thresholds(tmp_path, servers=[t.server for t in trials]))))
    assert len(text) <= MOST_CHARACTERS
    assert "more, in the report" in text
    assert "Too long for a comment, and in the report:" in text


def test_a_run_that_measured_nothing_still_has_its_sentence(tmp_path: Path) -> None:
    run = make_record([], planned=[make_trial("node-ws")])
    text = comment(run, summarize(run, judge(run, make_thresholds(tmp_path))))
    assert "### Pushbench: INVALID" in text
