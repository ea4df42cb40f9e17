"""Results of verifications for readers: an overview, and the faults. Colour never carries meaning of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pushbench.conformance.result import Conformance, RuleResult
from pushbench.foundation.text import last_lines, one_line

LOG_LINES = 8
OUTCOMES = {
    "passed": Text("pass", style="green"),
    "failed": Text("FAIL", style="bold red"),
    "not-asked": Text("not asked", style="dim"),
}
NOT_A_RULE = Text("-", style="dim")
"""The rule belongs to another protocol."""


def overview(found: Sequence[Conformance], width: int) -> Table:
    """Rules x servers if all servers fit into `width` columns, otherwise one row per server."""
    names = list(dict.fromkeys(result.name for each in found for result in each.rules))
    needed = max(map(len, names), default=0) + sum(2 + max(_width(each), len(each.server)) for each in found)
    return _rules(names, found) if needed <= width else _servers(found)


def _width(found: Conformance) -> int:
    return max((len(OUTCOMES[result.outcome].plain) for result in found.rules), default=0)


def failures(found: Conformance) -> Group:
    """Each broken rule: its requirement, what was expected and seen, and the server's output."""
    return Group(*(line for result in found.failures for line in _failure(found.server, result)))


def not_asked(found: Conformance) -> Group:
    """The reasons why rules were not asked, each once with its rules."""
    reasons: dict[str, list[str]] = {}
    for result in found.rules:
        if result.outcome == "not-asked":
            reasons.setdefault(result.detail, []).append(result.name)
    return Group(
        *(Text(f"not asked {found.server}: {', '.join(names)}: {reason}") for reason, names in reasons.items())
    )


def _rules(names: Sequence[str], found: Sequence[Conformance]) -> Table:
    table = _table("rule", *(each.server for each in found))
    outcomes = [{result.name: OUTCOMES[result.outcome] for result in each.rules} for each in found]
    for name in names:
        table.add_row(name, *(outcome.get(name, NOT_A_RULE) for outcome in outcomes))
    return table


def _servers(found: Sequence[Conformance]) -> Table:
    table = _table("server", "suite", "rules kept")
    for each in found:
        table.add_row(
            each.server, each.suite, Text(f"{each.kept}{each.unasked}", style="green" if each.passed else "bold red")
        )
    return table


def _table(*titles: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for title in titles:
        table.add_column(title, no_wrap=True)
    return table


def _failure(server: str, result: RuleResult) -> Iterator[Text]:
    yield Text(f"FAIL {server}: {result.name}", style="bold red")
    yield Text(f"  rule: {result.statement}")
    yield Text(f"  {one_line(result.detail, 1000)}")
    lines = last_lines(result.log_tail, LOG_LINES)
    yield from (Text(f"  log:  {line}", style="dim", no_wrap=True, overflow="fold") for line in lines)
