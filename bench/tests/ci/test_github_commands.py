"""A comment starts one run and gets one reply; a stranger's comment gets a reaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushbench.catalog.servers import read_catalog
from pushbench.ci.commanding import CommentEvent, Known
from pushbench.ci.github_commands import obey
from pushbench.ci.github_connection import GitHubError
from pushbench.ci.github_dispatch import dispatch
from pushbench.foundation.yamlfile import read_yaml
from tests.ci.double_commands import Commanded
from tests.ci.events import HEAD, OLD
from tests.ci.github_double import BOT, FIRST_DISPATCHED, FORK, REPO, Answer, pull
from tests.support import make_project

WORKFLOWS = Path(__file__).parents[3] / ".github" / "workflows"


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    root = tmp_path_factory.mktemp("project")
    return Known(read_catalog(make_project(root, alpha="").servers), ["quick", "full"])


def github(repository: dict[str, Any] = REPO, **changed: Any) -> Commanded:
    """A double with the permissions of command.yml."""
    granted = read_yaml(WORKFLOWS / "command.yml").data["jobs"]["command"]["permissions"]
    author = {"login": "octocat" if repository == REPO else "stranger"}
    return Commanded(permissions=granted, pulls=[{**pull(repository=repository), "user": author, **changed}])


def say(double: Commanded, known: Known, body: str, login: str = "octocat", comment: int = 99) -> list[str]:
    said: list[str] = []
    event = CommentEvent(number=7, comment=comment, body=body, login=login, default_branch="main")
    with double.github(said.append) as connection:
        obey(connection, event, known, said.append)
    return said


def replies(double: Commanded) -> list[str]:
    return [comment["body"] for comment in double.comments]


@pytest.mark.parametrize("login", ["octocat", "maintainer"])
def test_a_command_gets_a_reaction_a_run_and_a_reply(known: Known, login: str) -> None:
    double = github()
    say(double, known, "/pushbench servers=alpha rounds=3", login)
    assert double.reactions == [(99, "eyes")]
    assert double.commanded == [{"pull_request": "7", "servers": "alpha", "rounds": "3", "head": HEAD}]
    [reply] = replies(double)
    assert (
        f"[Run {FIRST_DISPATCHED + 1}](https://github.com/acme/pushbench/actions/runs/{FIRST_DISPATCHED + 1})" in reply
    )
    assert double.comments[0]["number"] == 7


@pytest.mark.parametrize("login", ["triager", "nobody"])
@pytest.mark.parametrize("body", ["/pushbench", "/pushbench help", "/pushbench nonsense"])
def test_people_without_write_access_get_a_reaction_only(known: Known, login: str, body: str) -> None:
    double = github()
    said = say(double, known, body, login)
    assert (double.reactions, double.commanded, double.comments) == ([(99, "confused")], [], [])
    assert said == [f"{login} has no write access: nothing is started"]


def test_a_comment_that_only_begins_like_a_command_is_left_alone(known: Known) -> None:
    double = github()
    say(double, known, "/pushbenchmark")
    assert (double.reactions, double.comments) == ([], [])


@pytest.mark.parametrize(
    "double",
    [
        github(FORK),
        github(user={"login": "dependabot[bot]"}),
        github(user=None),
        github(head={**pull()["head"], "repo": None}),
    ],
    ids=["fork", "dependabot", "ghost", "gone"],
)
def test_what_strangers_wrote_starts_by_its_full_name_only(known: Known, double: Commanded) -> None:
    say(double, known, "/pushbench")
    say(double, known, f"/pushbench head={OLD}", comment=100)
    assert double.commanded == []
    first, second = replies(double)
    assert f"/pushbench head={HEAD}" in first
    assert f"is at {HEAD}, not at {OLD}" in second
    say(double, known, f"/pushbench head={HEAD}", comment=101)
    assert double.commanded == [{"pull_request": "7", "head": HEAD}]


def test_a_wrong_command_gets_the_usage(known: Known) -> None:
    double = github()
    say(double, known, "/pushbench severs=alpha")
    assert double.commanded == []
    [reply] = replies(double)
    assert "Did you mean servers?" in reply
    assert "/pushbench servers=node-ws profile=full rounds=3" in reply


def test_the_same_command_again_names_the_run_while_that_has_not_ended(known: Known) -> None:
    double = github()
    say(double, known, "/pushbench profile=full")
    say(double, known, "/pushbench  profile=full ", comment=100)
    assert len(double.commanded) == 1
    assert "Pushbench: already under way" in replies(double)[1]
    assert f"[Run {FIRST_DISPATCHED + 1}]" in replies(double)[1]
    say(double, known, "/pushbench", comment=101)
    assert len(double.commanded) == 2, "another command is another run"
    double.others[0][0].update({"status": "completed", "conclusion": "success"})
    say(double, known, "/pushbench profile=full", comment=102)
    assert len(double.commanded) == 3


def test_a_reply_that_somebody_else_wrote_names_no_run(known: Known) -> None:
    double = github()
    say(double, known, "/pushbench")
    double.comments[0]["user"] = {"login": "stranger"}
    say(double, known, "/pushbench", comment=100)
    assert len(double.commanded) == 2
    assert double.comments[1]["user"] == BOT


def test_a_run_that_was_deleted_is_started_again(known: Known) -> None:
    double = github()
    say(double, known, "/pushbench")
    double.others.clear()
    say(double, known, "/pushbench", comment=100)
    assert len(double.commanded) == 2


def test_the_job_done_again_updates_its_reply(known: Known) -> None:
    double = github()
    say(double, known, "/pushbench")
    say(double, known, "/pushbench")
    assert len(double.commanded) == len(double.comments) == 1


def test_accepting_is_an_input_that_the_workflow_declares(known: Known) -> None:
    double = github(FORK)
    say(double, known, f"/pushbench accept head={HEAD}")
    assert double.commanded == [{"pull_request": "7", "head": HEAD, "accept": "true"}]
    assert "what its thresholds.yml accepts is confirmed" in replies(double)[0].replace("\\", "")


def test_a_run_that_github_refuses_is_replied_and_red(known: Known) -> None:
    double = github()
    double.default_branch = "trunk"
    with pytest.raises(GitHubError, match="No ref found for: main"):
        say(double, known, "/pushbench")
    [reply] = replies(double)
    assert "Nothing is started: GitHub answers 422: No ref found for: main" in reply


def test_an_input_that_the_workflow_lacks_is_refused() -> None:
    inputs = {"pull_request": "7", "head": HEAD, "x": "1"}
    with github().github() as connection, pytest.raises(GitHubError, match="Unexpected inputs"):
        dispatch(connection, "bench.yml", "main", inputs)


def test_a_lost_answer_starts_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    double = github()
    answer = double.answer
    lost = iter([True])

    def failing(method: str, target: str, content: bytes) -> Answer:
        found = answer(method, target, content)
        return (502, {}) if target.endswith("/dispatches") and next(lost, False) else found

    monkeypatch.setattr(double, "answer", failing)
    with double.github() as connection:
        title = f"bench pull request 7 at {HEAD}"
        run = dispatch(connection, "bench.yml", "main", {"pull_request": "7", "head": HEAD}, title=title)
    assert run.workflow_run_id == FIRST_DISPATCHED + 1
    assert len(double.commanded) == 1
