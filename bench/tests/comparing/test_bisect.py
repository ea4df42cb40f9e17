"""A bisection keeps every step, skips commits that cannot be compared, and reports what it cannot search."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pushbench.comparing.bisect import BisectRequest, Searching, begin, only
from pushbench.comparing.bisection import Bisection, read_bisection
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import SuiteThresholds, Thresholds
from pushbench.records.record import OneSided, Record
from tests.comparisons import MARGINS, arms, compared
from tests.support import make_project

pytestmark = pytest.mark.slow

METRIC = "cpu_seconds_per_delivery"
THRESHOLDS = Thresholds(digest="d", suites={"tiny": SuiteThresholds(regressions=MARGINS)})
COMMITS = 12


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
    done = subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A commit with a server, then twelve commits that change it, each followed by one that changes another file."""
    project = make_project(tmp_path_factory.mktemp("history"), x="", y="")
    (project.root / ".gitignore").write_text(".cache/\nout/\n")
    git(project.root, "init", "-q", "--initial-branch=main")
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "-m", "Begin")
    git(project.root, "tag", "begin")
    for number in range(COMMITS):
        for path in (project.servers / "x" / "README", project.root / "NOTES"):
            path.write_text(f"{number}\n")
            git(project.root, "add", "-A")
            git(project.root, "commit", "-q", "-m", f"Change {path.name} {number}")
    return project


@pytest.fixture
def project(history: Project, tmp_path: Path) -> Project:
    return Project.at(history.root, tmp_path / "out")


Answers = Callable[[int], Record]


class Comparing:
    """Answers for commits by their number; keeps the numbers of the compared ones."""

    def __init__(self, project: Project, answer: Answers, *, dies_at: int = -1) -> None:
        self._project, self._answer, self._dies_at = project, answer, dies_at
        self.asked: list[int] = []

    def __call__(self, sha: str, thresholds: Thresholds) -> Record:
        if len(self.asked) == self._dies_at:
            raise KeyboardInterrupt
        number = int(git(self._project.root, "show", f"{sha}:servers/x/README"))
        self.asked.append(number)
        record = self._answer(number)
        return record.model_copy(update={"suite": "tiny"})


def slower_from(first: int, by: float = 0.15) -> Answers:
    return lambda number: compared(arms("x", cpu=by if number >= first else 0.0))


def search(project: Project, comparing: Comparing, *, total: float | None = None) -> Bisection:
    begun, path = begin(project, BisectRequest("begin", "main", "x"), THRESHOLDS)
    notes: list[str] = []
    playing = Searching(project, path, only(THRESHOLDS, "tiny", "x", METRIC), comparing, notes.append)
    return playing.play(begun, total)


def test_only_commits_that_change_the_server_are_candidates(project: Project) -> None:
    begun, _ = begin(project, BisectRequest("begin", "main", "x"), THRESHOLDS)
    assert begun.commits == 2 * COMMITS
    assert [each.subject for each in begun.candidates] == [f"Change README {number}" for number in range(COMMITS)]


@pytest.mark.parametrize("first", [0, 5, 11])
def test_the_commit_is_found_by_comparisons(project: Project, first: int) -> None:
    comparing = Comparing(project, slower_from(first))
    found = search(project, comparing)
    assert found.state == "found"
    assert [each.subject for each in found.culprits] == [f"Change README {first}"]
    assert found.effect == pytest.approx(0.15, abs=0.02)
    assert found.confidence and found.confidence >= 0.9
    assert len(comparing.asked) <= 6
    assert {step.word for step in found.steps} <= {"worse", "same"}


def test_a_commit_that_does_not_build_is_skipped_and_cannot_be_told_from_the_next(project: Project) -> None:
    def answer(number: int) -> Record:
        if number in (5, 6):
            return compared([], one_sided=[OneSided(server="x", reason="does not build", failed="head")])
        return slower_from(6)(number)

    found = search(project, Comparing(project, answer))
    assert [each.subject for each in found.culprits if each.probability > 0.1] == [
        f"Change README {number}" for number in (5, 6, 7)
    ]
    assert [step.reason for step in found.steps if step.word == "skipped"] == ["does not build"] * 2


def test_a_search_that_was_killed_goes_on_with_its_steps(project: Project) -> None:
    first = Comparing(project, slower_from(5), dies_at=3)
    with pytest.raises(KeyboardInterrupt):
        search(project, first)
    again = Comparing(project, slower_from(5))
    found = search(project, again)
    assert [each.subject for each in found.culprits] == ["Change README 5"]
    assert len(found.steps) == len(first.asked) + len(again.asked)
    assert len(found.steps) <= 7
    assert first.asked[0] == 11
    assert 11 not in again.asked


def test_without_time_it_says_what_is_most_probable_and_goes_on_later(project: Project) -> None:
    found = search(project, Comparing(project, slower_from(5)), total=0.0)
    assert (found.state, len(found.steps)) == ("running", 1)
    assert search(project, Comparing(project, slower_from(5))).state == "found"


def test_without_a_regression_there_is_nothing_to_search(project: Project) -> None:
    comparing = Comparing(project, slower_from(99))
    assert search(project, comparing).state == "no-regression"
    assert comparing.asked == [11]


def test_an_accepted_line_of_a_commit_hides_nothing(project: Project) -> None:
    assert only(THRESHOLDS, "tiny", "x", METRIC).suite("tiny").accepted == ()
    assert [each.metric for each in only(THRESHOLDS, "tiny", "x", METRIC).suite("tiny").regressions] == [METRIC]


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (BisectRequest("main", "begin", "x"), "does not descend from"),
        (BisectRequest("main", "main", "x"), "the same commit"),
        (BisectRequest("begin", "nowhere", "x"), "unknown commit"),
        (BisectRequest("begin", "main", "z"), "there is no server 'z' at --good"),
        (BisectRequest("begin", "main", "y"), "no commit between"),
        (BisectRequest("begin", "main", "x", metric="charm"), "no margin for 'charm'"),
    ],
)
def test_what_cannot_be_searched_is_said_before_anything_is_measured(
    project: Project, request_: BisectRequest, told: str
) -> None:
    with pytest.raises(UserError, match=told):
        begin(project, request_, THRESHOLDS)


def commit(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", f"Change {path}")


def test_commits_of_another_repository_are_searched(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="")
    described = (project.servers / "x" / "server.yml").read_text()
    own = tmp_path / "own"
    own.mkdir()
    git(own, "init", "-q", "--initial-branch=main")
    commit(own, "main.js", "0")
    git(own, "tag", "begin")
    commit(own, "main.js", "1")
    commit(own, "bench/mine/server.yml", f"{described}source: ../..\n")
    commit(own, "bench/mine/thresholds.yml", "version: 1\n")
    commit(own, "lib/more.js", "2")
    (project.servers / "mine").symlink_to(own / "bench" / "mine")
    begun, _ = begin(project, BisectRequest("begin", "main", "mine"), THRESHOLDS)
    assert begun.commits == 4
    assert [each.subject for each in begun.candidates] == ["Change main.js", "Change lib/more.js"]
    assert begun.good == git(own, "rev-parse", "begin")
    with pytest.raises(UserError, match=f"no commit between .* changes {own}"):
        begin(project, BisectRequest("main~2", "main~1", "mine"), THRESHOLDS)


def test_a_file_that_is_no_bisection_is_named(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"schema": 1}')
    with pytest.raises(UserError, match="not a bisection: created"):
        read_bisection(path)
