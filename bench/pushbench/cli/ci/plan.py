"""`pushbench ci plan`: what the event of a job measures."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from pushbench.cli.ci.job import fresh_out, github_of_job, results_folder, tell
from pushbench.cli.options import JsonOption

if TYPE_CHECKING:
    from pushbench.ci.event import Inputs
    from pushbench.foundation.project import Project

_EXAMPLE = "Example: `pushbench ci plan --json` in a job of GitHub Actions; its output plan is for later jobs."


def register(group: typer.Typer) -> None:
    group.command("plan", epilog=_EXAMPLE)(plan)


def plan(*, as_json: JsonOption = False) -> None:
    """Say what the event of this job measures, and why not more.

    A run that goes on with one that gave way has the plan and the results of that run.

    Reads GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_REPOSITORY and GITHUB_SHA; PUSHBENCH_PUSH_PROFILE,
    PUSHBENCH_CHECK_PROFILE, PUSHBENCH_COMPARE_PROFILE, PUSHBENCH_MAX_TIME and PUSHBENCH_DRIVER change what is measured.
    Fetches what it compares; a private repository needs GITHUB_TOKEN for that, with the permission contents: read.
    To go on with a run, also GITHUB_API_URL and GITHUB_TOKEN, which needs the permission actions: read.
    """
    from pushbench.catalog.servers import read_catalog
    from pushbench.ci import actions
    from pushbench.ci.change import read_change
    from pushbench.ci.event import read_event
    from pushbench.ci.plan import Settings, make_plan
    from pushbench.ci.result import Result, StepResult, write_result
    from pushbench.foundation.project import Project

    project = Project.current()
    event = read_event(os.environ)
    if event.inputs.continue_:
        _take_up(project, event.inputs, as_json=as_json)
        return
    change = read_change(project.root, event, os.environ.get("GITHUB_TOKEN", ""))
    today = datetime.now(UTC).date()
    made = make_plan(event, read_catalog(project.servers), change, Settings.read(os.environ), today)
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
        }
    )
    tell(made, as_json=as_json)


def _take_up(project: Project, inputs: Inputs, *, as_json: bool) -> None:
    """Leave what the run measured that gave way, as the results so far, and its plan, as the plan."""
    from pushbench.ci import actions
    from pushbench.ci.going_on import take_up
    from pushbench.ci.result import write_measured, write_result

    with github_of_job() as github:
        found = take_up(github, inputs)
    folder, made = results_folder(fresh_out(project)), found.result.plan
    for number, measured in found.measured.items():
        write_measured(folder, number, measured.record, measured.verdict)
    write_result(folder, found.result)
    actions.set_outputs({"measure": "true", "untrusted": "false", "source": made.sha, "earlier": "out/earlier"})
    tell(made, as_json=as_json)
