"""Only points of the trend are published, each once, when they are completely measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushbench.ci import result as results
from pushbench.ci.publishing import of_run
from pushbench.ci.result import Outcome, Results
from pushbench.foundation.errors import UserError
from pushbench.judging.verdict import judge
from tests.ci.events import HEAD
from tests.ci.github_double import FORK, RUN, Double, run
from tests.ci.job_results import files, make_result, zipped
from tests.factories import make_record, make_thresholds, make_trial

PUSH = {"event": "push", "head_branch": "main", "display_title": "Faster"}
NIGHT = {"event": "workflow_dispatch", "head_branch": "main", "display_title": "bench night"}


def artifact(folder: Path, outcome: Outcome = "pass", sha: str = HEAD) -> bytes:
    record = make_record([make_trial("node-ws")])
    results.write_result(folder, make_result(outcome, measured=1, sha=sha))
    results.write_measured(folder, 1, record, judge(record, make_thresholds(folder)))
    return zipped(files(folder))


def published(double: Double) -> Results | str:
    double.permissions = {"contents": "write", "actions": "read"}
    with double.github() as github:
        return of_run(github, RUN, sleep=lambda _: None)


@pytest.mark.parametrize(
    "of", [PUSH, PUSH | {"conclusion": "failure"}, NIGHT, NIGHT | {"display_title": f"bench continues 17 at {HEAD}"}]
)
def test_pushes_nights_and_what_goes_on_with_them_are_published(tmp_path: Path, of: dict[str, Any]) -> None:
    found = published(Double(run=run(**of), artifacts={"results": artifact(tmp_path)}))
    assert isinstance(found, Results)
    assert found.measured[1].record.servers == ["node-ws"]


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ({"event": "pull_request"}, "neither a push nor a night"),
        (PUSH | {"event": "pull_request"}, "neither a push nor a night"),
        (PUSH | {"head_branch": "mine"}, "comes from another branch than main"),
        (PUSH | {"head_repository": FORK}, "comes from another repository"),
        (PUSH | {"conclusion": "cancelled"}, f"the run {RUN} is cancelled"),
        (NIGHT | {"display_title": "bench on demand"}, "neither a push nor a night"),
        (NIGHT | {"display_title": f"bench pull request 7 at {HEAD}"}, "neither a push nor a night"),
    ],
)
def test_nothing_else_is_published_and_it_is_said_why(tmp_path: Path, of: dict[str, Any], said: str) -> None:
    found = published(Double(run=run(**of), artifacts={"results": artifact(tmp_path)}))
    assert isinstance(found, str)
    assert said in found


def test_a_run_that_gave_way_is_published_by_the_one_that_goes_on_with_it(tmp_path: Path) -> None:
    found = published(Double(run=run(**NIGHT), artifacts={"results": artifact(tmp_path, "gave-way")}))
    assert isinstance(found, str)
    assert "gave way: it is published when another run has completed it" in found


def test_another_default_branch_is_published_as_well(tmp_path: Path) -> None:
    of = PUSH | {"head_branch": "trunk"}
    double = Double(run=run(**of), artifacts={"results": artifact(tmp_path)}, default_branch="trunk")
    assert isinstance(published(double), Results)


def test_results_of_another_commit_and_missing_ones_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no results"):
        published(Double(run=run(**PUSH)))
    with pytest.raises(UserError, match="its results are for eeeeeeeeeeee"):
        published(Double(run=run(**PUSH), artifacts={"results": artifact(tmp_path, sha="e" * 40)}))


def test_a_run_that_does_not_end_is_an_error_and_not_forgotten(tmp_path: Path) -> None:
    double = Double(run=run(**PUSH, conclusion=None, status="in_progress"), artifacts={"results": artifact(tmp_path)})
    with pytest.raises(UserError, match=r"is still in_progress; start publish\.yml again"):
        published(double)


def test_a_run_of_another_workflow_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"not of \.github/workflows/bench\.yml"):
        published(Double(run=run(path=".github/workflows/ci.yml"), artifacts={"results": artifact(tmp_path)}))
