"""Why a server takes more CPU than its base: the functions with the largest gains, as a table. Pure."""

from __future__ import annotations

from pushbench.metrics.units import format_number
from pushbench.profiling.explanation import SHOWN, ExplainedFunction, Explanation
from pushbench.reporting.table import Cell, Line, Table

LONGEST_TITLE = 60
"""characters of a function with its file; a longer title loses its middle"""


def heading(found: Explanation) -> str:
    """`node-ws: where the CPU per delivery went`."""
    return f"{found.server}: where the CPU per {found.unit} went"


def table(found: Explanation) -> Table:
    """The functions that gained more than chance explains; without any, those with the largest gains."""
    functions = (found.gained or found.functions)[:SHOWN]
    return Table(
        headings=["base", "head", "change", "share"],
        lines=[_line(each) for each in functions],
        legend=_legend(found),
    )


def _line(each: ExplainedFunction) -> Line:
    sign = "-" if each.change_per_work < 0 else "+"
    change = f"{sign}{format_number(abs(each.change_per_work) * 1e6)} us"
    cells = [
        Cell(f"{format_number(each.base.seconds_per_work * 1e6)} us"),
        Cell(f"{format_number(each.head.seconds_per_work * 1e6)} us"),
        Cell(change, f"chance {format_number(each.chance_per_work * 1e6)}"),
        Cell(f"{format_number(100 * each.base.share)} to {format_number(100 * each.head.share)} %"),
    ]
    caller = f", called by {each.caller}" if each.caller else ""
    return Line(_shortened(each.title + caller), "", cells)


def _legend(found: Explanation) -> list[str]:
    samples = f"{found.base.samples:,} and {found.head.samples:,} samples"
    said = [
        f"CPU of the function itself per {found.unit}, by {found.profiler}: {samples}. "
        "A change up to `chance` is scatter of the sampling."
    ]
    if not found.gained:
        said.insert(0, "No function gained more than chance explains.")
    return said


def _shortened(title: str) -> str:
    if len(title) <= LONGEST_TITLE:
        return title
    end = LONGEST_TITLE // 2 - 1
    return f"{title[: LONGEST_TITLE - end - 3]}...{title[-end:]}"
