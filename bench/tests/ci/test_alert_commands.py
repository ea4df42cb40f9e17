"""The commands `ci alert` and `ci watch`, as the workflows call them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.cli import app
from tests.ci.double_issues import issue
from tests.ci.double_watch import machine, workflow
from tests.ci.github_double import RUN, Double
from tests.ci.reported_runs import SLOW, artifact, night
from tests.factories import make_record, measured

SECRET = "T0000-B0000-XyZ"


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    double = Double(
        permissions={
            "actions": "write",
            "checks": "read",
            "issues": "write",
            "pull-requests": "read",
            "statuses": "read",
        }
    )
    with double.served() as url:
        monkeypatch.setenv("GITHUB_API_URL", url)
        monkeypatch.setenv("GITHUB_TOKEN", "ghs_token")
        monkeypatch.setenv("GITHUB_REPOSITORY", "acme/pushbench")
        monkeypatch.setenv("PUSHBENCH_WEBHOOK", f"https://127.0.0.1:1/{SECRET}")
        monkeypatch.delenv("PUSHBENCH_RUNNERS_TOKEN", raising=False)
        yield double


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        app(["ci", *arguments])
    code = ended.value.code
    assert isinstance(code, int)
    return code


def test_a_webhook_that_cannot_be_reached_fails_nothing_and_stays_a_secret(
    double: Double, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    double.run, double.artifacts = night(), {"results": artifact(tmp_path, make_record([measured("node-ws", SLOW)]))}
    assert run("alert", "--run", str(RUN)) == 0
    said = "".join(capfd.readouterr())
    assert len(double.issues) == 1
    assert "issue opened: https://github.com/acme/pushbench/issues/1" in said
    assert "webhook: it cannot be reached" in said
    assert SECRET not in said


def test_one_turn_of_the_watch(double: Double, capfd: pytest.CaptureFixture[str]) -> None:
    double.workflows = [workflow("night.yml", "disabled_inactivity"), workflow("report.yml", "disabled_manually")]
    assert run("watch") == 0
    assert [each["state"] for each in double.workflows] == ["active", "disabled_manually"]
    assert "report.yml is switched off" in double.issues[0]["title"]
    assert SECRET not in "".join(capfd.readouterr())


@pytest.mark.slow
def test_the_token_that_lists_machines_is_used_for_that(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    assert double.permissions
    double.permissions["administration"] = "read"
    double.machines = [machine()]
    double.issues = [issue(1, "<!-- pushbench alert\nmachine runner gone\n-->", "pushbench")]
    monkeypatch.setenv("PUSHBENCH_RUNNERS_TOKEN", "github_pat_token")
    assert run("watch") == 0
    assert double.issues[0]["state"] == "closed"


def test_only_the_schedules(double: Double) -> None:
    double.permissions = {"actions": "write"}
    double.workflows = [workflow("watch.yml", "disabled_inactivity")]
    assert run("watch", "--only-schedules") == 0
    assert double.workflows[0]["state"] == "active"
    assert double.issues == []
