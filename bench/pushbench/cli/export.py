"""`pushbench export`: a record for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.options import OutOption, RecordArgument

_EXAMPLES = examples(
    "./pushbench export",
    "./pushbench export 20261121T1015 --into out/export",
)


def register(app: typer.Typer) -> None:
    app.command("export", epilog=_EXAMPLES)(export)


def export(
    *,
    record: RecordArgument = "latest",
    format_: Annotated[
        str, typer.Option("--format", help="The format; only github-action-benchmark so far.", metavar="FORMAT")
    ] = "github-action-benchmark",
    into: Annotated[
        Path | None, typer.Option("--into", help="Where the files go.", metavar="FOLDER", show_default="out/export")
    ] = None,
    out: OutOption = None,
) -> None:
    """Write the headline numbers of a record for another tool.

    Writes one file for each kind of number that the format has.

    For github-action-benchmark these are customSmallerIsBetter.json and customBiggerIsBetter.json, named by the `tool`
    that reads them. Servers without a valid trial are left out, with a note.
    """
    import json

    from pushbench.cli.conclusion import thresholds_of
    from pushbench.foundation.files import write_atomically
    from pushbench.foundation.project import Project
    from pushbench.foundation.yamlfile import unknown
    from pushbench.judging.verdict import judge
    from pushbench.records import store
    from pushbench.reporting import exporting
    from pushbench.reporting.summary import summarize

    if format_ not in exporting.FORMATS:
        raise unknown("format", format_, exporting.FORMATS)
    project = Project.current(out)
    read = store.read_found(project.records, record)
    summary = summarize(read, judge(read, thresholds_of(project)))
    for server in summary.servers:
        if not server.valid_trials:
            options.note(f"{server.server}: left out: it has no valid trial")
    for tool, benchmarks in exporting.github_action_benchmark(read, summary).items():
        path = (into or project.out / "export") / f"{tool}.json"
        write_atomically(path, json.dumps(benchmarks, indent=2).encode() + b"\n")
        options.note(f"wrote {project.relative(path)}: {len(benchmarks)} numbers")
