"""Trust in a run depends on GitHub's data about it, and on nothing that a stranger can choose."""

from __future__ import annotations

from typing import Any

import pytest

from pushbench.ci.github_answers import Run
from pushbench.ci.trust import Home, Origin, continuing, origin_of, standing, to_measure
from tests.ci.events import HEAD, REPOSITORY
from tests.ci.github_double import FORK, run

HOME = Home(REPOSITORY, "main")
OTHER = "d" * 40
DISPATCH = {"event": "workflow_dispatch", "head_branch": "main", "head_sha": OTHER}
SERVERS = frozenset({"node-ws", "fastapi"})


def made(**changed: Any) -> Run:
    return Run.model_validate(run(**changed))


@pytest.mark.parametrize(
    ("changed", "source", "sha"),
    [
        ({}, "pull_request", HEAD),
        ({"event": "push", "head_branch": "main"}, "push", HEAD),
        ({"path": ".github/workflows/bench.yml@refs/heads/main"}, "pull_request", HEAD),
        ({**DISPATCH, "display_title": "bench on demand"}, "demand", OTHER),
        ({**DISPATCH, "display_title": "bench night"}, "night", OTHER),
        ({**DISPATCH, "display_title": f"bench pull request 7 at {HEAD}"}, "dispatch", HEAD),
        ({**DISPATCH, "display_title": f"bench continues 7 at {HEAD}"}, "push", HEAD),
    ],
)
def test_who_is_believed_about_which_commit(changed: dict[str, Any], source: str, sha: str) -> None:
    found = standing(made(**changed), HOME, ["octocat"])
    assert (found.believed, found.source, found.sha) == (True, source, sha)


BOT = {"login": "dependabot[bot]"}
NAMED = f"bench pull request 7 at {'c' * 40}"


@pytest.mark.parametrize(
    ("changed", "doubt"),
    [
        ({"head_repository": FORK}, "from another repository"),
        ({"head_repository": FORK, "head_branch": "main"}, "from another repository"),
        ({"head_repository": None}, "from another repository"),
        ({"head_repository": FORK, "head_branch": "main", "event": "push"}, "from another repository"),
        ({"actor": BOT}, "from Dependabot"),
        ({"actor": None}, "from Dependabot"),
        ({"path": ".github/workflows/evil.yml"}, "to the workflow file '.github/workflows/evil.yml'"),
        ({"event": "push"}, "from another branch than main"),
        ({"event": "push", "head_branch": None}, "from another branch than main"),
        ({**DISPATCH, "head_branch": "evil", "display_title": NAMED}, "from another branch than main"),
        ({**DISPATCH, "head_repository": FORK, "display_title": NAMED}, "from another repository"),
        ({**DISPATCH, "path": ".github/workflows/evil.yml", "display_title": NAMED}, "to the workflow file"),
        ({"event": "merge_group", "head_branch": "main"}, "made by the merge queue"),
        ({"event": "pull_request_target", "head_branch": "main"}, "which measures nothing"),
        ({"event": "schedule", "head_branch": "main"}, "which measures nothing"),
        ({"event": "x" * 500}, "which measures nothing"),
    ],
)
def test_everything_else_is_doubted_and_counts_for_its_own_commit_only(changed: dict[str, Any], doubt: str) -> None:
    of = made(**changed)
    found = standing(of, HOME, ["octocat"])
    assert doubt in found.doubt
    assert (found.sha, found.pull_request, found.continues) == (of.head_sha, None, None)


@pytest.mark.parametrize("authors", [[], [None], ["dependabot[bot]"], ["octocat", "dependabot[bot]"]])
def test_a_pull_request_needs_an_author_who_is_known_and_not_dependabot(authors: list[str | None]) -> None:
    assert not standing(made(), HOME, authors).believed


@pytest.mark.parametrize(
    "title",
    [
        f"bench pull request 7 at {HEAD}\n",
        f" bench pull request 7 at {HEAD}",
        f"bench pull request \u0667 at {HEAD}",
        f"bench pull request 7 at {HEAD.upper()}",
        f"bench pull request {'7' * 10} at {HEAD}",
    ],
)
def test_an_odd_name_of_a_dispatch_names_nothing(title: str) -> None:
    found = standing(made(**DISPATCH, display_title=title), HOME)
    assert (found.source, found.sha, found.pull_request) == ("demand", OTHER, None)


