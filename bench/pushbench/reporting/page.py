"""A run as one HTML file, for mail and tickets: no scripts, no other files, no requests. Pure.

Mail programs and ticket systems run no scripts, so the charts are drawn here. All text of a record is escaped, and the
page's policy allows nothing except its own style.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from pushbench.foundation.text import one_line
from pushbench.judging.verdict import Verdict
from pushbench.records.record import Record
from pushbench.reporting import again, notes, pictures, rankings
from pushbench.reporting.charts import charts
from pushbench.reporting.looks import Look, looks
from pushbench.reporting.page_style import STYLE
from pushbench.reporting.ranking import Ranking
from pushbench.reporting.summary import Summary, headline_first
from pushbench.reporting.table import Cell, Table, changes_table, levels_table, loud, stage_table


def render(record: Record, summary: Summary, ranking: Ranking | None, listed: Sequence[str] = ()) -> str:
    """The whole document. `listed` are the servers with a fixed look, as for `looks`."""
    title = notes.heading(record)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            *_head(title),
            "<body>",
            f"<h1>{_text(title)}</h1>",
            *_verdict(record, summary.verdict),
            *(_ranking(record, ranking) if ranking else []),
            *_sections(record, summary.verdict),
            *_charts(record, summary, looks(listed, record.servers)),
            *_tables(record, summary),
            *_environment(record),
            "</body>",
            "</html>",
            "",
        ]
    )


def _text(text: str) -> str:
    return escape(one_line(text))


def _head(title: str) -> Iterator[str]:
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    yield from (
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{_text(title)}: Pushbench</title>",
        f"<style>{STYLE}</style>",
        "</head>",
    )


def _verdict(record: Record, verdict: Verdict) -> Iterator[str]:
    yield (
        f'<p class="verdict {verdict.outcome}">Verdict: <strong>{loud(verdict.outcome)}</strong> '
        f"({_text(notes.tally(verdict))})</p>"
    )
    where, when = notes.environment(record.environment), f"{record.created}, {notes.origin(record)}"
    yield f"<p>{_text(where)}<br>{_text(when)}</p>"


def _ranking(record: Record, ranking: Ranking) -> Iterator[str]:
    yield f"<h2>{_text(rankings.heading(record, ranking))}</h2>"
    if ranking.places:
        yield '<div class="wide"><table><tbody>'
        for row in rankings.rows(record, ranking):
            beside = "".join(f"<td>{_text(cell)}</td>" for cell in (row.value, row.between, row.beside))
            yield f"<tr><td>{_text(row.place)}</td><th scope=row>{_text(row.server)}</th>{beside}</tr>"
        yield "</tbody></table></div>"
    if ranking.unplaced:
        yield from ("<ul>", *(f"<li>{_text(rankings.unplaced(each))}</li>" for each in ranking.unplaced), "</ul>")
    if ranking.basis:
        yield f'<p class="aside">{_text(ranking.basis)}</p>'


def _sections(record: Record, verdict: Verdict) -> Iterator[str]:
    for section in notes.sections(record, verdict):
        yield f"<h2>{_text(section.title)}</h2><ul>"
        for note in section.notes:
            log = "\n".join(escape(line) for line in note.log)
            yield f"<li>{_text(note.text)}{f'<pre>{log}</pre>' if log else ''}</li>"
        yield "</ul>"


def _charts(record: Record, summary: Summary, drawn: Mapping[str, Look]) -> Iterator[str]:
    found = charts(record, summary, drawn)
    if not found:
        return
    yield '<h2>Charts</h2><ul class="legend">'
    for server in record.servers:
        yield f"<li>{pictures.swatch(drawn[server])} {_text(server)}</li>"
    yield '</ul><div class="charts">'
    for chart in found:
        yield f"<figure><figcaption>{_text(chart.title)}</figcaption>{pictures.draw(chart)}</figure>"
    yield "</div>"


def _tables(record: Record, summary: Summary) -> Iterator[str]:
    verdict = summary.verdict
    if verdict.levels:
        yield from ("<h2>Against the history</h2>", *_table(levels_table(verdict)))
    if verdict.changes:
        yield from (f"<h2>Changes {_text(notes.against(record))}</h2>", *_table(changes_table(verdict)))
    yield "<h2>All numbers</h2>"
    for position, stage in enumerate(headline_first(summary)):
        opened = " open" if position == 0 else ""
        yield f"<details{opened}><summary>{_text(notes.stage_heading(summary.stages[stage]))}</summary>"
        yield from (*_table(stage_table(summary, stage)), "</details>")


def _table(table: Table) -> Iterator[str]:
    headings = "".join(f"<th scope=col>{_text(heading)}</th>" for heading in table.headings)
    yield f'<div class="wide"><table><thead><tr><td></td><td></td>{headings}</tr></thead><tbody>'
    for line in table.lines:
        opens = " class=opens" if line.opens_group else ""
        cells = "".join(_cell(cell) for cell in line.cells)
        yield f"<tr{opens}><th scope=row>{_text(line.title)}</th><td>{_text(line.unit)}</td>{cells}</tr>"
    yield "</tbody></table></div>"
    yield from (f'<p class="aside">{_text(sentence)}</p>' for sentence in table.legend)


def _cell(cell: Cell) -> str:
    text = f"<strong>{_text(cell.text)} !</strong>" if cell.broken else _text(cell.text)
    return f"<td>{text}{f'<br><small>{_text(cell.spread)}</small>' if cell.spread else ''}</td>"


def _environment(record: Record) -> Iterator[str]:
    said: Sequence[str] = (
        notes.split(record.environment),
        f"pushbench {record.harness.pushbench}, k6 {record.harness.k6}",
        *(f"{server}: {said}" for server, said in notes.versions(record).items()),
    )
    yield from ("<h2>Environment</h2><ul>", *(f"<li>{_text(each)}</li>" for each in said), "</ul>")
    yield f"<h2>Reproduce</h2><pre>{_text(again.command_from_anywhere(record))}</pre>"
