"""The check and comment for runs without their own verdict: in progress, waiting, nothing to measure. Pure.

Their readers are contributors: they contain what happened, why, and the next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pushbench.ci.drafting import Draft, links_of
from pushbench.ci.github_answers import Conclusion, Run
from pushbench.ci.queueing import Place
from pushbench.ci.result import Results
from pushbench.ci.trust import Wanted
from pushbench.foundation.text import one_line
from pushbench.reporting.comment import Link, Message, comment

WAITING = "Waiting for a maintainer. Nothing is wrong."
NOTHING = "No server and nothing that measures changed: there is nothing to measure."
MOST_NAMES = 20


@dataclass(frozen=True)
class About:
    """The common part of every draft."""

    run: Run
    site: str = ""
    notices: Sequence[str] = ()
    links: Sequence[Link] = ()

    def draft(
        self,
        title: str,
        conclusion: Conclusion | None,
        sentences: Sequence[str],
        *,
        headline: str = "",
        advice: Sequence[str] = (),
        commands: Sequence[str] = (),
        waits: bool = False,
        told: bool = True,
        counts: bool = True,
    ) -> Draft:
        said = Message(
            outcome=conclusion or "in progress",
            parts=(),
            sentences=[*sentences, *self.notices],
            links=[*links_of(self.run, self.site), *self.links],
            headline=headline or title,
            advice=advice,
            commands=commands,
        )
        return Draft(one_line(title, 200), comment(said), conclusion, waits=waits, told=told, counts=counts)


def commands_of_a_maintainer(number: int, sha: str) -> list[str]:
    """Two ways to have the commit of a pull request measured."""
    return [
        f"gh workflow run bench.yml -f pull_request={number} -f head={sha}",
        "# or, as a comment on this pull request:",
        f"/pushbench head={sha}",
    ]


def measuring(about: About, wanted: Wanted | None, place: Place | None) -> Draft:
    """A run that waits or runs. `wanted` is None if it is unknown, or not for a pull request."""
    where = f": {place}" if place else ""
    begun = f"The measurement runs, or waits for the benchmark machine{where}."
    sentences = [begun, *_of_event(about.run, wanted)]
    return about.draft(f"in progress{where}", None, sentences, headline="in progress", told=False)


def nothing_to_measure(about: About) -> Draft:
    return about.draft("pass, there is nothing to measure", "success", [NOTHING])


def waiting(about: About, number: int, sha: str, wanted: Wanted | None, why: str) -> Draft:
    """A pull request whose own runs are not trusted: a maintainer reviews the commit and starts the measurement."""
    approval = "GitHub also waits for a maintainer to approve the workflows of this pull request."
    sentences = [
        "A maintainer reads every pull request from users without write access before the benchmark machine runs it.",
        f"Nothing was measured yet. The run of this pull request itself is not used, because it {why}.",
        *_to_do(wanted),
        *([approval] if about.run.conclusion == "action_required" else []),
    ]
    return about.draft(
        WAITING,
        "action_required",
        sentences,
        headline=WAITING,
        advice=[
            "You need not do anything. A maintainer who has read this commit starts the measurement, by a command or "
            "by a comment:"
        ],
        commands=commands_of_a_maintainer(number, sha),
        waits=True,
    )


def without_pull_request(about: About, why: str) -> Draft:
    """An untrusted run without an open pull request: it was closed, or has a newer commit."""
    sentences = [
        f"The run measured nothing, because it {why}.",
        "This commit is the head of no open pull request, so there is nothing to do.",
    ]
    return about.draft(
        "not measured, this commit is the head of no open pull request", "action_required", sentences, waits=True
    )


def not_believed(about: About, why: str) -> Draft:
    """An untrusted run that no pull request caused, such as a run of another branch."""
    return about.draft(
        "not a verdict, only runs of the default branch and of pull requests count",
        "action_required",
        [f"The results of this run are not used, because it {why}."],
        advice=["Open a pull request, or start `bench.yml` on the default branch."],
    )


def approval(about: About) -> Draft:
    """A run that GitHub holds until a maintainer approves it."""
    return about.draft(
        WAITING,
        "action_required",
        ["GitHub waits for a maintainer to approve this workflow run. Nothing was measured yet."],
        headline=WAITING,
        advice=["You need not do anything. A maintainer approves the run on its page, linked below."],
        waits=True,
    )


def gave_way(about: About, results: Results) -> Draft:
    """A run that ended between two servers to give way to another. The run that continues it completes this check."""
    said = next((each.said for each in results.result.steps if each.outcome == "gave-way" and each.said), "")
    reason = f": it {said}" if said else ""
    sentences = [f"Nothing is wrong. This run let a more urgent one go first{reason}. Another run continues it."]
    return about.draft("in progress, another run continues this one", None, sentences, told=False)


def merge_group(about: About, number: int | None, problem: str) -> Draft:
    """A commit of the merge queue, whose pull request was measured on its own."""
    if number is not None and not problem:
        said = f"pull request {number} was measured alone, and passes"
        return about.draft(f"pass, {said}", "success", [f"This commit is from the merge queue: {said}."])
    return about.draft(
        f"not merged, {problem}",
        "action_required",
        [f"This commit is from the merge queue: {problem}."],
        advice=["Wait for a successful check Pushbench on the pull request, and add it to the queue again."],
    )


def not_measured(about: About, number: int, wanted: Wanted | None) -> Draft:
    """A run started by a maintainer that had nothing to do, though the pull request contains relevant changes."""
    branch = f"pull-request-{number}"
    return about.draft(
        "not measured, a maintainer has to push this commit to a branch first",
        "action_required",
        [
            "Pushbench measures pull requests from forks with the code of the default branch, and that code does not "
            "have what this pull request adds or changes. So nothing was measured, and nothing is known to be wrong.",
            *_to_do(wanted),
        ],
        advice=[
            "You need not do anything. A maintainer who trusts this commit pushes it to a branch of this repository "
            "and opens a pull request from there, which is measured as it is. Its check is on this very commit:"
        ],
        commands=[
            f"git fetch origin refs/pull/{number}/head",
            f"git push origin FETCH_HEAD:refs/heads/{branch}",
            f"gh pr create --head {branch} --fill",
        ],
        counts=False,
    )


def other_schema(about: About, problem: str) -> Draft:
    """Results from code whose documents this version cannot read: the pull request changes their schema."""
    return about.draft(
        "not read, the results have another schema than the default branch reads",
        "action_required",
        [
            "Nothing is wrong with the measurement. This pull request changes the format of the results, and this "
            f"check reads only the format of the default branch: {problem}."
        ],
        advice=[
            "The verdict is in the summary of the job `bench` on the page of the run, linked below.",
            "If new fields have a default and the old ones stay, this check can read them. Otherwise a maintainer "
            "reads that summary and merges without this check.",
        ],
    )


def cannot_be_shown(about: About, error: Exception) -> Draft:
    """Results that were read and cannot be rendered: our own fault, and never a pass."""
    return about.draft(
        "ERROR, the results cannot be shown",
        "failure",
        [f"The results of the run cannot be shown: {type(error).__name__}: {error}"],
        advice=["This is a bug in Pushbench, not in your change. Please report it with the URL of the run."],
    )


def _of_event(run: Run, wanted: Wanted | None) -> list[str]:
    if wanted is not None:
        return _to_do(wanted)
    match run.event:
        case "push":
            return ["Every server is measured: each push is a point of the trend."]
        case "workflow_dispatch":
            return ["The run measures what its inputs ask for."]
    return []


def _to_do(wanted: Wanted | None) -> list[str]:
    if wanted is None:
        return ["What it changes is not clear from GitHub's list of files, so it counts as something to measure."]
    said = []
    if wanted.compared:
        said.append(f"What changed will be compared with the base: {_names(wanted.compared)}.")
    if wanted.new:
        said.append(f"What is new will be checked against the limits in `thresholds.yml`: {_names(wanted.new)}.")
    if wanted.everything:
        said.append(f"Every server will be measured: {', '.join(wanted.everything)}.")
    return said or [NOTHING]


def _names(folders: Sequence[str]) -> str:
    more = len(folders) - MOST_NAMES
    listed = ", ".join(one_line(folder, 100) for folder in folders[:MOST_NAMES])
    return listed + (f" and {more} more" if more > 0 else "")