def test_a_continuation_counts_as_what_it_goes_on_with() -> None:
    night = standing(made(**{**DISPATCH, "head_sha": HEAD, "display_title": "bench night"}), HOME)
    found = standing(made(**DISPATCH, display_title=f"bench continues 7 at {HEAD}"), HOME)
    assert continuing(found, night).source == "night"
    assert not continuing(found, None).believed
    assert not continuing(found, found).believed, "the first run does not go on with another one"
    for title in ("bench on demand", f"bench pull request 7 at {HEAD}"):
        other = standing(made(**{**DISPATCH, "head_sha": HEAD, "display_title": title}), HOME)
        assert other.believed
        assert not continuing(found, other).believed, "only nights and pushes are gone on with"
    assert not continuing(found, standing(made(head_repository=FORK), HOME)).believed
    assert not continuing(found, standing(made(event="push", head_branch="main", head_sha=OTHER), HOME)).believed


@pytest.mark.parametrize(
    ("there", "new", "kept"),
    [
        ("run:1:dispatch", "run:2:pull_request", True),
        ("run:1:dispatch", "run:2:dispatch", False),
        ("run:2:dispatch", "run:1:dispatch", True),
        ("run:1:dispatch", "run:1:dispatch", False),
        ("run:1:pull_request", "run:2:doubted", True),
        ("run:1:doubted", "run:2:doubted", False),
        ("run:2:push", "run:1:push", True),
        ("run:2:push", "run:3:pull_request", True),
        ("run:1:dispatch", "run:2:push", False),
        ("run:1:push", "run:2:demand", True),
        ("run:9:doubted", "run:2:pull_request", False),
        ("run:5:dispatch", "run:5:doubted", False),
    ],
)
def test_what_outranks_what_on_the_same_commit(there: str, new: str, kept: bool) -> None:
    former, latter = origin_of(there), origin_of(new)
    assert former and latter
    assert former.outranks(latter) is kept


def test_where_a_check_came_from_is_read_back() -> None:
    assert origin_of(str(Origin(7, "push"))) == Origin(7, "push")
    for other in ("", "Pushbench", "run:7:", "run:7:king", "run:\u0667:push", "run:7:push\n", "x run:7:push"):
        assert origin_of(other) is None


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["README.md", "docs/x.md", "servers/README.md", "bench/tests/x.py"], ([], [], [])),
        (["servers/node-ws/a/b.js", "README.md"], (["node-ws"], [], [])),
        (["servers/mine/server.yml"], ([], ["mine"], [])),
        (["bench/pushbench/ci/trust.py"], ([], [], ["what measures changed"])),
        (["thresholds.yml"], ([], [], ["what measures changed"])),
        ([], ([], [], [])),
    ],
)
def test_what_is_to_be_measured_follows_from_the_paths(paths: list[str], expected: object) -> None:
    found = to_measure(dict.fromkeys(paths, False), frozenset(), SERVERS)
    assert (found.compared, found.new, found.everything) == expected
    assert bool(found) is any(expected)


def test_a_server_that_goes_is_nothing_to_measure_and_one_that_only_loses_files_is() -> None:
    gone = {"servers/node-ws/server.yml": True, "servers/node-ws/Dockerfile": True}
    assert not to_measure(gone, frozenset(), SERVERS)
    assert to_measure({"servers/node-ws/Dockerfile": True}, frozenset(), SERVERS).compared == ["node-ws"]
    assert to_measure({**gone, "servers/moved/server.yml": False}, frozenset(), SERVERS).new == ["moved"]


@pytest.mark.parametrize("link", ["servers/node-ws", "servers"])
def test_a_link_in_place_of_a_server_s_folder_is_something_to_measure(link: str) -> None:
    """The server's files are deleted there, and the linked folder is another server."""
    gone = {"servers/node-ws/server.yml": True, "servers/node-ws/Dockerfile": True}
    assert to_measure({**gone, link: False, "docs/evil/server.yml": False}, frozenset(), SERVERS)
    assert to_measure({"servers/evil": False, "docs/evil/server.yml": False}, frozenset(), SERVERS).new == ["evil"]
    assert not to_measure({**gone, "servers/README.md": False}, frozenset(), SERVERS)


def test_the_label_asks_for_everything() -> None:
    assert to_measure({"README.md": False}, frozenset({"bench:full"}), SERVERS).everything
