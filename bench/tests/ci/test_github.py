"""Only the necessary requests are sent to GitHub's API, and nothing is written twice.

The exchanges are in data/github, in the form that GitHub documents.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from pushbench.ci.github_changes import pull_requests_from
from pushbench.ci.github_connection import GitHubError
from pushbench.reporting.comment import MOST_BYTES
from tests.ci.github_calls import ARTIFACT, MARK, NEW, RUN, SHA, check, worse
from tests.ci.recorded import Recorded, recorded

COMMENT = "https://github.com/octo-org/pushbench/pull/12#issuecomment-{}"


def bodies(recording: Recorded) -> list[dict[str, Any]]:
    return [json.loads(request.content) for request in recording.sent if request.content]


def annotated(recording: Recorded) -> list[list[str]]:
    """The messages of the annotations in each request."""
    return [[each["message"] for each in body["output"]["annotations"]] for body in bodies(recording)]


# What GitHub answers


def test_a_run_is_known_by_its_workflow_file_commit_and_fork() -> None:
    with recorded("run") as recording:
        run = recording.github.run(RUN)
    assert (run.id, run.run_attempt) == (RUN, 2)
    assert (run.event, run.status, run.conclusion) == ("pull_request", "completed", "failure")
    assert (run.head_sha, run.head_branch, run.workflow_file) == (SHA, "faster", ".github/workflows/bench.yml")
    assert run.head_repository is not None
    assert run.head_repository.full_name == "monalisa/pushbench"
    assert run.html_url.endswith(f"/actions/runs/{RUN}")


def test_jobs_of_all_pages_say_which_steps_failed() -> None:
    with recorded("jobs") as recording:
        jobs = recording.github.jobs(RUN)
    assert [(job.name, job.conclusion, job.failed_steps) for job in jobs] == [
        ("plan", "success", []),
        ("bench", "failure", ["Measure"]),
        ("gate", None, []),
    ]


def test_of_artifacts_with_one_name_the_newest_counts_on_whichever_page() -> None:
    with recorded("artifacts") as recording:
        artifacts = recording.github.artifacts(RUN)
    assert [(each.id, each.name, each.size_bytes, each.expired) for each in artifacts] == [
        (12, "verdict", 500, False),
        (13, "record", 453, False),
    ]


def test_a_pull_request_from_a_fork_is_known_as_one() -> None:
    with recorded("pull-request") as recording:
        pull = recording.github.pull_request(12)
    assert (pull.number, pull.state, pull.label_names) == (12, "open", frozenset({"bench:full"}))
    assert (pull.head.sha, pull.base.ref, pull.base.sha[:7]) == (SHA, "main", "e7fdf76")


def test_a_pull_request_whose_fork_was_deleted_is_still_one_from_a_fork() -> None:
    with recorded("pull-request-of-a-deleted-fork") as recording:
        pull = recording.github.pull_request(12)
    assert pull.head.repo is None
    assert pull.state == "closed"


def test_the_pull_request_of_a_run_is_found_by_the_branch_of_its_fork() -> None:
    """A pull request of another repository of the same owner is not returned."""
    run = made_run()
    with recorded("pulls-of-a-fork") as recording:
        assert [pull.number for pull in pull_requests_from(recording.github, run)] == [12]


def test_a_pull_request_that_has_a_newer_head_is_found_with_that_head() -> None:
    run = made_run()
    with recorded("pulls-moved") as recording:
        assert [pull.head.sha == run.head_sha for pull in pull_requests_from(recording.github, run)] == [False]


def test_a_run_of_a_deleted_fork_has_no_pull_request() -> None:
    run = made_run().model_copy(update={"head_repository": None})
    with Recorded("pulls-moved").github as github:
        assert pull_requests_from(github, run) == []


def made_run() -> Any:
    with recorded("run") as recording:
        return recording.github.run(RUN)


# The comment


@pytest.mark.parametrize(
    ("recording", "id"),
    [
        ("comment-created", 104),
        ("comment-updated", 103),
        ("comment-on-page-3", 103),
        ("comment-of-a-person", 104),
        ("comment-lost-but-made", 104),
        ("comment-lost-and-not-made", 104),
        ("comment-502-but-made", 104),
        ("comment-never-sent", 104),
        ("comment-limited", 104),
    ],
)
def test_there_is_one_comment_whatever_happens(recording: str, id: int) -> None:
    with recorded(recording) as replayed:
        assert replayed.github.upsert_comment(12, MARK, NEW) == COMMENT.format(id)


def test_a_comment_that_could_not_be_found_again_is_not_made() -> None:
    with pytest.raises(ValueError, match="mark"):
        Recorded("comment-created").github.upsert_comment(12, MARK, "no mark")


def test_what_a_comment_may_have_at_most_is_sent_whole_and_not_a_character_more() -> None:
    longest = f"{NEW}{'ü' * (MOST_BYTES - len(NEW))}"
    for body, length in [(longest, MOST_BYTES), (longest + "x" * 10_000, 65_536)]:
        recording = Recorded("comment-too-long")
        with pytest.raises(GitHubError, match=r"422: Validation Failed \(data: Body is too long"):
            recording.github.upsert_comment(12, MARK, body)
        assert len(bodies(recording)[0]["body"]) == length


def test_a_lone_surrogate_in_an_artifact_does_not_break_what_is_sent() -> None:
    recording = Recorded("comment-too-long")
    with pytest.raises(GitHubError):
        recording.github.upsert_comment(12, MARK, f"{NEW} \ud800")
    assert bodies(recording) == [{"body": f"{NEW} ?"}]


# The check run


def test_a_check_run_is_made_where_there_is_none_of_ours() -> None:
    """Three check runs are not changed: one of another app, one with another name, and one of another run."""
    with recorded("check-created") as recording:
        assert check(recording) == "https://github.com/octo-org/pushbench/runs/4"
    assert bodies(recording) == [
        {
            "head_sha": SHA,
            "name": "Pushbench",
            "external_id": "42",
            "status": "completed",
            "conclusion": "failure",
            "output": {"title": "Worse", "summary": "One server got worse.", "annotations": []},
        }
    ]


def test_120_annotations_take_three_requests_of_one_check_run() -> None:
    with recorded("check-120-annotations") as recording:
        check(recording, 120)
    assert [len(batch) for batch in annotated(recording)] == [50, 50, 20]
    assert [message for batch in annotated(recording) for message in batch] == [each.message for each in worse(120)]
    assert bodies(recording)[0]["output"]["annotations"][0] == {
        "path": "servers/s000/server.yml",
        "start_line": 1,
        "end_line": 1,
        "annotation_level": "failure",
        "message": "server 0 got worse",
    }


def test_a_check_run_of_ours_is_updated_and_gets_the_annotations_that_it_has_not() -> None:
    with recorded("check-updated") as recording:
        check(recording, 3)
    assert annotated(recording) == [["server 2 got worse"]]
    assert bodies(recording)[0]["conclusion"] == "failure"


@pytest.mark.parametrize(
    ("name", "batches"),
    [
        ("check-lost-but-made", [0]),
        ("check-batch-lost-but-made", [50, 1]),
        ("check-batch-lost-and-not-made", [50, 1, 1]),
    ],
)
def test_nothing_is_annotated_twice_when_the_answer_is_lost(name: str, batches: list[int]) -> None:
    with recorded(name) as recording:
        check(recording, sum(batches[:2]))
    assert [len(batch) for batch in annotated(recording)] == batches


def test_a_summary_is_cut_at_what_github_takes_in_bytes() -> None:
    recording = Recorded("check-created")
    check(recording, summary="ü" * 65_535, title="t" * 300)
    output = bodies(recording)[0]["output"]
    assert 65_530 <= len(output["summary"].encode()) <= 65_535
    assert output["summary"].endswith("ü\n\n(cut: too long for GitHub)")
    assert output["title"] == "t" * 252 + "..."


def test_very_many_annotations_are_bounded_and_that_is_said() -> None:
    recording = Recorded("check-120-annotations")
    with pytest.raises(AssertionError, match="not in the recording"):  # of ten batches, three were recorded
        check(recording, 501)
    assert recording.notes == ["GitHub: only the first 500 of 501 annotations are sent"]


def test_a_refused_field_is_named() -> None:
    with recorded("check-summary-refused") as recording:
        with pytest.raises(GitHubError) as caught:
            check(recording)
    assert str(caught.value) == (
        "POST /repos/octo-org/pushbench/check-runs: GitHub answers 422: Validation Failed "
        "(summary: summary exceeds a maximum bytesize of 65535, title is odd)"
    )


# The artifact


def test_an_artifact_is_fetched_from_the_other_host_without_the_token() -> None:
    with recorded("artifact") as recording:
        assert recording.github.download(ARTIFACT, 10) == b"PK the zip"
    assert [request.url.host for request in recording.sent] == ["api.github.com", "pipelines.blob.core.windows.net"]
    assert "Authorization" not in recording.sent[1].headers


@pytest.mark.parametrize("name", ["artifact-declared-too-large", "artifact-undeclared-too-large"])
def test_an_artifact_that_is_too_large_is_not_read_to_its_end(name: str) -> None:
    with recorded(name) as recording:
        with pytest.raises(GitHubError, match="the download is larger than 1,000 bytes"):
            recording.github.download(ARTIFACT, 1000)
    assert recording.chunks_read in (0, 11)


def test_an_expired_artifact_is_said_to_be_one() -> None:
    with recorded("artifact-expired") as recording:
        with pytest.raises(GitHubError, match="410: Artifact has expired; it was deleted, or") as caught:
            recording.github.download(ARTIFACT, 1000)
    assert caught.value.status == 410


def test_what_the_store_refuses_is_told_without_the_signature() -> None:
    with recorded("artifact-refused-by-the-store") as recording:
        with pytest.raises(GitHubError, match=r"pipelines\.blob\.core\.windows\.net answers 403") as caught:
            recording.github.download(ARTIFACT, 1000)
    assert "secret-signature" not in str(caught.value)


def test_a_store_that_is_busy_is_asked_again_with_a_new_address() -> None:
    with recorded("artifact-store-busy") as recording:
        assert recording.github.download(ARTIFACT, 1000) == b"PK"
    assert len(recording.slept) == 2


def test_an_artifact_is_not_fetched_in_plain_http() -> None:
    with recorded("artifact-in-plain-http") as recording:
        with pytest.raises(GitHubError, match="no https address"):
            recording.github.download(ARTIFACT, 1000)
