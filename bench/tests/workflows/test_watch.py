"""The workflow watch, and the steps of report that open issues about red nights, with the permissions of their jobs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pushbench.ci.causes import MACHINE, Cause, causes_of, marked
from pushbench.ci.github_issues import LABEL
from pushbench.foundation.yamlfile import read_yaml
from tests.ci.double_issues import issue, open_issues
from tests.ci.double_queue import queued
from tests.ci.double_reporting import Reported
from tests.ci.double_watch import workflow
from tests.ci.github_double import Double, job, run
from tests.ci.reported_runs import SLOW, SLOW_CAUSE, artifact
from tests.factories import make_record, measured
from tests.workflows.forge import ROOT, Forge

pytestmark = [pytest.mark.workflows]


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    return Forge(tmp_path_factory.mktemp("forge"))


def rights(file: str, name: str) -> dict[str, str]:
    workflow_file = read_yaml(ROOT / ".github" / "workflows" / file).data
    return dict(workflow_file["jobs"][name]["permissions"])


def test_the_watch_enables_what_stopped_and_closes_the_issue_of_a_machine_that_is_back(forge: Forge) -> None:
    hour_ago = f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
    at_work: dict[str, Any] = {**queued(status="in_progress"), "created_at": hour_ago, "runner_id": 7}
    going_on = run(id=11, status="in_progress", conclusion=None, created_at=hour_ago, updated_at=hour_ago)
    double = Double(
        permissions=rights("watch.yml", "watch"),
        workflows=[workflow("night.yml", "disabled_inactivity"), workflow("bench.yml", "disabled_manually")],
        issues=[issue(1, marked([MACHINE]), LABEL)],
        others=[(going_on, [at_work])],
    )
    with double.served() as url:
        played = forge.act("schedule", {"schedule": "37 * * * *"}, "watch.yml", GITHUB_API_URL=url)
    assert played.passed, played.output[-4000:]
    assert [each["state"] for each in double.workflows] == ["active", "disabled_manually"]
    assert double.issues[0]["state"] == "closed"
    [left] = open_issues(double)
    assert causes_of(left["body"]) == {Cause("workflow", "bench.yml", "disabled_manually")}


def test_the_report_of_a_red_night_opens_an_issue_and_keeps_the_watch_alive(forge: Forge, tmp_path: Path) -> None:
    double = Reported(
        permissions=rights("report.yml", "report"),
        run=run(event="workflow_dispatch", display_title="bench night", head_branch="main", conclusion="failure"),
        jobs=[job("plan"), job("bench", "failure", "Bench")],
        artifacts={"results": artifact(tmp_path, make_record([measured("node-ws", SLOW)]))},
        workflows=[workflow("watch.yml", "disabled_inactivity")],
    )
    with double.served() as url:
        played = forge.act(
            "workflow_run", {"action": "completed", "workflow_run": double.run}, "report.yml", GITHUB_API_URL=url
        )
    assert played.passed, played.output[-4000:]
    [opened] = double.issues
    assert causes_of(opened["body"]) == {SLOW_CAUSE}
    assert double.workflows[0]["state"] == "active"
