"""A run kills what its profile names, continues with the restarted server, and records the recovery."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.foundation.project import Project
from pushbench.measuring import run
from pushbench.measuring.run import RunRequest
from pushbench.records.record import Record
from tests.support import SUITE, make_project
from tests.tiny_runs import UNVERIFIED, Notebook
from tests.tiny_runs import no_real_generator as no_real_generator  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.slow

RECOVERY = """\
  recovery:
    <<: *short
    stages:
      - {name: killed, clients: 20, outage: {kill: server, at_seconds: 1, within_seconds: 1}}
      - {name: without, clients: 20, outage: {kill: service, at_seconds: 1, within_seconds: 1}}
    steady_seconds: 2.2
"""


def recovered(folder: Path, behaviour: str = "") -> tuple[Project, Record]:
    project = make_project(folder, x=behaviour)
    words = SUITE.replace("  headline:", "  recovers: true\n  headline:")
    (project.scenarios / "tiny.yml").write_text(words + RECOVERY)
    return project, run.run(project, RunRequest("tiny", "recovery", ("x",), {}), UNVERIFIED, Notebook())


def test_a_server_that_was_killed_goes_on_and_its_recovery_is_in_the_record(tmp_path: Path) -> None:
    project, record = recovered(tmp_path / "checkout")
    [trial] = record.trials
    assert trial.failure is None
    killed, without = trial.stages
    assert killed.outage
    assert killed.outage.kill_seconds == pytest.approx(1.1, abs=0.15), "1 s into the window, which begins after 0.1 s"
    late = killed.outage.kill_seconds - 1.1
    assert killed.metrics["recovery_seconds"] == pytest.approx(0.8 - late, abs=0.01)
    assert (killed.metrics["outage_lost"], killed.metrics["loss_ratio"]) == (7, 0)
    assert killed.metrics["cpu_cores"] is not None, "over both of its lives"
    assert (project.logs / "x.log").read_text().count("hello") == 1, "of its second life"
    assert without.outage is None
    assert "recovery_seconds" not in without.metrics
    [finding] = [each for each in trial.validity.warnings if each.code == "no_outage"]
    assert (finding.message, finding.stage) == ("nothing was killed, because the server has no service", 1)


def test_a_server_that_does_not_come_up_again_has_failed(tmp_path: Path) -> None:
    _, record = recovered(tmp_path / "checkout", "once")
    [trial] = record.trials
    assert trial.failure
    assert trial.failure.message == "the server ended under load with exit code 4"
