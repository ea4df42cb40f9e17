"""`pushbench bisect`: the commit that made a server worse, found by comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.completing import complete_servers
from pushbench.cli.examples import examples
from pushbench.cli.interrupting import EXIT_INTERRUPTED, watching
from pushbench.cli.options import (
    DriverOption,
    JsonOption,
    OutOption,
    ParameterOption,
    ProfileOption,
    SkipVerifyOption,
    WaitOption,
    WorkersOption,
    note,
    print_json,
    table_lines,
)
from pushbench.foundation.errors import EXIT_PASS, EXIT_UNDECIDED

if TYPE_CHECKING:
    from pushbench.comparing.bisection import Bisection

_EXAMPLES = examples(
    "./pushbench bisect --good v1.2 --bad main --server node-ws",
    "./pushbench bisect --good HEAD~9 --bad HEAD --server go --max-time 3m",
)


def register(app: typer.Typer) -> None:
    app.command("bisect", epilog=_EXAMPLES)(bisect)


def bisect(
    *,
    good: Annotated[str, typer.Option("--good", help="A commit without the regression.", metavar="REF")],
    bad: Annotated[str, typer.Option("--bad", help="A later commit with the regression.", metavar="REF")],
    server: Annotated[
        str,
        typer.Option("--server", help="The server that got worse.", metavar="SERVER", autocompletion=complete_servers),
    ],
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            help="The metric that got worse. It must have a margin.",
            metavar="METRIC",
            show_default="CPU per unit of work",
        ),
    ] = "",
    profile: ProfileOption = "compare",
    parameter: ParameterOption = [],  # noqa: B006 - typer only reads it
    max_time: Annotated[
        str, typer.Option("--max-time", help="Maximum time per comparison, without builds.", metavar="TIME")
    ] = "5m",
    total_time: Annotated[
        str,
        typer.Option("--total-time", help="Start no comparison after this time.", metavar="TIME", show_default="none"),
    ] = "",
    restart: Annotated[bool, typer.Option("--restart", help="Discard the steps of an earlier search.")] = False,
    driver: DriverOption = "process",
    workers: WorkersOption = None,
    skip_verify: SkipVerifyOption = False,
    wait: WaitOption = False,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the commit that made a server worse.

    Compares commits with the good one; N commits take about log2(N) comparisons. Only commits that changed the server
    count. A commit that does not build or breaks a rule is skipped. Every step is saved: run the same command again to
    continue a search.

    Exit code: 0 found, 2 usage or configuration error, 3 not decided, or no regression between the two.
    """
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.comparing import bisect as bisecting
    from pushbench.drivers.choice import DriverChoice
    from pushbench.foundation.project import Project
    from pushbench.measuring.common import Interrupted, Options

    project = Project.current(out)
    request = bisecting.BisectRequest(
        good=good,
        bad=bad,
        server=server,
        metric=metric,
        profile=profile,
        parameters=options.parameters(parameter),
        step_seconds=options.seconds("--max-time", max_time),
        total_seconds=options.seconds("--total-time", total_time) if total_time else None,
        restart=restart,
    )
    how = Options(DriverChoice(driver, workers=workers), wait=wait, verify=not skip_verify)
    try:
        with watching() as watch:
            found = bisecting.bisect(project, request, how, thresholds_of(project), watch)
    except (KeyboardInterrupt, Interrupted):
        note("interrupted: the steps so far are saved; run the same command again to continue")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if as_json:
        print_json(found.model_dump(mode="json", by_alias=True))
    else:
        print("\n".join(_lines(found)))
    raise typer.Exit(EXIT_PASS if found.state == "found" else EXIT_UNDECIDED)


def _lines(found: Bisection) -> list[str]:
    """Return a line for each step, and the answer last."""
    rows = [[each.sha[:12], each.word, _change(each.change), str(each.rounds), each.reason] for each in found.steps]
    lines = [*table_lines(["commit", "word", "change", "rounds", ""], rows), ""]
    if found.state == "no-regression":
        return [*lines, f"no regression of {found.metric} from {found.good[:12]} to {found.bad[:12]} was found"]
    said = {"found": "first bad commit", "undecided": "not decided; most probable", "running": "not done; so far"}
    for each in found.culprits:
        lines.append(f"{said[found.state]}: {each.sha[:12]} {each.subject}")
    if len(found.culprits) > 1:
        lines.append("these cannot be told apart: the commits between them were skipped")
    return [*lines, f"confidence {100 * (found.confidence or 0):.0f} %, effect {_change(found.effect)}"]


def _change(change: float | None) -> str:
    return "-" if change is None else f"{100 * change:+.1f} %"
