"""`pushbench ci join`: one run of what several machines measured."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli.ci.bench import HistoryOption, conclude
from pushbench.cli.ci.job import branch_of, fresh_out, planned_by, results_folder
from pushbench.cli.examples import examples
from pushbench.foundation.errors import UserError

if TYPE_CHECKING:
    from pushbench.ci.joining import Left

_EXAMPLE = examples(
    "./pushbench ci join --results out/shards",
    "(out/shards/results-2 is what `ci bench` left on the second machine)",
)


def register(group: typer.Typer) -> None:
    group.command("join", epilog=_EXAMPLE)(join)


def join(
    *,
    results: Annotated[
        Path, typer.Option("--results", help="With a folder results-NUMBER of each machine.", metavar="FOLDER")
    ],
    history: HistoryOption = "",
) -> None:
    """Join what several machines measured to one run.

    The plan is the variable PLAN. Judges what was joined again, and leaves it in out/ci/results, as one machine does.

    A machine whose results are missing or cannot be used is named, and nothing passes without it. A machine whose
    control differs from the others' by more than the noise is named, and nothing of it is compared with theirs.

    Exit code: 0 pass, 1 fail, 2 a step could not be carried out, 3 inconclusive, invalid or not finished.
    """
    from pushbench.ci import joining
    from pushbench.ci.judge import Judge
    from pushbench.ci.publishing import HISTORY
    from pushbench.ci.result import write_results
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.foundation.project import Project

    project, planned = Project.current(), planned_by()
    folder = results_folder(fresh_out(project))
    left = {number: _left(results / f"results-{number}") for number in range(1, len(planned.shards) + 1)}
    with tempfile.TemporaryDirectory(prefix="pushbench-") as temporary:
        fetched = history and branch_of(project, history).fetch(Path(temporary))
        store = Path(temporary) / HISTORY if fetched else None
        judge = Judge(thresholds_of(project), store, project.history_cache, planned.event)
        write_results(folder, joining.join(planned, left, judge))
    conclude(project, folder)


def _left(folder: Path) -> Left:
    """What a machine left, validated; it is hostile."""
    from pushbench.ci.joining import Left
    from pushbench.ci.result import INDEX, read_results

    if not (folder / INDEX).is_file():
        return Left()
    try:
        return Left(read_results(folder), "")
    except UserError as error:
        return Left(None, f"its results cannot be used: {error}")
