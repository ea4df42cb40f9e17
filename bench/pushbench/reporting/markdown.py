"""The report as Markdown (GitHub's): the verdict first, then every stage, the largest first."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterator, Sequence

from pushbench.foundation.text import one_line
from pushbench.metrics.definitions import metrics_of
from pushbench.profiling.explanation import Explanation
from pushbench.records.record import Record
from pushbench.reporting import again, explained, notes, rankings
from pushbench.reporting.loads import load_table
from pushbench.reporting.ranking import Ranking
from pushbench.reporting.summary import Summary, headline_first
from pushbench.reporting.table import Cell, Table, changes_table, levels_table, loud, stage_table

# `@` would notify people and `#` link issues when the report becomes a comment. GitHub searches the rendered text for
# both, so no escape helps: a zero-width space has to follow.
_MENTIONS = re.compile(r"(@|\\#)")
_BEFORE_A_UNIT = re.compile(r"(?<=[0-9]) (?=[^ (]+$)")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~$])")


def render(
    record: Record,
    summary: Summary,
    ranking: Ranking | None = None,
    explanations: Sequence[Explanation] = (),
) -> str:
    lines = [
        f"# {escape(notes.heading(record))}",
        "",
        f"**Verdict: {loud(summary.verdict.outcome)}** ({escape(notes.tally(summary.verdict))})",
        "",
        *(_ranking(record, ranking) if ranking else []),
        *_sections(record, summary),
    ]
    if summary.verdict.levels:
        lines += ["## Against the history", "", *table_lines(levels_table(summary.verdict)), ""]
    if summary.verdict.changes:
        against = escape(notes.against(record))
        lines += [f"## Changes {against}", "", *table_lines(changes_table(summary.verdict)), ""]
    for each in explanations:
        lines += [f"## {escape(explained.heading(each))}", "", *table_lines(explained.table(each)), ""]
    if against_load := load_table(summary):
        title = f"{metrics_of(record.words)[record.words.headline].title} against load"
        lines += [f"## {escape(title)}", "", *table_lines(against_load), ""]
    for stage in headline_first(summary):
        title = escape(notes.stage_heading(summary.stages[stage]))
        lines += [f"## {title}", "", *table_lines(stage_table(summary, stage)), ""]
    lines += [
        "## Environment",
        "",
        *measured_by(record),
        "",
        "## Reproduce",
        "",
        *fenced([one_line(again.command(record))], "sh"),
        "",
    ]
    return "\n".join(lines)


def measured_by(record: Record) -> list[str]:
    """Machine, harness and servers, one item each."""
    return [
        f"- {escape(notes.environment(record.environment))}",
        f"- {escape(notes.split(record.environment))}",
        *([f"- on {escape(notes.machines(record))}"] if record.machines else []),
        f"- {escape(notes.origin(record))}",
        f"- pushbench {escape(record.harness.pushbench)}, k6 {escape(record.harness.k6)}",
        *(f"- {escape(server)}: {escape(said)}" for server, said in notes.versions(record).items()),
    ]


def points(section: notes.Section) -> Iterator[str]:
    """The notes of a section, each followed by its logs."""
    for note in section.notes:
        yield f"- {escape(note.text)}"
        if note.log:
            yield from ("", *(f"  {line}" for line in fenced(note.log, "text")), "")


def wrapped(text: str, indent: str = "") -> list[str]:
    """The lines of a paragraph, wrapped for files that people read, with further lines indented."""
    return textwrap.wrap(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def escape(text: str) -> str:
    """`text` as plain text: no markup, no table cell, no mention, no link of its own."""
    return _escaped(one_line(text))


def _escaped(line: str) -> str:
    return (
        _MENTIONS.sub(r"\1&#8203;", _SPECIAL.sub(r"\\\1", line)).replace("://", ":&#47;/").replace("www.", "www&#46;")
    )


def in_html(text: str) -> str:
    """`text` as plain text inside a line of HTML, where Markdown's escapes are shown literally and do not protect."""
    return re.sub(r"([@#])", r"\1&#8203;", html.escape(one_line(text), quote=False))


def inline(text: str) -> str:
    """`escape`, except that text between two backticks is code, which contains no markup, mentions or links."""
    *pieces, last = one_line(text).split("`")
    if len(pieces) % 2:
        pieces, last = pieces[:-1], f"{pieces[-1]}`{last}"
    shown = [
        _escaped(piece) if index % 2 == 0 else f"`{piece}`" if piece.strip() else "\\`\\`"
        for index, piece in enumerate(pieces)
    ]
    return "".join([*shown, _escaped(last)])


def _ranking(record: Record, ranking: Ranking) -> Iterator[str]:
    yield from (f"## {escape(rankings.heading(record, ranking))}", "")
    if ranking.places:
        yield from _places([*rankings.rows(record, ranking)])
        yield ""
    if ranking.unplaced:
        yield from (*(f"- {escape(rankings.unplaced(each))}" for each in ranking.unplaced), "")
    if ranking.basis:
        yield from (escape(ranking.basis), "")


def _places(rows: Sequence[rankings.Row]) -> Iterator[str]:
    """The table of places. It has a column `rounds` only if a server's trials differ."""
    ranged = any(row.between for row in rows)
    yield _cells(["", "server", "value", *(["rounds"] if ranged else []), "times the best"])
    yield _cells(["---", "---", "---:", *(["---:"] if ranged else []), "---:"])
    for row in rows:
        between = [row.between] if ranged else []
        yield _cells([escape(cell) for cell in (row.place, row.server, row.value, *between, row.beside)])


def _sections(record: Record, summary: Summary) -> Iterator[str]:
    for section in notes.sections(record, summary.verdict):
        yield from (f"## {section.title}", "", *points(section), "")


def table_lines(table: Table) -> Iterator[str]:
    has_units = any(line.unit for line in table.lines)
    first = 2 if has_units else 1
    yield _cells([*[""] * first, *(escape(heading) for heading in table.headings)])
    yield _cells([*["---"] * first, *("---:" for _ in table.headings)])
    for line in table.lines:
        titles = [line.title, line.unit] if has_units else [line.title]
        yield _cells([*(escape(title) for title in titles), *(_cell(cell) for cell in line.cells)])
    for sentence in table.legend:
        yield from ("", escape(sentence))


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = _BEFORE_A_UNIT.sub("&nbsp;", escape(cell.text))
    shown = f"**{text} !**" if cell.broken else text
    return f"{shown} <sub>{escape(cell.spread)}</sub>" if cell.spread else shown


def fenced(lines: Sequence[str], language: str) -> list[str]:
    """A code block that no line in it can end: the fence is longer than any run of backticks inside."""
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]
