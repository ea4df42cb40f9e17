"""Runs to report, and the state of GitHub after a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pushbench.ci import result as results
from pushbench.ci.causes import Cause
from pushbench.ci.reporting import report
from pushbench.judging.verdict import judge
from pushbench.records.record import Record
from tests.ci.double_reporting import Reported as Double
from tests.ci.github_double import RUN, run
from tests.ci.job_results import files, make_result, zipped
from tests.factories import make_record, make_thresholds, make_trial

SLOW = {"delivery_seconds.p95": 0.9}


def artifact(folder: Path, record: Record | None = None, **changed: object) -> bytes:
    """The artifact of a job that measured one record, with its verdict."""
    folder.mkdir(exist_ok=True)
    record = record or make_record([make_trial("node-ws")])
    verdict = judge(record, make_thresholds(folder))
    results.write_result(folder, make_result(verdict.outcome, measured=1, **changed))
    results.write_measured(folder, 1, record, verdict)
    return zipped(files(folder))


def dispatched(**changed: object) -> dict[str, object]:
    """A run that a user with write access started on the default branch."""
    return run(**{"event": "workflow_dispatch", "head_branch": "main", "head_sha": "d" * 40, **changed})


def told(double: Double, site: str = "") -> list[str]:
    said: list[str] = []
    with double.github(said.append) as github:
        report(github, RUN, site, said.append, folders=frozenset({"node-ws", "fastapi"}))
    for check in double.checks:  # the check that counts and the status of the same name always agree
        [*_, newest] = [each for each in double.checks if each["head_sha"] == check["head_sha"]]
        [*_, status] = [each for each in double.statuses if each["sha"] == check["head_sha"]]
        assert (status["state"] == "success") == (newest.get("conclusion") == "success")
        assert (status["state"] == "pending") >= (newest["status"] == "in_progress")
    return said


SLOW_CAUSE = Cause("limit", "node-ws", "delivery_seconds.p95")


def night(**changed: Any) -> dict[str, Any]:
    values = {"event": "workflow_dispatch", "display_title": "bench night", "head_branch": "main"}
    return run(**{**values, **changed})
