"""`pushbench ci plan`: what the event of a job measures."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import typer

from pushbench.cli.ci.job import fresh_out, results_folder, tell
from pushbench.cli.options import JsonOption

_EXAMPLE = "Example: `pushbench ci plan --json` in a job of GitHub Actions; its outputs are plan, steps and said."


def register(group: typer.Typer) -> None:
    group.command("plan", epilog=_EXAMPLE)(plan)


def plan(*, as_json: JsonOption = False) -> None:
    """Say what the event of this job measures, and why not more.

    Reads GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_REPOSITORY and GITHUB_SHA; PUSHBENCH_PUSH_PROFILE,
    PUSHBENCH_CHECK_PROFILE, PUSHBENCH_COMPARE_PROFILE, PUSHBENCH_MAX_TIME and PUSHBENCH_DRIVER change what is measured.
    Fetches what it compares; a private repository needs GITHUB_TOKEN for that, with the permission contents: read.
    """
    from pushbench.catalog import read_catalog
    from pushbench.ci import actions
    from pushbench.ci.change import read_change
    from pushbench.ci.event import read_event
    from pushbench.ci.plan import Settings, make_plan
    from pushbench.ci.result import Result, StepResult, write_result
    from pushbench.project import Project

    project = Project.current()
    event = read_event(os.environ)
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
            "steps": str(len(made.steps)),
            "said": "; ".join(made.notes),
            "measure": str(bool(made.steps) and not waits).lower(),
            "untrusted": str(made.untrusted).lower(),
        }
    )
    tell(made, as_json=as_json)
