"""The newest runs of bench.yml: those that wait for the machine, and how long finished ones took."""

from __future__ import annotations

from pathlib import PurePosixPath

from pydantic import TypeAdapter

from pushbench.ci.github import READ_ACTIONS, GitHub
from pushbench.ci.github_answers import Answer, Run
from pushbench.ci.trust import WORKFLOW


class Runs(Answer):
    workflow_runs: list[Run]


RUNS = TypeAdapter(Runs)


def newest_runs(github: GitHub) -> list[Run]:
    """The newest 100, the newest first; one request, so that a long queue costs no more than a short one."""
    path = f"/actions/workflows/{PurePosixPath(WORKFLOW).name}/runs"
    page = next(github.pages(path, READ_ACTIONS, RUNS), None)
    return page.workflow_runs if page else []
