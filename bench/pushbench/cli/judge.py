"""`pushbench judge`: whether a record keeps to thresholds.yml, as an exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pushbench.cli.examples import examples
from pushbench.cli.options import JsonOption, OutOption, RecordArgument, print_json

_EXAMPLES = examples(
    "./pushbench judge",
    "./pushbench judge 20261121T1015 --thresholds strict.yml --json",
    "./pushbench judge latest --history",
)


def register(app: typer.Typer) -> None:
    app.command("judge", epilog=_EXAMPLES)(judge)


def judge(
    *,
    record: RecordArgument = "latest",
    thresholds: Annotated[
        Path | None,
        typer.Option("--thresholds", help="Judge by this file.", metavar="FILE", show_default="thresholds.yml"),
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Also judge against earlier runs.")] = False,
    store: Annotated[
        Path | None, typer.Option("--store", help="The history.", metavar="FOLDER", show_default="history")
    ] = None,
    allow_inconclusive: Annotated[
        bool,
        typer.Option("--allow-inconclusive", help="Exit with 0 if nothing failed, even where something is unknown."),
    ] = False,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge a record by thresholds.yml.

    Checks every limit on every valid trial, and every margin where the record has a base.

    With --history, also compares every metric that has a margin with its level in earlier runs.

    Exit code: 0 pass, 1 fail, 2 usage or configuration error, 3 inconclusive or invalid.
    """
    from pushbench.cli.conclusion import color, thresholds_of, width
    from pushbench.foundation.project import Project
    from pushbench.judging import verdict
    from pushbench.records.runs import past_of
    from pushbench.records.store import read_found
    from pushbench.reporting import report

    project = Project.current(out)
    read = read_found(project.records, record)
    past = past_of(store or project.history, read, project.history_cache) if history or store else None
    judged = verdict.judge(read, thresholds_of(project, thresholds), past)
    if as_json:
        print_json(judged.model_dump(mode="json", by_alias=True))
    else:
        print(report.render_verdict(read, judged, width=width(), color=color()), end="")
    raise typer.Exit(judged.exit_code(allow_inconclusive=allow_inconclusive))
