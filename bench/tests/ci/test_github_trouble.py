"""GitHub's limits and faults are waited out, up to a limit; errors say what to do and never contain the token."""

from __future__ import annotations

import traceback
from pathlib import Path

import httpx
import pytest

from pushbench.ci.github import GitHub
from pushbench.ci.github_connection import GitHubError
from pushbench.foundation.errors import UserError
from tests.ci.github_calls import ARTIFACT, MARK, NEW, RUN, SHA, check
from tests.ci.recorded import FOLDER, REPOSITORY, TOKEN, Recorded, recorded

# Patience


@pytest.mark.parametrize(
    ("name", "seconds"),
    [("secondary-limit", 60), ("primary-limit", 91), ("too-many-requests", 2)],
)
def test_a_limit_is_waited_for_as_long_as_github_asks(name: str, seconds: float) -> None:
    with recorded(name) as recording:
        assert recording.github.run(RUN).id == RUN
    assert len(recording.slept) == 1
    assert seconds <= recording.slept[0] <= seconds + 5


def test_a_long_wait_is_said_with_its_reason_and_a_short_one_is_not() -> None:
    with recorded("secondary-limit") as recording:
        recording.github.run(RUN)
    assert len(recording.notes) == 1
    assert f"GET /repos/{REPOSITORY}/actions/runs/{RUN}: GitHub answers 403: You have exceeded a" in recording.notes[0]
    with recorded("too-many-requests") as recording:
        recording.github.run(RUN)
    assert recording.notes == []


def test_a_limit_that_names_no_time_is_waited_for_longer_each_time_and_not_for_ever() -> None:
    with recorded("secondary-limit-without-a-time") as recording:
        with pytest.raises(GitHubError, match=r"secondary rate limit.*\(tried 3 times\); run the job again$"):
            recording.github.run(RUN)
    first, second = recording.slept
    assert 60 <= first <= 65 and 120 <= second <= 125


def test_a_limit_that_lasts_longer_than_a_job_should_is_an_error_at_once() -> None:
    with recorded("primary-limit-for-half-an-hour") as recording:
        with pytest.raises(GitHubError, match="run the job again in 1801 s"):
            recording.github.run(RUN)
    assert recording.slept == []


def test_faults_that_pass_are_waited_out() -> None:
    with recorded("faults-then-an-answer") as recording:
        assert recording.github.run(RUN).id == RUN
    for slept, least in zip(recording.slept, (1, 2, 4, 8), strict=True):
        assert least <= slept <= least * 1.25


def test_faults_that_do_not_pass_are_an_error_after_some_minutes() -> None:
    with recorded("faults-forever") as recording:
        with pytest.raises(GitHubError, match=r"GitHub answers 502 \(tried 8 times\); run the job again$") as caught:
            recording.github.run(RUN)
    assert caught.value.status == 502
    assert sum(recording.slept) < 300


def test_all_requests_together_wait_for_five_minutes_at_most() -> None:
    class Down(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("nobody there")

    slept: list[float] = []
    github = GitHub(REPOSITORY, TOKEN, note=lambda _: None, transport=Down(), sleep=slept.append)
    for _ in range(5):
        with pytest.raises(GitHubError, match="no answer: nobody there"):
            github.run(RUN)
    assert 250 < sum(slept) <= 320


# Errors


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("bad-credentials", "GitHub answers 401: Bad credentials; does the token belong to this job?"),
        ("not-found", "GitHub answers 404: Not Found; does it exist? GitHub also answers 404 if the job lacks `permi"),
        ("html", "GitHub's answer is not as documented: text/html; charset=utf-8: Invalid JSON"),
        ("field-missing", "GitHub's answer is not as documented: head_sha: Field required"),
        ("moved-repository", "GitHub answers 301: no reason given; was the repository renamed?"),
    ],
)
def test_an_error_says_what_was_asked_what_came_and_what_to_do(name: str, told: str) -> None:
    with recorded(name) as recording:
        with pytest.raises(GitHubError) as caught:
            recording.github.run(RUN)
    assert str(caught.value).startswith(f"GET /repos/{REPOSITORY}/actions/runs/{RUN}: {told}")


def test_a_missing_permission_is_named_and_not_waited_for() -> None:
    with recorded("check-forbidden") as recording:
        with pytest.raises(
            GitHubError, match="not accessible by integration; the job needs `permissions: checks: write`"
        ):
            check(recording)
    assert recording.slept == []


def test_the_token_goes_to_no_other_host_for_a_next_page() -> None:
    with recorded("next-page-elsewhere") as recording:
        with pytest.raises(GitHubError, match="a next page outside GitHub's API"):
            recording.github.upsert_comment(12, MARK, NEW)


def test_a_message_that_repeats_the_token_is_told_without_it() -> None:
    with recorded("token-echoed") as recording:
        with pytest.raises(GitHubError, match=r"400: Problems parsing \*\*\* here"):
            recording.github.run(RUN)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_the_token_is_in_no_error_no_note_and_no_representation(path: Path) -> None:
    recording = Recorded(path.stem)
    github = recording.github
    told = [repr(github), str(vars(github))]
    for attempt in (
        lambda: github.run(RUN),
        lambda: github.upsert_comment(12, MARK, NEW),
        lambda: check(recording, 120),
        lambda: github.download(ARTIFACT, 1000),
    ):
        try:
            attempt()
        except (GitHubError, AssertionError) as error:
            told += [repr(error), *traceback.format_exception(error)]
    assert TOKEN not in " ".join([*told, *recording.notes])


@pytest.mark.parametrize("token", ["", "two words", f"{TOKEN}\n", "ü"])
def test_what_cannot_be_a_token_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(UserError) as caught:
        GitHub(REPOSITORY, token, note=print)
    assert not token or token not in str(caught.value)


@pytest.mark.parametrize(
    "repository",
    [
        "",
        "pushbench",
        "a/b/c",
        "../b",
        "a/..",
        "./b",
        "a/b?x=1",
        "a/b#",
        "a b/c",
        "a/b\n",
        "a/%2e%2e",
        "/b",
        "a/",
        "ü/b",
    ],
)
def test_a_repository_is_an_owner_and_a_name_and_nothing_else(repository: str) -> None:
    with pytest.raises(UserError, match="expected a repository as owner/name"):
        GitHub(repository, TOKEN, note=print)


@pytest.mark.parametrize(
    "api", ["http://api.github.com", "ftp://x", "", "https://", "https://u:p@x.org", "https://x.org?a"]
)
def test_the_token_is_not_sent_in_plain_http(api: str) -> None:
    with pytest.raises(UserError, match="https address"):
        GitHub(REPOSITORY, TOKEN, note=print, api=api)


@pytest.mark.parametrize("sha", ["main", SHA[:12], f"{SHA}/../..", f"{SHA}\n"])
def test_a_check_run_wants_a_whole_commit(sha: str) -> None:
    with pytest.raises(UserError, match="full SHA"):
        Recorded("check-created").github.check_run(sha, name="P", conclusion="success", title="", summary="")


def test_numbers_are_numbers() -> None:
    with pytest.raises(ValueError, match="format code 'd'"):
        Recorded("run").github.run("1/../../secrets")  # type: ignore[arg-type]
