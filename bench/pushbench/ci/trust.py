"""Trust: from GitHub's description of a run, what its artifacts may decide, and for which commit. Pure.

The author of a fork controls the workflow and the code of the fork's own runs, so such a run can upload anything. A
check is green only for measurements of a trusted run, or if GitHub's own list of changed files shows that there was
nothing to measure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Literal

from pushbench.ci.event import DEPENDABOT
from pushbench.ci.github_answers import Run
from pushbench.ci.plan import FULL_LABEL, is_link, touched

BENCH = "bench.yml"
WORKFLOW = f".github/workflows/{BENCH}"
DISPATCHED = re.compile(r"bench pull request ([0-9]{1,9}) at ([0-9a-f]{40})", re.ASCII)
"""the name in bench.yml of runs that a maintainer starts for a pull request"""
CONTINUED = re.compile(r"bench continues ([0-9]{1,18}) at ([0-9a-f]{40})", re.ASCII)
"""the name of runs that continue another run"""
NIGHT = "bench night"
"""the name of nightly runs"""

Source = Literal["doubted", "demand", "merge_group", "night", "push", "pull_request", "dispatch"]
RANKS: Mapping[Source, int] = {
    "doubted": 0,
    "demand": 1,  # some of the servers, chosen by hand
    "merge_group": 2,
    "pull_request": 2,
    "dispatch": 3,  # a user with write access has read this very commit
    "push": 3,  # it is on the default branch
    "night": 3,
}
"""ranks for the same commit; between equal ranks, the newer run counts"""
ORIGIN = re.compile(r"run:([0-9]{1,18}):([a-z_]{1,20})", re.ASCII)
QUEUED = re.compile(r"gh-readonly-queue/(.{1,200})/pr-([0-9]{1,9})-([0-9a-f]{40})", re.ASCII)
"""the branch of a merge group; the SHA in it is the base"""


@dataclass(frozen=True)
class Home:
    """The repository of the runs, as described by GitHub."""

    name: str
    """`owner/name`"""
    default_branch: str


@dataclass(frozen=True)
class Standing:
    """The significance of a run."""

    source: Source
    sha: str
    """the commit that the run is about"""
    pull_request: int | None = None
    """its number, if a maintainer's dispatch names one"""
    continues: int | None = None
    """the id of the run that this one continues"""
    doubt: str = ""
    """why its artifacts are not read, as a sentence without a subject; empty if they are read"""

    @property
    def believed(self) -> bool:
        return not self.doubt


@dataclass(frozen=True)
class Wanted:
    """The measurements that a pull request needs; false if there are none."""

    compared: Sequence[str] = ()
    """folders of servers that changed"""
    new: Sequence[str] = ()
    """folders of servers that the default branch lacks"""
    everything: Sequence[str] = ()
    """why every server has to be measured"""

    def __bool__(self) -> bool:
        return bool(self.compared or self.new or self.everything)


@dataclass(frozen=True)
class Origin:
    """The run that wrote a check: the `external_id` of the check run."""

    run: int
    source: Source

    def __str__(self) -> str:
        return f"run:{self.run}:{self.source}"

    def outranks(self, other: Origin) -> bool:
        """Whether the other origin may not replace a check of this origin."""
        if self.run == other.run:
            return False
        return (RANKS[self.source], self.run) > (RANKS[other.source], other.run)


def origin_of(external_id: str) -> Origin | None:
    """The origin; None for a check run that Pushbench did not write, such as a job's."""
    found = ORIGIN.fullmatch(external_id)
    source: Source | None = next((each for each in RANKS if found and each == found[2]), None)
    return Origin(int(found[1]), source) if found and source else None


