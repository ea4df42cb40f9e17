"""The report on a terminal or as plain text in a file: columns as wide as needed, and further columns below."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from pushbench.foundation.text import one_line
from pushbench.judging.verdict import Outcome, Verdict
from pushbench.records.record import Record
from pushbench.reporting import again, notes, rankings
from pushbench.reporting.ranking import Ranking
from pushbench.reporting.table import Cell, Table, loud

GAP = 2  # spaces between columns
LONG_HEADING = 12  # characters; longer headings are the first to be split in two lines

_STYLES: dict[Outcome, str] = {"pass": "green", "fail": "bold red", "inconclusive": "yellow", "invalid": "bold yellow"}
_WORDS = {loud(outcome): style for outcome, style in _STYLES.items()} | {"FAILED": "bold red", "MISSING": "yellow"}


def text_console(width: int, *, color: bool) -> Console:
    """A console whose output `text_of` returns. Printed text is never interpreted as markup."""
    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
    )


def text_of(console: Console) -> str:
    """What was printed on a `text_console`."""
    assert isinstance(console.file, io.StringIO), "made by text_console"
    return console.file.getvalue()


def print_heading(console: Console, record: Record, title: str) -> None:
    console.print(Text(one_line(title), style="bold"))
    console.print(Text(one_line(notes.environment(record.environment)), style="dim"))
    console.print(Text(one_line(notes.origin(record)), style="dim"))


def print_subheading(console: Console, title: str) -> None:
    console.print()
    console.print(Text(one_line(title), style="bold"))


def print_ranking(console: Console, record: Record, ranking: Ranking) -> None:
    """A line for each server with a place, then the servers without one, then the rule of ties."""
    print_subheading(console, rankings.heading(record, ranking))
    grid = Grid(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    rows = list(rankings.rows(record, ranking))
    ranged = any(row.between for row in rows)
    for column in range(5 if ranged else 4):
        grid.add_column(justify="left" if column < 2 else "right", overflow="fold")
    for row in rows:
        between = [Text(row.between, style="dim")] if ranged else []
        grid.add_row(f"  {row.place}", one_line(row.server), row.value, *between, row.beside)
    if rows:
        console.print(grid)
    for each in ranking.unplaced:
        console.print(_hanging(rankings.unplaced(each), "  -  "))
    if ranking.basis:
        console.print(Text(ranking.basis, style="dim"))


def print_table(console: Console, table: Table) -> None:
    """Print the table in as many blocks as the console's width requires."""
    for block in _blocks(table, console.width):
        console.print()
        console.print(block)
    for line in table.legend:
        console.print(Text(line, style="dim"))


def print_sections(console: Console, sections: Iterable[notes.Section]) -> None:
    for section in sections:
        console.print()
        console.print(Text(section.title, style="bold"))
        for note in section.notes:
            console.print(_hanging(note.text))
            for line in note.log:
                console.print(Padding(Text(line, style="dim", no_wrap=True, overflow="crop"), (0, 0, 0, 4)))


def print_verdict(console: Console, record: Record, verdict: Verdict) -> None:
    console.print()
    if verdict.outcome != "pass":
        # A single line to copy: the terminal wraps it at any column.
        console.print(Text.assemble(("Repeat: ", "bold"), one_line(again.command(record))), soft_wrap=True)
        console.print()
    word = (loud(verdict.outcome), _STYLES[verdict.outcome])
    console.print(Text.assemble(("Verdict: ", "bold"), word, f" ({one_line(notes.tally(verdict))})"))


def _hanging(text: str, mark: str = "  ") -> Grid:
    grid = Grid.grid(padding=0)
    grid.add_column(width=len(mark))
    grid.add_column()
    grid.add_row(mark, Text(one_line(text)))
    return grid


def _blocks(table: Table, width: int) -> Iterator[Grid]:
    titles = _folded([line.title for line in table.lines])
    left = max(map(cell_len, titles)) + GAP + max(cell_len(line.unit) for line in table.lines)
    corner, headings = _headings(table, width - left)
    left += max(0, cell_len(corner) - max(map(cell_len, titles)))
    needed = _needed(table, headings)
    first = 0
    while first < len(headings):
        last = first + 1
        while last < len(headings) and left + sum(needed[first : last + 1]) <= width:
            last += 1
        yield _grid(table, [corner, *titles], headings, slice(first, last))
        first = last


