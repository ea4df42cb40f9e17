"""Results of verifications for people: rules x servers, and what was wrong. No colour carries meaning of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pushbench.conformance.result import Conformance, RuleResult
from pushbench.foundation.text import last_lines, one_line

LOG_LINES = 8
OUTCOMES = {"passed": Text("pass", style="green"), "failed": Text("FAIL", style="bold red")}
NOT_A_RULE = Text("-", style="dim")
"""The rule belongs to another protocol."""


def rule_tables(found: Sequence[Conformance], width: int) -> Iterator[Table]:
    """As many tables, one below the other, as it takes for their servers to fit into a width."""
    names = list(dict.fromkeys(result.name for each in found for result in each.rules))
    longest = max(map(len, names), default=0)
    remaining = list(found)
    while remaining:
        columns, room = [remaining.pop(0)], width - longest
        room -= _cost(columns[0])
        while remaining and (room := room - _cost(remaining[0])) >= 0:
            columns.append(remaining.pop(0))
        yield _table(names, columns)


def failures(found: Conformance) -> Group:
    """Each broken rule: what it requires, what was expected and seen, and what the server said."""
    return Group(*(line for result in found.failures for line in _failure(found.server, result)))


def _cost(found: Conformance) -> int:
    return 2 + max(4, len(found.server))


def _table(names: Sequence[str], columns: Sequence[Conformance]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("rule", no_wrap=True)
    for each in columns:
        table.add_column(each.server, no_wrap=True)
    outcomes = [{result.name: OUTCOMES[result.outcome] for result in each.rules} for each in columns]
    for name in names:
        table.add_row(name, *(outcome.get(name, NOT_A_RULE) for outcome in outcomes))
    return table


def _failure(server: str, result: RuleResult) -> Iterator[Text]:
    yield Text(f"FAIL {server}: {result.name}", style="bold red")
    yield Text(f"  rule: {result.statement}")
    yield Text(f"  {one_line(result.detail, 1000)}")
    lines = last_lines(result.log_tail, LOG_LINES)
    yield from (Text(f"  log:  {line}", style="dim", no_wrap=True, overflow="fold") for line in lines)
