"""`pushbench ci bench`: carry out a plan."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import branch_of, fresh_out, planned_by, promises_of, queue_of_job, results_folder
from pushbench.cli.examples import examples
from pushbench.foundation.errors import EXIT_FAIL, EXIT_PASS, EXIT_UNDECIDED, UserError

if TYPE_CHECKING:
    from pushbench.ci.intending import Promises
    from pushbench.ci.plan import Plan
    from pushbench.ci.result import Results
    from pushbench.foundation.project import Project


_EXAMPLE = examples(
    "PLAN=$(./pushbench ci plan --json) ./pushbench ci bench",
    "SHARD=2 ./pushbench ci bench",
    "(where PLAN is for several machines: the part of the second one)",
)
LONGEST_MACHINE = 60
"""characters of its name"""
HistoryOption = Annotated[
    str,
    typer.Option("--history", help="Judge runs by those on this branch, too.", metavar="BRANCH", show_default=False),
]


def register(group: typer.Typer) -> None:
    group.command("bench", epilog=_EXAMPLE)(bench)


def bench(
    *,
    history: HistoryOption = "",
    earlier: Annotated[
        str,
        typer.Option(
            "--earlier", help="Go on with these results of a job that gave way.", metavar="FOLDER", show_default=False
        ),
    ] = "",
) -> None:
    """Carry out the plan in the variable PLAN.

    With SHARD, a number from 1 on, carries out the part of one of several machines.

    Leaves results in out/ci/results, and a summary of the step.

    In a job of GitHub Actions, a push or night gives way to a pull request between two servers: it then ends with the
    outcome gave-way. One of several machines gives way to nothing, and tells its name: RUNNER_NAME.

    Exit code: 0 pass or gave way, 1 fail, 2 a step could not be carried out, 3 inconclusive, invalid or ended early.
    """
    from pushbench.ci.result import read_results
    from pushbench.foundation.project import Project

    project = Project.current()
    planned = planned_by()
    before = read_results(Path(earlier)) if earlier else None
    if before and before.result.plan != planned:
        raise UserError("the earlier results are of another plan", where=earlier)
    conclude(project, _carry_out(project, planned, before, history))


def conclude(project: Project, folder: Path) -> NoReturn:
    """Tell the outcome of the results, and end with its code."""
    from pushbench.ci import actions
    from pushbench.ci.result import read_results

    found = read_results(folder)
    outcome = found.result.outcome
    actions.add_summary(_summary(found, promises_of(project)))
    actions.set_outputs({"outcome": outcome})
    options.note(f"{outcome}: {project.relative(folder)}")
    raise typer.Exit(
        {"pass": EXIT_PASS, "gave-way": EXIT_PASS, "fail": EXIT_FAIL, "error": 2}.get(outcome, EXIT_UNDECIDED)
    )


def _carry_out(project: Project, planned: Plan, earlier: Results | None, history: str) -> Path:
    """The folder with the results of the plan, or of what was carried out until the job ended."""
    import tempfile

    from pushbench.ci import actions
    from pushbench.ci.benching import Bench, Ended
    from pushbench.ci.publishing import HISTORY
    from pushbench.ci.trend import TREND
    from pushbench.cli.conclusion import thresholds_of

    out = fresh_out(project)
    # The job own-server passes no token, so it gives way to nothing.
    asks = os.environ.get("GITHUB_ACTIONS") == "true" and os.environ.get("GITHUB_TOKEN")
    with tempfile.TemporaryDirectory(prefix="pushbench-") as folder:
        store = None
        if history and branch_of(project, history).fetch(Path(folder)):
            store = Path(folder) / HISTORY
        job = Bench(
            project,
            out,
            planned,
            thresholds_of(project),
            results_folder(out),
            store,
            options.note,
            give_way=queue_of_job() if asks and planned.event in TREND and planned.shard is None else None,
            earlier=earlier,
            machine=_machine() if planned.shard else None,
        )
        try:
            with actions.inert_log():
                job.play()
        except Ended:
            options.note("ended: what was measured until then is in out/ci")
    return results_folder(out)


def _machine() -> str | None:
    """The name that Actions has for this machine, in characters that every reader takes."""
    import re

    named = re.sub(r"[^A-Za-z0-9._-]+", "-", os.environ.get("RUNNER_NAME", "")).strip("-._")[:LONGEST_MACHINE]
    return named or None


def _summary(found: Results, promises: Promises) -> str:
    from pushbench.ci.drafting import message
    from pushbench.reporting.comment import MARK, comment

    return comment(message(found, promises)).removeprefix(f"{MARK}\n")
