"""`pushbench findings`: the table of all servers in docs/findings.md.

It is a separate command: `report` and `export` cover one run, and `site` the results in `out`. This table is made from
a few kept records of several runs, and is part of the documentation.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.options import OutOption
from pushbench.foundation.errors import EXIT_FAIL, UserError

if TYPE_CHECKING:
    from pushbench.foundation.project import Project

_EXAMPLES = examples(
    "./pushbench findings --add latest --add capacity",
    "./pushbench findings",
    "./pushbench findings --check",
)


def register(app: typer.Typer) -> None:
    app.command("findings", epilog=_EXAMPLES)(findings)


def findings(
    *,
    add: Annotated[
        list[str],
        typer.Option("--add", help="Keep a record first: an id, a file, `latest` or `capacity`.", metavar="ID"),
    ] = [],  # noqa: B006 - typer only reads it
    kept: Annotated[
        Path | None, typer.Option("--kept", help="Compact records.", metavar="FOLDER", show_default="docs/measured")
    ] = None,
    into: Annotated[
        Path | None, typer.Option("--into", help="The file to write.", metavar="FILE", show_default="docs/findings.md")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if the file would change.")] = False,
    out: OutOption = None,
) -> None:
    """Write the table of all servers.

    The table is made from compact records of one environment, and stands between two markers in the file. Records of
    another environment are refused, because one ranking cannot have both. Runs of an earlier day, in the folder
    `earlier` of the records, stand beside: the table says how many pairs of servers both days order alike.

    Exit code: 0 written, 1 --check and the file would change, 2 usage or configuration error.
    """
    from pushbench.foundation.files import write_atomically
    from pushbench.foundation.project import Project
    from pushbench.records.compact import read_kept
    from pushbench.reporting.all_servers import render_all_servers, replaced

    project = Project.current(out)
    folder, file = kept or project.measured, into or project.findings
    if not file.exists():
        raise UserError("no such file", where=str(file))
    before, known = file.read_text(), set(folder.glob("*.json"))
    added = [_keep(project, folder, name) for name in add]
    try:
        after = replaced(before, render_all_servers(read_kept(folder)), str(file))
    except UserError:  # leave the folder unchanged
        for path in {*added} - known:
            path.unlink(missing_ok=True)
        raise
    for path in added:
        options.note(f"kept {project.relative(path)}")
    if check:
        if after != before:
            options.note(f"{project.relative(file)} does not match the kept records: run `./pushbench findings`")
            raise typer.Exit(EXIT_FAIL)
    elif after == before:
        options.note(f"{project.relative(file)} is unchanged")
    else:
        write_atomically(file, after.encode())
        options.note(f"wrote {project.relative(file)}")


def _keep(project: Project, folder: Path, name: str) -> Path:
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.cli.documents import read_named
    from pushbench.judging.verdict import judge
    from pushbench.records.compact import keep_capacity, keep_run
    from pushbench.records.record import Record
    from pushbench.reporting.compacting import compact_capacity, compact_run

    found = read_named(project, name)
    if isinstance(found, Record):
        return keep_run(folder, compact_run(found, judge(found, thresholds_of(project))))
    return keep_capacity(folder, compact_capacity(found))
