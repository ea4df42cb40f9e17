"""`pushbench show`: a record of a run or of a search for capacities, as tables, as Markdown or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli.examples import examples
from pushbench.cli.options import AnyRecordArgument, JsonOption, OutOption, print_json
from pushbench.foundation.errors import UserError

if TYPE_CHECKING:
    from pushbench.records.capacity import CapacityRecord
    from pushbench.records.record import Record, Trial

_EXAMPLES = examples(
    "./pushbench show",
    "./pushbench show --stage 300",
    "./pushbench show latest --stage all",
    "./pushbench show --trial node-ws:2",
    "./pushbench show 20261121T1015 --markdown > report.md",
    "./pushbench show capacity",
)


def register(app: typer.Typer) -> None:
    app.command("show", epilog=_EXAMPLES)(show)


def show(
    *,
    record: AnyRecordArgument = "latest",
    stage: Annotated[
        str,
        typer.Option(
            "--stage", help="A number of clients, a name, or `all`.", metavar="STAGE", show_default="the largest"
        ),
    ] = "",
    trial: Annotated[
        str, typer.Option("--trial", help="Show one trial, its stages side by side.", metavar="SERVER[:ROUND]")
    ] = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print every stage as Markdown.")] = False,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a run or a capacity search measured.

    For a run, also shows the verdict. Exits with 0 whatever the verdict is; `pushbench judge` has an exit code for
    each.
    """
    from pushbench.cli.conclusion import color, thresholds_of, width
    from pushbench.cli.documents import read_named
    from pushbench.foundation.project import Project
    from pushbench.judging.verdict import judge
    from pushbench.profiling.explanation import read_explanations
    from pushbench.records.capacity import CapacityRecord
    from pushbench.reporting import report

    if sum(map(bool, (stage, trial, markdown, as_json))) > 1:
        raise UserError("--stage, --trial, --markdown and --json are mutually exclusive", hint="give one of them")
    project = Project.current(out)
    read = read_named(project, record)
    if isinstance(read, CapacityRecord):
        if stage or trial or markdown:
            raise UserError(f"{read.id} is a capacity record: it has no stages", hint="--json has every probe")
        _show_capacities(read, as_json=as_json)
        return
    verdict = judge(read, thresholds_of(project))
    explanations = read_explanations(project.explanations, read.id)
    if as_json:
        print_json(report.as_json(read, verdict))
    elif markdown:
        print(report.markdown(read, verdict, explanations), end="")
    elif trial:
        print(report.render_trial(read, verdict, _trial(read, trial), width=width(), color=color()), end="")
    else:
        stages = _stages(read, stage)
        shown = report.render_terminal(
            read, verdict, stages=stages, explanations=explanations, width=width(), color=color()
        )
        print(shown, end="")


def _show_capacities(record: CapacityRecord, *, as_json: bool) -> None:
    from pushbench.cli.conclusion import width
    from pushbench.metrics.carrying import CapacityReport, results_of
    from pushbench.reporting.capacities import render_capacities

    results = results_of(record)
    if as_json:
        print_json(CapacityReport(record=record, results=results).model_dump(mode="json", by_alias=True))
    else:
        print(render_capacities(record, results, width()), end="")


def _stages(record: Record, wanted: str) -> list[int] | None:
    names = [stage.name for stage in record.schedule.stages]
    if not wanted:
        return None
    found = [index for index, name in enumerate(names) if wanted in ("all", name)]
    if not found:
        raise UserError(f"--stage: the record has no stage {wanted!r}", hint=f"stages: {', '.join(names)}, or all")
    return found


def _trial(record: Record, wanted: str) -> Trial:
    server, colon, _round = wanted.partition(":")
    trials = {f"{trial.server}:{trial.round}": trial for trial in record.trials if trial.arm == "head"}
    name = wanted if colon else f"{server}:1"
    if name not in trials:
        raise UserError(f"--trial: the record has no trial {wanted!r}", hint=f"trials: {', '.join(sorted(trials))}")
    return trials[name]
