"""Readers see the functions that gained most, and the effect of chance: in terminal, Markdown and comment."""

from __future__ import annotations

from markdown_it import MarkdownIt

from pushbench.judging.verdict import judge
from pushbench.reporting.comment import Message, Part, comment
from pushbench.reporting.explained import LONGEST_TITLE, table
from pushbench.reporting.report import markdown, render_explanation, render_terminal
from pushbench.reporting.summary import summarize
from tests.comparisons import THRESHOLDS, arms, compared
from tests.explanations import explanation, function

GAINED = [function(f"f{number}", 10e-6, (20 - number) * 1e-6) for number in range(7)]
SCATTER = function("scatter", 10e-6, 10.5e-6)
EVIL = function("</td><script>alert(1)</script> [a](javascript:1) @team |", 1e-6, 9e-6, file="`#1`.js")


def test_five_functions_that_gained_are_shown_and_scatter_is_not() -> None:
    found = table(explanation("r", *GAINED, SCATTER))
    assert [line.title for line in found.lines] == [f"f{number} (src/board.js:7)" for number in range(5)]
    assert [cell.text for cell in found.lines[0].cells] == ["10 us", "20 us", "+10 us", "10 to 20 %"]
    assert found.lines[0].cells[2].spread == "chance 1"


def test_where_nothing_gained_more_than_chance_that_is_said_first() -> None:
    found = table(explanation("r", SCATTER))
    assert [line.title for line in found.lines] == ["scatter (src/board.js:7)"]
    assert found.legend[0] == "No function gained more than chance explains."


def test_a_long_name_keeps_its_file() -> None:
    long = function("x" * 300, 1e-6, 9e-6, file="src/main.js")
    [line] = table(explanation("r", long)).lines
    assert len(line.title) == LONGEST_TITLE
    assert line.title.endswith("(src/main.js:7)")


def test_code_of_others_names_the_caller_of_ours() -> None:
    [line] = table(explanation("r", function("parse", 1e-6, 9e-6, file="", caller="on (a.js)"))).lines
    assert line.title == "parse, called by on (a.js)"


def test_terminal_report_and_comment_have_it() -> None:
    record = compared(arms("node-ws", cpu=0.2))
    verdict = judge(record, THRESHOLDS)
    found = explanation(record.id, *GAINED)
    part = Part(record, summarize(record, verdict), explanations=[found])
    texts = [
        render_terminal(record, verdict, explanations=[found]),
        render_explanation(found),
        markdown(record, verdict, [found]),
        comment(Message("fail", [part])).partition("<details>")[0],
    ]
    for text in texts:
        assert "node-ws: where the CPU per delivery went" in text
        assert text.count("board.js:7") == 5


def test_names_of_functions_are_text_in_a_comment() -> None:
    record = compared(arms("node-ws", cpu=0.2))
    part = Part(record, summarize(record, judge(record, THRESHOLDS)), explanations=[explanation(record.id, EVIL)])
    text = comment(Message("fail", [part]))
    assert "@team" not in text
    shown = MarkdownIt().enable("table").render(text)
    assert "alert" in shown
    assert "<script" not in shown
    assert "<a " not in shown