def _headings(table: Table, room: int) -> tuple[str, list[str]]:
    """The text in the corner and the headings. The headings are whole, or without a common prefix that moves to the
    corner; then the long ones are on two lines, or all. The first form that fits in one block, else the last but
    one.
    """
    whole = [one_line(heading) for heading in table.headings]
    corner = _in_common(whole)
    own = [heading.removeprefix(corner) for heading in whole]
    forms = [
        ("", whole),
        (corner, own),
        (corner, [_in_two_lines(heading) if cell_len(heading) > LONG_HEADING else heading for heading in own]),
        (corner, [_in_two_lines(heading) for heading in own]),
    ]
    return next((form for form in forms if sum(_needed(table, form[1])) <= room), forms[-2])


def _needed(table: Table, headings: Sequence[str]) -> list[int]:
    """The width of each column, including the gap before it."""
    columns = zip(*(line.cells for line in table.lines), strict=True)
    return [
        GAP + max(cell_len(part) for part in [*heading.split("\n"), *_parts(cells)])
        for heading, cells in zip(headings, columns, strict=True)
    ]


def _parts(cells: Sequence[Cell]) -> list[str]:
    marked = any(cell.broken for cell in cells)
    return [part for cell in cells for part in _shown(cell, marked=marked).plain.split("\n")]


def _grid(table: Table, names: Sequence[str], headings: Sequence[str], part: slice) -> Grid:
    corner, *titles = names
    grid = Grid(box=None, show_header=True, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    grid.add_column(Text(corner), no_wrap=True)
    grid.add_column(no_wrap=True)
    columns = list(zip(*(line.cells for line in table.lines), strict=True))[part]
    marked = [any(cell.broken for cell in cells) for cells in columns]
    for heading, marks in zip(headings[part], marked, strict=True):
        lines = [f"{each}  " if marks else each for each in heading.split("\n")]
        grid.add_column(Text("\n".join(lines)), justify="right", no_wrap=True, vertical="top")
    for title, line in zip(titles, table.lines, strict=True):
        if line.opens_group:
            grid.add_row()
        cells = [_shown(cell, marked=marks) for cell, marks in zip(line.cells[part], marked, strict=True)]
        grid.add_row(Text(title), Text(line.unit, style="dim"), *cells)
    return grid


def _shown(cell: Cell, *, marked: bool) -> Text:
    """The cell as text. In a column with any mark, all numbers leave room for one, so that they stay aligned."""
    text = Text(cell.text, style="bold red" if cell.broken else _WORDS.get(cell.text, ""))
    if marked:
        text.append(" !" if cell.broken else "  ")
    if cell.spread:
        text.append(f"\n{cell.spread}" + ("  " if marked else ""), style="dim")
    return text


def _folded(titles: Sequence[str]) -> list[str]:
    """`Echo p50`, `Echo p95` as `Echo p50`, `     p95`: a family of rows is named only once."""

    def fold(before: str, title: str) -> str:
        family, _, member = title.rpartition(" ")
        return " " * (len(family) + 1) + member if family and before.startswith(f"{family} ") else title

    return [fold(before, title) for before, title in pairwise(["", *titles])]


def _in_common(headings: Sequence[str]) -> str:
    """The folder of which all are variants, `socketio-game/`; empty if they have different folders."""
    folders = {heading[: heading.find("/") + 1] for heading in headings}
    return folders.pop() if len(folders) == 1 and len(headings) > 1 else ""


def _in_two_lines(heading: str) -> str:
    """A long id, split after its / or else after the - that makes both lines short."""
    ends = [match.end() for match in re.finditer("/" if "/" in heading.rstrip("/") else "-", heading)]
    at = min((end for end in ends if end < len(heading)), key=lambda end: max(end, len(heading) - end), default=0)
    return f"{heading[:at]}\n{heading[at:]}" if at else heading
