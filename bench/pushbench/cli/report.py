"""`pushbench report`: a run as one file for mail and tickets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pushbench.cli.examples import examples
from pushbench.cli.options import OutOption, RecordArgument, note

_EXAMPLES = examples(
    "./pushbench report --html",
    "./pushbench report 20261121T1015 --html --into run.html",
    "./pushbench report",
)


def register(app: typer.Typer) -> None:
    app.command("report", epilog=_EXAMPLES)(report)


def report(
    *,
    record: RecordArgument = "latest",
    html: Annotated[bool, typer.Option("--html", help="HTML with charts, instead of Markdown.")] = False,
    into: Annotated[
        Path | None,
        typer.Option(
            "--into", help="Where the file goes.", metavar="FILE", show_default="out/report.md or out/report.html"
        ),
    ] = None,
    out: OutOption = None,
) -> None:
    """Write a run as one file, for mail and tickets.

    The HTML has the ranking, the verdict, charts and all numbers. It needs no other file, no script and no network.
    """
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.foundation.files import write_atomically
    from pushbench.foundation.project import Project
    from pushbench.judging.verdict import judge
    from pushbench.profiling.explanation import read_explanations
    from pushbench.records.store import read_found
    from pushbench.reporting import report as reporting
    from pushbench.reporting.looks import read_listed

    project = Project.current(out)
    read = read_found(project.records, record)
    verdict = judge(read, thresholds_of(project))
    path = into or project.out / ("report.html" if html else "report.md")
    listed = read_listed(project.pages / "looks.txt")
    explanations = read_explanations(project.explanations, read.id)
    text = reporting.html(read, verdict, listed) if html else reporting.markdown(read, verdict, explanations)
    write_atomically(path, text.encode())
    note(f"report {project.relative(path)}, {len(text.encode()) / 1000:,.0f} kB")
