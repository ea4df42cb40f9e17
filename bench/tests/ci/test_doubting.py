"""A push compares servers whose history is inconclusive: a real repository, a real history, and their plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from pushbench.catalog.servers import read_catalog
from pushbench.ci.budget import CANNOT_TELL, LOOKS_WORSE, Budget, Doubt
from pushbench.ci.doubting import read_doubts
from pushbench.ci.plan import Plan, make_plan
from pushbench.ci.steps import Settings
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Regression, SuiteThresholds, Thresholds
from pushbench.metrics.definitions import metrics_of
from pushbench.records import history
from pushbench.records.vocabulary import ORIGINAL
from tests.ci.budgets import catalog_of, checkout, suites_of
from tests.ci.events import push, read
from tests.ci.repositories import git
from tests.factories import make_record, measured
from tests.support import make_project

CPU = metrics_of(ORIGINAL)["cpu_seconds_per_delivery"]
THRESHOLDS = Thresholds("", {"tiny": SuiteThresholds(regressions=(Regression(CPU, 0.05, 0.0, CPU.better),))})
QUIET = (0.0, 0.01, -0.01, 0.005, -0.005)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path / "checkout", alpha="", beta="")
    git(made.root, "init")
    commit(made)
    return made


def commit(project: Project) -> str:
    git(project.root, "add", "--all")
    git(project.root, "commit", "--allow-empty", "-m", "x")
    return git(project.root, "rev-parse", "HEAD")


def keep(store: Path, day: int, sha: str, **factors: float) -> None:
    trials = [measured(server, {CPU.name: 40e-6 * factor}) for server, factor in factors.items()]
    made = make_record(trials)
    assert made.commit
    values = {
        "id": f"202611{day:02d}T101500Z-000000",
        "created": f"2026-11-{day:02d}T10:15:00+00:00",
        "commit": made.commit.model_copy(update={"sha": sha}),
        "suite": "tiny",
        "profile": "full",
    }
    history.append(store, made.model_copy(update=values))


def doubts(store: Path, project: Project) -> list[Doubt]:
    catalog = read_catalog(project.servers)
    return read_doubts(store, project.root, catalog, "full", thresholds=THRESHOLDS, cache=store / "cache")


def told(found: Sequence[Doubt]) -> list[tuple[str, str, str]]:
    return [(doubt.server.id, doubt.base, doubt.why) for doubt in found]


def noisy_beta(store: Path, project: Project) -> str:
    sha = git(project.root, "rev-parse", "HEAD")
    for day in range(1, 16):
        off = QUIET[day % 5]
        keep(store, day, sha, alpha=1 + off, beta=1 + 8 * off)
    return sha


def test_a_changed_server_whose_runs_scatter_is_compared_with_the_last_run(tmp_path: Path, project: Project) -> None:
    store = tmp_path / "history"
    sha = noisy_beta(store, project)
    assert doubts(store, project) == [], "nothing changed"
    for server in ("alpha", "beta"):
        (project.servers / server / "new.txt").write_text("x")
    commit(project)
    assert told(doubts(store, project)) == [("beta", sha, CANNOT_TELL)], "of alpha the history can tell"


def test_what_looks_worse_is_compared_with_the_run_before_and_comes_first(tmp_path: Path, project: Project) -> None:
    store = tmp_path / "history"
    sha = noisy_beta(store, project)
    (project.servers / "beta" / "new.txt").write_text("x")
    newer = commit(project)
    keep(store, 16, newer, alpha=1.12)
    assert told(doubts(store, project)) == [("alpha", sha, LOOKS_WORSE), ("beta", sha, CANNOT_TELL)]


def test_what_is_certain_needs_no_comparison(tmp_path: Path, project: Project) -> None:
    store = tmp_path / "history"
    noisy_beta(store, project)
    newer = commit(project)
    for day in range(16, 22):
        keep(store, day, newer, alpha=1.5)
    assert doubts(store, project) == []


@pytest.mark.parametrize("sha", ["f" * 40, "--output=x"])
def test_a_commit_that_is_no_part_of_the_checkout_is_no_base(tmp_path: Path, project: Project, sha: str) -> None:
    store = tmp_path / "history"
    for day in range(1, 5):
        keep(store, day, sha, alpha=1)
    assert doubts(store, project) == []


def test_a_commit_of_another_branch_is_no_base(tmp_path: Path, project: Project) -> None:
    store = tmp_path / "history"
    first = git(project.root, "rev-parse", "HEAD")
    (project.servers / "alpha" / "new.txt").write_text("x")
    elsewhere = commit(project)
    git(project.root, "reset", "--hard", first)
    for day in range(1, 5):
        keep(store, day, elsewhere, alpha=1)
    assert doubts(store, project) == []


def planned(folder: Path, *found: tuple[str, str, str], **settings: str) -> Plan:
    """The plan of a push with doubts: a server, the digit of its base, and the reason."""
    made = checkout(folder / "other")
    servers = {server.id: server for server in catalog_of(made)}
    doubts = [Doubt(servers[name], digit * 40, f"2026-11-0{digit}", why) for name, digit, why in found]
    budget = Budget(None, suites_of(made), {}, doubts)
    event = read(folder, "push", push())
    return make_plan(event, list(servers.values()), None, Settings(**settings), date(2026, 11, 21), budget=budget)


def test_the_plan_compares_with_the_oldest_base_after_all_runs(tmp_path: Path) -> None:
    plan = planned(tmp_path, ("beta", "3", LOOKS_WORSE), ("alpha", "2", CANNOT_TELL))
    assert [step.kind for step in plan.steps] == ["run", "run", "compare"]
    expected = f"compare --base {'2' * 40} --suite tiny --profile compare --max-time 10m --servers beta,alpha"
    assert " ".join(plan.steps[-1].arguments) == expected
    assert plan.base == "2" * 40


def test_only_as_many_are_compared_as_there_is_time_for(tmp_path: Path) -> None:
    found = [("beta", "3", LOOKS_WORSE), ("alpha", "3", LOOKS_WORSE)]
    plan = planned(tmp_path / "short", *found, doubt_time="10m")
    assert plan.steps[-1].servers == ["beta"]
    assert any(note.endswith("PUSHBENCH_DOUBT_TIME is too short to compare them: alpha") for note in plan.notes)
    assert planned(tmp_path / "none", *found, doubt_time="0").base is None
    assert planned(tmp_path / "sure").base is None


def test_the_time_is_a_quarter_of_the_job_at_most_and_has_to_be_one() -> None:
    assert Settings(doubt_time="30m", job_time="1h").doubt_seconds == 15 * 60
    assert replace(Settings(), doubt_time="0").doubt_seconds == 0
    with pytest.raises(UserError, match="PUSHBENCH_DOUBT_TIME"):
        Settings.read({"PUSHBENCH_DOUBT_TIME": "soon"})
