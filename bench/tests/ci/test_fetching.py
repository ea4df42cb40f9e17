"""A job fetches only the commits that it needs, not gh-pages or any other branch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pushbench.ci import fetching
from pushbench.ci.change import read_change
from pushbench.ci.fetching import fetch
from pushbench.foundation.errors import UserError
from pushbench.foundation.git import Answer
from tests.ci.repositories import git, of_inputs, of_pull_request, require_no_pages
from tests.ci.repositories import origin as origin  # noqa: PLC0414 - a fixture
from tests.ci.repositories import shallow as shallow  # noqa: PLC0414 - a fixture

TOKEN = "ghs_secret"


def test_a_pull_request_gets_its_history_and_its_base(origin: Path, shallow: Path) -> None:
    head, base = git(origin, "rev-parse", "change"), git(origin, "rev-parse", "main")
    change = read_change(shallow, of_pull_request(head, base))
    assert change
    assert change.base == git(origin, "merge-base", head, base)
    assert git(shallow, "rev-list", "--count", "HEAD") == "2"
    require_no_pages(origin, shallow)


@pytest.mark.slow
def test_a_dispatch_gets_the_pull_request_beside_main(origin: Path, shallow: Path) -> None:
    main, head = git(origin, "rev-parse", "main"), git(origin, "rev-parse", "change")
    git(shallow, "fetch", "--depth", "1", "origin", main)
    git(shallow, "checkout", "--detach", main)
    change = read_change(shallow, of_inputs(origin, pull_request="7", head=head))
    assert change
    assert (change.base, change.head) == (git(origin, "merge-base", head, main), head)
    require_no_pages(origin, shallow)


def test_a_base_may_be_a_short_name_of_an_earlier_commit(origin: Path, shallow: Path) -> None:
    parted = git(origin, "merge-base", "change", "main")
    change = read_change(shallow, of_inputs(origin, base=parted[:10]))
    assert change
    assert change.base == parted


def test_images_get_the_times_of_their_last_commits(origin: Path, shallow: Path) -> None:
    fetch(shallow, [], "")
    assert git(shallow, "log", "-1", "--format=%H", "--", "k6") == git(origin, "merge-base", "change", "main")
    require_no_pages(origin, shallow)


def test_a_whole_checkout_fetches_nothing(origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "clone", str(origin), "clone")
    git(tmp_path / "clone", "remote", "set-url", "origin", "file:///nowhere")
    assert fetch(tmp_path / "clone", [], "") == git(origin, "rev-parse", "HEAD")


def test_what_is_not_there_is_named(shallow: Path) -> None:
    with pytest.raises(UserError, match="refs/pull/9/head: git cannot fetch it"):
        fetch(shallow, ["refs/pull/9/head"], TOKEN)


def test_the_token_reaches_git_by_its_environment_only(
    origin: Path, shallow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An anonymous fetch of a private repository fails."""
    asked: list[tuple[tuple[str, ...], dict[str, str]]] = []

    def watched(folder: Path, *arguments: str, environment: dict[str, str] | None = None) -> Answer:
        if arguments[:2] == ("remote", "get-url"):
            return Answer(0, "https://github.com/acme/private\n", "")
        if arguments[0] == "fetch":
            asked.append((arguments, environment or {}))
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
        return Answer(done.returncode, done.stdout, done.stderr)

    monkeypatch.setattr(fetching, "git", watched)
    fetch(shallow, ["refs/heads/main"], TOKEN)
    [(arguments, environment)] = asked
    assert TOKEN not in " ".join(arguments)
    assert environment["GIT_CONFIG_KEY_0"] == "http.https://github.com/.extraheader"
    assert environment["GIT_CONFIG_VALUE_0"].startswith("AUTHORIZATION: basic ")
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
    assert TOKEN not in (shallow / ".git" / "config").read_text()
