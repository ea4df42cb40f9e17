"""The repository and the changes of a pull request, as described by GitHub."""

from __future__ import annotations

from pydantic import TypeAdapter

from pushbench.ci.github import READ_PULLS, GitHub
from pushbench.ci.github_answers import Answer, PullRequest, Run, Text
from pushbench.ci.trust import Home

MOST_FILES = 3_000
"""that GitHub lists for a pull request (https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files)"""
READ_METADATA = "metadata: read"
"""a permission that every token has"""


class RepositoryAnswer(Answer):
    full_name: str
    default_branch: str


class ChangedFile(Answer):
    filename: str
    status: str
    """added, removed, modified, renamed, copied, changed or unchanged"""
    previous_filename: Text = ""


REPOSITORY, FILES, PULLS = (
    TypeAdapter(RepositoryAnswer),
    TypeAdapter(list[ChangedFile]),
    TypeAdapter(list[PullRequest]),
)


def home(github: GitHub) -> Home:
    found = github.ask("GET", "", READ_METADATA, REPOSITORY)
    return Home(found.full_name, found.default_branch)


def pull_requests_from(github: GitHub, run: Run) -> list[PullRequest]:
    """All pull requests from the branch of the run, including closed ones; the newest 100.

    They are found by branch: GitHub does not look up commits of forks (`commits/{sha}/pulls`), and leaves a run's own
    list empty for them.
    """
    if run.head_repository is None or run.head_branch is None:
        return []
    query = {"state": "all", "head": f"{run.head_repository.owner.login}:{run.head_branch}"}
    page = next(github.pages("/pulls", READ_PULLS, PULLS, query), [])
    return [
        each
        for each in page
        if each.head.ref == run.head_branch and each.head.repo and each.head.repo.id == run.head_repository.id
    ]


def changed_paths(github: GitHub, number: int, sha: str, base: str) -> dict[str, bool] | None:
    """The paths that the pull request changes, both names of a renamed file, each with whether it is deleted.

    None if that is unknown: the head is not `sha`, the base is another branch than `base`, or GitHub does not list all
    files. Against another base, which any user can choose, the same commit may have fewer changes.
    """
    before = github.pull_request(number)
    if not _is(before, sha, base) or (before.changed_files or MOST_FILES) >= MOST_FILES:
        return None
    files = [each for page in github.pages(f"/pulls/{number:d}/files", READ_PULLS, FILES) for each in page]
    after = github.pull_request(number)
    if not _is(after, sha, base) or len(files) != after.changed_files or after.changed_files != before.changed_files:
        return None
    there = {each.filename for each in files if each.status != "removed"}
    names = [name for each in files for name in (each.filename, each.previous_filename) if name]
    copied = {each.previous_filename for each in files if each.status == "copied"}
    return {name: name not in there and name not in copied for name in names}


def _is(pull: PullRequest, sha: str, base: str) -> bool:
    own = pull.base.repo is not None and pull.base.ref == base
    return pull.state == "open" and pull.head.sha == sha and own
