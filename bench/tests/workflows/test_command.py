"""A comment starts a run through the workflow command, on this machine. It is quick: it needs only a hosted job."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from pushbench.foundation.yamlfile import read_yaml
from tests.ci.double_commands import Commanded
from tests.ci.events import HEAD, payload
from tests.ci.github_double import FIRST_DISPATCHED, FORK, pull
from tests.workflows.forge import ROOT, Forge, Played

pytestmark = [pytest.mark.workflows]


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    return Forge(tmp_path_factory.mktemp("forge"))


def comment(forge: Forge, double: Commanded, event: dict[str, Any]) -> Played:
    granted = read_yaml(ROOT / ".github" / "workflows" / "command.yml").data["jobs"]["command"]["permissions"]
    double.permissions = granted
    with double.served() as url:
        played = forge.act("issue_comment", event, "command.yml", GITHUB_API_URL=url)
    assert played.passed, played.output[-8000:]
    return played


def test_a_maintainer_starts_a_fork_by_its_commit(forge: Forge) -> None:
    double = Commanded(pulls=[{**pull(repository=FORK), "user": {"login": "stranger"}}])
    played = comment(forge, double, payload(f"/pushbench servers=node-ws profile=full rounds=3 head={HEAD}\nThanks"))
    assert played.jobs() == {"command"}
    assert double.reactions == [(99, "eyes")]
    asked = {"servers": "node-ws", "profile": "full", "rounds": "3"}
    assert double.commanded == [{"pull_request": "7", "head": HEAD, **asked}]
    assert f"[Run {FIRST_DISPATCHED + 1}]" in double.comments[0]["body"]


def test_a_stranger_starts_nothing(forge: Forge) -> None:
    double = Commanded()
    comment(forge, double, payload("/pushbench", login="stranger"))
    assert (double.reactions, double.commanded, double.comments) == ([(99, "confused")], [], [])


def test_nothing_runs_for_other_comments(forge: Forge) -> None:
    on_an_issue = payload()
    del on_an_issue["issue"]["pull_request"]
    of_a_bot = copy.deepcopy(payload())
    of_a_bot["comment"]["user"]["type"] = "Bot"
    double = Commanded()
    for event in (payload("Nice!"), on_an_issue, of_a_bot):
        assert comment(forge, double, event).jobs() == set()
    assert (double.reactions, double.comments) == ([], [])