def standing(run: Run, home: Home, authors: Sequence[str | None] = ()) -> Standing:
    """The run's standing. `authors` are those of the pull requests from its branch, None for a deleted account."""
    match run.event:
        case "pull_request":
            doubt = _doubt_of_pull_request(run, home, authors)
            return Standing("doubted" if doubt else "pull_request", run.head_sha, doubt=doubt)
        case "merge_group":
            return Standing("merge_group", run.head_sha, doubt="was made by the merge queue, and measures nothing")
        case "push" | "workflow_dispatch":
            if doubt := _doubt_of_branch(run, home):
                return Standing("doubted", run.head_sha, doubt=doubt)
            return Standing("push", run.head_sha) if run.event == "push" else _dispatched(run)
    return Standing(
        "doubted", run.head_sha, doubt=f"was started by the event {run.event[:40]!r}, which measures nothing"
    )


def continuing(found: Standing, first: Standing | None) -> Standing:
    """The standing of a run that continues another one, whose own is `first`; None if that is unknown."""
    taken_up = first is not None and first.source in ("push", "night") and first.continues is None
    if first is None or not taken_up or not first.believed or first.sha != found.sha:
        doubt = f"claims to continue the run {found.continues}, which is not a night or push of that commit"
        return replace(found, source="doubted", doubt=doubt)
    return replace(found, source=first.source)


def of_foreign_head(run: Run, home: Home) -> bool:
    """Whether the head is in another repository, which includes a deleted one."""
    return run.head_repository is None or run.head_repository.full_name != home.name


def to_measure(changed: Mapping[str, bool], labels: frozenset[str], folders: frozenset[str]) -> Wanted:
    """The measurements that a pull request needs.

    `changed` are the changed paths, each with whether it is deleted; `folders` those of the servers of the default
    branch. A server whose server.yml is deleted needs no measurement.
    """
    touched_folders, harness = touched(list(changed))
    gone = {PurePosixPath(path).parts[1] for path, is_gone in changed.items() if is_gone and _describes_a_server(path)}
    parts = [PurePosixPath(path).parts for path, is_gone in changed.items() if not is_gone]
    left = sorted(touched_folders - (gone - {each[1] for each in parts if is_link(each)}))
    return Wanted(
        compared=[folder for folder in left if folder in folders],
        new=[folder for folder in left if folder not in folders],
        everything=[
            *(["what measures changed"] if harness else []),
            *([f"the label {FULL_LABEL} asks for it"] if FULL_LABEL in labels else []),
        ],
    )


def _describes_a_server(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return len(parts) == 3 and parts[0] == "servers" and parts[2] == "server.yml"


def _doubt_of_pull_request(run: Run, home: Home, authors: Sequence[str | None]) -> str:
    if run.workflow_file != WORKFLOW:
        return f"belongs to the workflow file {run.workflow_file[:100]!r}, not to {WORKFLOW}"
    if of_foreign_head(run, home):
        return "comes from another repository, whose own workflow decides what it uploads"
    if run.actor is None or run.actor.login == DEPENDABOT or DEPENDABOT in authors:
        return "comes from Dependabot, whose token cannot push images"
    if not authors or None in authors:
        return "comes from no pull request with a known author"
    return ""


def _doubt_of_branch(run: Run, home: Home) -> str:
    if run.workflow_file != WORKFLOW:
        return f"belongs to the workflow file {run.workflow_file[:100]!r}, not to {WORKFLOW}"
    if of_foreign_head(run, home):
        return "comes from another repository, whose own workflow decides what it uploads"
    if run.head_branch != home.default_branch:
        return f"comes from another branch than {home.default_branch}, whose authors choose what it uploads"
    return ""


def _dispatched(run: Run) -> Standing:
    """The standing from its name, which the default branch's workflow built from the inputs of a trusted user."""
    if named := DISPATCHED.fullmatch(run.display_title):
        return Standing("dispatch", named[2], pull_request=int(named[1]))
    if named := CONTINUED.fullmatch(run.display_title):
        return Standing("push", named[2], continues=int(named[1]))
    return Standing("night" if run.display_title == NIGHT else "demand", run.head_sha)
