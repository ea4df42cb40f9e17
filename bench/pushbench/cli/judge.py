"""`pushbench judge`: whether a record keeps to thresholds.yml, as an exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli.examples import examples
from pushbench.cli.options import AnyRecordArgument, JsonOption, OutOption, print_json

if TYPE_CHECKING:
    from pushbench.foundation.project import Project
    from pushbench.judging.judged_capacity import CapacityVerdict
    from pushbench.judging.thresholds import Thresholds
    from pushbench.judging.verdict import Verdict
    from pushbench.records.record import Record

_EXAMPLES = examples(
    "./pushbench judge",
    "./pushbench judge 20261121T1015 --thresholds strict.yml --json",
    "./pushbench judge latest --history",
    "./pushbench judge capacity",
    "./pushbench judge capacity --base 20261121T1015",
)


def register(app: typer.Typer) -> None:
    app.command("judge", epilog=_EXAMPLES)(judge)


def judge(
    *,
    record: AnyRecordArgument = "latest",
    thresholds: Annotated[
        Path | None,
        typer.Option("--thresholds", help="Judge by this file.", metavar="FILE", show_default="thresholds.yml"),
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Also judge against earlier runs.")] = False,
    store: Annotated[
        Path | None, typer.Option("--store", help="The history.", metavar="FOLDER", show_default="history")
    ] = None,
    base: Annotated[
        str,
        typer.Option(
            "--base", help="Compare a capacity record with this one.", metavar="ID", show_default="the history"
        ),
    ] = "",
    allow_inconclusive: Annotated[
        bool,
        typer.Option("--allow-inconclusive", help="Exit with 0 if nothing failed, even if something is unknown."),
    ] = False,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge a record by thresholds.yml.

    Checks every limit on every valid trial, and every margin where the record has a base.

    With --history, also compares every metric that has a margin with its level in earlier runs.

    A capacity record, such as `capacity`, the newest one, is compared with earlier searches, or with --base. A server
    that carries less fails.

    Exit code: 0 pass, 1 fail, 2 usage or configuration error, 3 inconclusive or invalid.
    """
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.cli.documents import read_named
    from pushbench.cli.judge_capacity import judge_capacity
    from pushbench.foundation.errors import UserError
    from pushbench.foundation.project import Project
    from pushbench.records.capacity import CapacityRecord

    project = Project.current(out)
    read, by = read_named(project, record), thresholds_of(project, thresholds)
    found: CapacityVerdict | Verdict
    if isinstance(read, CapacityRecord):
        found, said = judge_capacity(project, read, by, base=base, store=store or project.history)
    elif base:
        raise UserError("--base is for a capacity record", hint="a run has its own base: see `pushbench compare`")
    else:
        found, said = _judge_run(project, read, by, store or project.history if history or store else None)
    if as_json:
        print_json(found.model_dump(mode="json", by_alias=True))
    else:
        print(said, end="")
    raise typer.Exit(found.exit_code(allow_inconclusive=allow_inconclusive))


def _judge_run(project: Project, record: Record, thresholds: Thresholds, store: Path | None) -> tuple[Verdict, str]:
    """Return the verdict on a run, against the history in `store` if one is given, and the text for people."""
    from pushbench.cli.conclusion import color, width
    from pushbench.judging.verdict import judge
    from pushbench.records.runs import past_of
    from pushbench.reporting import report

    found = judge(record, thresholds, past_of(store, record, project.history_cache) if store else None)
    return found, report.render_verdict(record, found, width=width(), color=color())
