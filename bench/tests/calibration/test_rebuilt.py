"""A server against a separate build of the same code, and adding comparisons to those that count."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.calibration.faults import parse_fault
from pushbench.calibration.self_comparisons import CalibrationRequest, calibrate
from pushbench.catalog.servers import read_servers
from pushbench.cli.calibrate import add
from pushbench.cli.conclusion import thresholds_of
from pushbench.comparing.campaign import Budget
from pushbench.foundation.errors import UserError
from pushbench.foundation.git import git
from pushbench.foundation.project import Project
from pushbench.foundation.trees import commit_with
from pushbench.records import store
from pushbench.records.record import Record
from tests.comparisons import arms, compared
from tests.factories import make_record, make_trial
from tests.support import make_project
from tests.tiny_runs import UNVERIFIED, Notebook
from tests.tiny_runs import no_real_generator as no_real_generator  # noqa: PLC0414 - a fixture


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path / "checkout", x="")
    (made.root / ".gitignore").write_text(".cache/\nout/\n")
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "Begin"]):
        assert git(made.root, *identity, *command).ok
    return made


def measured(project: Project, fault: str = "rebuilt") -> Record:
    request = CalibrationRequest("tiny", "smoke", ["x"], parse_fault(fault), Budget(600.0, 1))
    return calibrate(project, request, UNVERIFIED, thresholds_of(project), Notebook())


@pytest.mark.slow
def test_both_arms_are_built_from_the_same_code_at_two_places(project: Project) -> None:
    record = measured(project)
    assert record.comparison
    assert record.comparison.injected == "rebuilt"
    assert len({trial.build for trial in record.trials}) == 1
    assert {trial.arm for trial in record.trials} == {"base", "head"}
    trees = list((project.cache / "trees").glob("?" * 40))
    assert [(tree / "servers/x/target/built").read_text() for tree in trees] == ["once "]


@pytest.mark.slow
def test_code_that_changed_is_not_alike(project: Project) -> None:
    (project.servers / "x" / "README").write_text("other sources\n")
    with pytest.raises(UserError, match="x: changed since the last commit"):
        measured(project)


@pytest.mark.slow
def test_a_change_without_a_meaning_is_a_commit_that_no_branch_has(project: Project) -> None:
    (project.servers / "x" / "README").write_text("work in progress, which is not measured\n")
    record = measured(project, "environment")
    assert record.comparison
    assert record.comparison.injected == "environment"
    assert len({trial.build for trial in record.trials}) == 2
    trees = sorted((project.cache / "trees").glob("?" * 40))
    head = git(project.root, "rev-parse", "HEAD").text
    [changed] = [tree for tree in trees if tree.name != head]
    assert len(trees) == 2, "both arms have a path of the same length"
    assert [
        each.spec.env.get("PADDING", "")[:2]
        for tree in (project.cache / "trees" / head, changed)
        for each in read_servers(tree / "servers" / "x")
    ] == ["", "xx"]
    assert git(project.root, "diff", "--name-only", head, changed.name).text == "servers/x/server.yml"
    assert git(project.root, "for-each-ref", "--contains", changed.name).text == ""


def test_the_same_change_is_the_same_commit_and_leaves_the_index_alone(project: Project) -> None:
    texts = {"servers/x/server.yml": "a: b\n", "new": "c\n"}
    first, second = (commit_with(project.root, "HEAD", texts, "Again") for _ in range(2))
    assert first == second
    assert git(project.root, "show", f"{first}:new").text == "c"
    assert git(project.root, "status", "--porcelain").text == ""


def test_a_server_without_such_a_change_is_named(project: Project) -> None:
    with pytest.raises(UserError, match="x: the change layout does not apply to it"):
        measured(project, "layout")


def test_added_comparisons_count_from_then_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(2):
        record = compared(arms("node-ws", rounds=20), injected="rebuilt").model_copy(update={"id": f"r{number}"})
        add([store.write_record(tmp_path / "out", record)], into=tmp_path / "corpus")
        text = capsys.readouterr().out
        assert text.startswith(f"Of {number + 1} real comparisons of a server with itself")
    assert len(list((tmp_path / "corpus").glob("*.json"))) == 2
    run = store.write_record(tmp_path / "out", make_record([make_trial("node-ws")]))
    with pytest.raises(UserError, match="not a comparison with a known answer"):
        add([run], into=tmp_path / "corpus")
    assert len(list((tmp_path / "corpus").glob("*.json"))) == 2
