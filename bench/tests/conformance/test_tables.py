"""The output of a verification on a terminal of 80 columns, and without colour."""

from __future__ import annotations

import io
from typing import Literal

from rich.console import Console, RenderableType

from pushbench.conformance import Conformance, RuleResult, rules_for
from pushbench.conformance.tables import failures, not_asked, overview

BASELINE = {
    "fastapi": "whiteboard-json",
    "node-ws": "whiteboard-json",
    "spring-stomp": "whiteboard-stomp",
    "spring-websocket": "whiteboard-json",
}


def found(server: str, protocol: str, broken: str = "") -> Conformance:
    results = [
        RuleResult(
            name=each.name,
            statement=each.statement,
            outcome="failed" if each.name == broken else "passed",
            detail="expected 1001; saw \x1b[2J1012" if each.name == broken else "",
            log_tail="one\ntwo \x1b[31mred" if each.name == broken else "",
            seconds=0.1,
        )
        for each in rules_for("whiteboard", protocol)
    ]
    return Conformance(server=server, suite="whiteboard", protocol=protocol, digest="0", rules=results)


def shown(*renderables: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=80, no_color=True, highlight=False)
    for each in renderables:
        console.print(each)
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def test_the_four_baseline_servers_fit_into_one_table_of_80_columns() -> None:
    text = shown(overview([found(*each) for each in BASELINE.items()], width=80))
    header, _, first, *_ = text.splitlines()
    assert header.split() == ["rule", *BASELINE]
    assert first.split() == ["healthz-names-the-versions", "pass", "pass", "pass", "pass"]
    assert all(name in text for name in (rule.name for rule in rules_for("whiteboard", "whiteboard-stomp")))


def test_more_servers_take_one_row_each() -> None:
    many = [found(f"server-number-{n}", "whiteboard-json") for n in range(6)]
    many.append(found("server-number-6", "whiteboard-stomp", "sigterm-closes-with-1001"))
    header, _, *rows = shown(overview(many, width=80)).splitlines()
    assert header.split() == ["server", "suite", "rules", "kept"]
    all_of, stomp = (len(rules_for("whiteboard", protocol)) for protocol in ("whiteboard-json", "whiteboard-stomp"))
    assert rows[0].split() == ["server-number-0", "whiteboard", str(all_of), "of", str(all_of)]
    assert rows[6].split() == ["server-number-6", "whiteboard", str(stomp - 1), "of", str(stomp)]
    assert len(rows) == 7


def test_a_rule_of_another_protocol_and_a_broken_rule_are_marked_with_words() -> None:
    both = [found("a", "whiteboard-json", "sigterm-closes-with-1001"), found("b", "whiteboard-stomp")]
    rows = {row[0]: row[1:] for row in map(str.split, shown(overview(both, width=80)).splitlines()) if row}
    assert rows["sigterm-closes-with-1001"] == ["FAIL", "pass"]
    assert rows["binary-frame-is-an-error"] == ["pass", "-"]
    assert rows["broken-frame-is-harmless"] == ["-", "pass"]


def test_a_broken_rule_is_told_with_its_statement_and_the_log_and_no_terminal_controls() -> None:
    assert shown(failures(found("a", "whiteboard-json", "sigterm-closes-with-1001"))).splitlines() == [
        "FAIL a: sigterm-closes-with-1001",
        "  rule: On SIGTERM every client is closed with 1001.",
        "  expected 1001; saw 1012",
        "  log:  one",
        "  log:  two red",
    ]


def test_rules_that_were_not_asked_are_named_with_the_reason() -> None:
    def result(name: str, outcome: Literal["passed", "failed", "not-asked"], detail: str = "") -> RuleResult:
        return RuleResult(name=name, statement="So.", outcome=outcome, detail=detail, seconds=0)

    def chat(*results: RuleResult) -> Conformance:
        return Conformance(server="chat", suite="s", protocol="protocol.yml", digest="0", rules=list(results))

    some = chat(result("a", "passed"), *(result(name, "not-asked", "no `leave`") for name in "bc"))
    assert some.passed
    rows = dict(line.split(maxsplit=1) for line in shown(overview([some], width=80)).splitlines()[2:] if line)
    assert {name: each.strip() for name, each in rows.items()} == {"a": "pass", "b": "not asked", "c": "not asked"}
    assert shown(not_asked(some)) == "not asked chat: b, c: no `leave`\n"
    assert shown(failures(some)) == ""
    assert "1 of 1, 2 not asked" in shown(overview([some], width=8))
    assert not chat(result("a", "failed"), result("b", "not-asked")).passed
