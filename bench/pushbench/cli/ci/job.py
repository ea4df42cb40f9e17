"""The common parts of a job's commands: its variables, its plan, its folders."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.foundation.errors import UserError

if TYPE_CHECKING:
    from pushbench.ci.branch import Branch
    from pushbench.ci.github import GitHub
    from pushbench.ci.intending import Promises
    from pushbench.ci.plan import Plan
    from pushbench.ci.yielding import Queue
    from pushbench.foundation.project import Project

RunOption = Annotated[int, typer.Option("--run", min=1, help="Of the workflow bench.", metavar="ID")]


def tell(made: Plan, *, as_json: bool) -> None:
    """Pass the plan to later jobs, and show it in the step's summary and on stdout."""
    from pushbench.ci import actions
    from pushbench.ci.drafting import of_plan

    actions.set_outputs({"plan": made.model_dump_json(by_alias=True)})
    actions.add_summary(of_plan(made))
    if as_json:
        options.print_json(made.model_dump(mode="json", by_alias=True))
        return
    for step in made.steps:
        print(f"./pushbench {' '.join(step.arguments)}: {step.why}")
    for note in made.notes:
        print(note)


def planned_by() -> Plan:
    """The plan in the variable PLAN, or the part of it that SHARD names, counted from 1. Raises UserError."""
    from pydantic import ValidationError

    from pushbench.ci.plan import Plan
    from pushbench.ci.sharding import part

    try:
        planned = Plan.model_validate_json(os.environ.get("PLAN", ""))
    except ValidationError as error:
        raise UserError(f"PLAN is not what `pushbench ci plan` says: {error.errors()[0]['msg']}") from None
    shard = os.environ.get("SHARD") or "0"
    if not re.fullmatch(r"[0-9]{1,3}", shard, re.ASCII):
        raise UserError(f"SHARD is {shard[:40]!r}, no number")
    return part(planned, int(shard)) if int(shard) else planned


def fresh_out(project: Project) -> Path:
    """An empty out/ci, without the results of an earlier job."""
    folder = project.out / "ci"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def results_folder(out: Path) -> Path:
    return out / "results"


def promises_of(project: Project) -> Promises:
    """What the files of the checkout have, for the lines that a comment proposes."""
    from pushbench.catalog.servers import read_catalog
    from pushbench.ci.intending import Promises

    own = {server.id: _text_of(server.thresholds_file) for server in read_catalog(project.servers)}
    return Promises(_text_of(project.thresholds), {server: text for server, text in own.items() if text is not None})


def _text_of(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.exists() else None


def branch_of(project: Project, name: str) -> Branch:
    from pushbench.ci.branch import Branch
    from pushbench.foundation.git import git

    url = git(project.root, "remote", "get-url", "origin").text
    if not url:
        raise UserError("the checkout has no origin", where=str(project.root))
    return Branch(url, name, os.environ.get("GITHUB_TOKEN", ""))


def github_of_job(token: str = "") -> GitHub:
    """The repository of this job: GITHUB_REPOSITORY, GITHUB_API_URL, and GITHUB_TOKEN where no `token` is given.
    Raises UserError."""
    from pushbench.ci.github import API, GitHub

    api = os.environ.get("GITHUB_API_URL") or API
    return GitHub(variable("GITHUB_REPOSITORY"), token or variable("GITHUB_TOKEN"), note=options.note, api=api)


def queue_of_job() -> Queue:
    """Who waits for the machine of this job, by GITHUB_REPOSITORY, GITHUB_TOKEN, GITHUB_RUN_ID and GITHUB_REF_NAME.
    Raises UserError."""
    from pushbench.ci.github import API, GitHub
    from pushbench.ci.yielding import Queue, impatient

    api = os.environ.get("GITHUB_API_URL") or API
    repository, token = variable("GITHUB_REPOSITORY"), variable("GITHUB_TOKEN")
    github = GitHub(repository, token, note=options.note, api=api, sleep=impatient)
    return Queue(github, run_of_job(), variable("GITHUB_REF_NAME"), options.note)


def run_of_job() -> int:
    """GITHUB_RUN_ID. Raises UserError."""
    value = variable("GITHUB_RUN_ID")
    if not re.fullmatch(r"[0-9]{1,20}", value):
        raise UserError(f"GITHUB_RUN_ID is {value[:40]!r}, no number")
    return int(value)


def variable(name: str) -> str:
    """Raises UserError where it is not set."""
    value = os.environ.get(name, "")
    if not value:
        raise UserError(f"{name} is not set", hint="it is in a job of GitHub Actions; elsewhere set it yourself")
    return value
