"""`pushbench ci plan`: what the event of a job measures."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli.ci.job import branch_of, fresh_out, github_of_job, results_folder, tell
from pushbench.cli.examples import examples
from pushbench.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pushbench.catalog.servers import Server
    from pushbench.catalog.suites import Suite
    from pushbench.ci.budget import Budget, Doubt
    from pushbench.ci.event import Event, Inputs
    from pushbench.ci.steps import Settings
    from pushbench.foundation.project import Project

_EXAMPLES = examples(
    "./pushbench ci plan --json",
    "(in a job of GitHub Actions; later jobs read its output plan)",
    "PUSHBENCH_JOB_TIME=5h ./pushbench ci plan --history gh-pages",
    "(as many servers with the profile full as 5 hours allow)",
    "PUSHBENCH_SHARDS=3 ./pushbench ci plan",
    "(the servers of each of 3 machines, as a matrix of later jobs)",
)


def register(group: typer.Typer) -> None:
    group.command("plan", epilog=_EXAMPLES)(plan)


def plan(
    *,
    history: Annotated[
        str,
        typer.Option(
            "--history",
            help="The branch that says which servers waited the longest, and which ones a push has to compare.",
            metavar="BRANCH",
            show_default=False,
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Plan what the event of this job measures.

    Says also what it does not measure, and why.

    A run that goes on with one that gave way has the plan and the results of that run.

    Reads GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_REPOSITORY and GITHUB_SHA; PUSHBENCH_PUSH_PROFILE,
    PUSHBENCH_CHECK_PROFILE, PUSHBENCH_COMPARE_PROFILE, PUSHBENCH_MAX_TIME and PUSHBENCH_DRIVER change what is measured.
    PUSHBENCH_JOB_TIME, such as 5h, bounds a push or night: changed servers and those that waited the longest get the
    profile of pushes, the others that of checks. Says so, and how long it takes. Without it every server gets it.
    PUSHBENCH_CAPACITY_TIME, 30m unless set, is what a night has for the capacities of some servers; 0 leaves them out.
    PUSHBENCH_DOUBT_TIME, 20m unless set, is what a push has for comparing servers with the last accepted commit where
    the history cannot tell whether they got worse; 0 leaves them out.
    PUSHBENCH_SHARDS, 1 unless set, splits the servers over so many jobs, on machines of one label; each job measures
    the same control server, too, and `pushbench ci join` makes one run of them.
    Fetches what it compares; a private repository needs GITHUB_TOKEN for that, with the permission contents: read.
    To go on with a run, also GITHUB_API_URL and GITHUB_TOKEN, which needs the permission actions: read.
    """
    from pushbench.catalog.servers import here, read_catalog
    from pushbench.ci import actions
    from pushbench.ci.change import read_change
    from pushbench.ci.event import read_event
    from pushbench.ci.plan import make_plan
    from pushbench.ci.result import Result, StepResult, write_result
    from pushbench.ci.sharding import share_out
    from pushbench.ci.steps import Settings
    from pushbench.foundation.project import Project

    project, settings = Project.current(), Settings.read(os.environ)
    event = read_event(os.environ)
    if event.inputs.continue_:
        _take_up(project, event.inputs, as_json=as_json)
        return
    change = read_change(project.root, event, os.environ.get("GITHUB_TOKEN", ""))
    today = datetime.now(UTC).date()
    catalog = here(read_catalog(project.servers))
    budget = _budget(project, event, catalog, settings, history)
    made = make_plan(event, catalog, change, settings, today, budget=budget)
    made = made.model_copy(update={"promises": _promises(project, catalog)})
    if settings.machines > 1:
        made = share_out(made, catalog, settings, _suites(project))
    waits = made.untrusted and event.name == "pull_request"
    steps = [
        StepResult(step=step, outcome="inconclusive" if waits else "unfinished", seconds=0, said="", measured=None)
        for step in made.steps
    ]
    write_result(results_folder(fresh_out(project)), Result(plan=made, steps=steps))
    actions.set_outputs(
        {
            "measure": str(bool(made.steps) and not waits).lower(),
            "untrusted": str(made.untrusted).lower(),
            "source": event.sha,
            "earlier": "",
            "shards": json.dumps(list(range(1, len(made.shards) + 1)) or [0]),
        }
    )
    tell(made, as_json=as_json)


def _promises(project: Project, catalog: Sequence[Server]) -> dict[str, str]:
    """Where the thresholds.yml of each server that has its own is in this checkout."""
    own = [server for server in catalog if server.thresholds_file.exists()]
    return {
        server.id: server.thresholds_file.relative_to(project.root).as_posix()
        for server in own
        if server.thresholds_file.is_relative_to(project.root)
    }


def _budget(
    project: Project, event: Event, catalog: Sequence[Server], settings: Settings, history: str
) -> Budget | None:
    """None where the event does not ask for every server. The branch is fetched only where something depends on it."""
    import tempfile

    from pushbench.ci.budget import Budget, cost_of
    from pushbench.ci.doubting import read_doubts
    from pushbench.ci.fetching import fetch
    from pushbench.ci.last_measured import read_turns
    from pushbench.ci.plan import measures_everything, whole_profile
    from pushbench.ci.publishing import HISTORY
    from pushbench.ci.sharding import control
    from pushbench.cli.conclusion import thresholds_of

    if not measures_everything(event):
        return None
    seconds, turns = settings.job_seconds, {}
    doubts: list[Doubt] = []
    compares = event.name == "push" and settings.doubt_seconds >= settings.max_seconds
    if (seconds is not None or compares) and history:
        fetch(project.root, [], os.environ.get("GITHUB_TOKEN", ""))
        with tempfile.TemporaryDirectory(prefix="pushbench-") as folder:
            if branch_of(project, history).fetch(Path(folder)):
                profile = whole_profile(event, settings)
                store = Path(folder) / HISTORY
                turns = read_turns(store, project.root, catalog, profile)
                if compares:
                    by, cache = thresholds_of(project), Path(folder) / "cache"
                    doubts = read_doubts(store, project.root, catalog, profile, thresholds=by, cache=cache)
    suites, common = _suites(project), 0.0
    if settings.machines > 1:
        common = cost_of(control(catalog, [], settings), settings, suites).expected
    return Budget(seconds, suites, turns, doubts, machines=settings.machines, control_seconds=common)


def _suites(project: Project) -> dict[str, Suite]:
    from pushbench.catalog.suites import read_suites

    return {suite.id: suite for suite in read_suites(project.scenarios)}


def _take_up(project: Project, inputs: Inputs, *, as_json: bool) -> None:
    """Leave what the run measured that gave way, as the results so far, and its plan, as the plan."""
    from pushbench.ci import actions
    from pushbench.ci.going_on import take_up
    from pushbench.ci.result import write_results

    with github_of_job() as github:
        found = take_up(github, inputs)
    folder, made = results_folder(fresh_out(project)), found.result.plan
    write_results(folder, found)
    actions.set_outputs(
        {"measure": "true", "untrusted": "false", "source": made.sha, "earlier": "out/earlier", "shards": "[0]"}
    )
    tell(made, as_json=as_json)
