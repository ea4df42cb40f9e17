"""The plan of a measurement from an event and its changed paths. Pure."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import Field

from pushbench.catalog.servers import Server, select
from pushbench.ci import steps as commands
from pushbench.ci.budget import Budget, Doubt, Share, share, within_job
from pushbench.ci.event import Event, Inputs
from pushbench.ci.steps import MOST_MACHINES, Kind, Settings, Step, by_suite
from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.foundation.text import one_line

THRESHOLDS = "thresholds.yml"
HARNESS = (
    "bench/pushbench/*",
    "bench/requirements.txt",
    "k6/*",
    "compose/bench.yml",
    "compose/images.lock.json",
    THRESHOLDS,
    "pushbench",
)
"""files that affect every number (fnmatch, where `*` also matches slashes)"""
PLACES = frozenset({"servers", *(str(up) for each in HARNESS for up in PurePosixPath(each).parents)})
"""relevant folders: a changed path with such a name is a link or a submodule in the folder's place"""
FULL_LABEL = "bench:full"
OF_ANOTHER = "workflow_call"
"""the event of plans for a server from another repository"""
LONGEST_NOTE, LONGEST_NAME, MOST_NAMES = 2_000, 100, 20
"""limits for a plan's text: users choose names of folders, logs show them, and a variable holds the whole plan"""


Identifier = Annotated[str, Field(max_length=200)]
PathOfFile = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$", max_length=300)]


class Plan(Document):
    """The plan of a job: its measurements, and notes on what it leaves out."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    event: str = Field(
        description="name of the event on GitHub; `schedule` for every nightly run, even one that a user started"
    )
    sha: str = Field(description="commit to measure")
    base: str | None = Field(description="commit to compare it with; null without a comparison")
    pull_request: int | None
    untrusted: bool = Field(
        description="whether the change is by an untrusted contributor, so that only images run, with the base "
        "branch's harness"
    )
    driver: str
    steps: list[Step]
    images: list[str] = Field(description="servers whose images the steps need")
    notes: list[str] = Field(description="notes for readers, as sentences")
    left_out: list[str] = Field(
        default=[], description="changes that are not measured, and without which the run cannot pass"
    )
    reduced: list[str] = Field(
        default=[], description="servers with the smaller profile, because there is no time for the larger one"
    )
    promises: dict[Identifier, PathOfFile] = Field(
        default={}, description="path in the repository of each thresholds.yml that belongs to one server, by server"
    )
    shards: list[list[str]] = Field(
        default=[], description="servers of each machine; empty for one machine", max_length=MOST_MACHINES
    )
    control: Step | None = Field(
        default=None, description="step that each of several machines also measures; null for one machine"
    )
    shard: int | None = Field(
        default=None, description="number of the machine whose part the plan is; null for a whole plan"
    )

    @property
    def is_of_pull_request(self) -> bool:
        """Whether it is for a pull request, of this repository or of another one whose server was adopted."""
        return self.pull_request is not None or (self.event == OF_ANOTHER and self.base is not None)


@dataclass(frozen=True)
class Change:
    """The changes between two commits."""

    base: str
    """full hash of the commit from which changes count"""
    paths: Sequence[str]
    servers_at_base: frozenset[str]
    """folders below servers/"""
    head: str | None = None
    """full hash of the commit to measure; None for the checked-out one"""
    accepts_only: bool = False
    """thresholds.yml differs only in the regressions that it accepts"""
    accepted: frozenset[str] = frozenset()
    """servers with a regression that it newly accepts"""


def make_plan(
    event: Event,
    catalog: Sequence[Server],
    change: Change | None,
    settings: Settings,
    day: date,
    *,
    budget: Budget | None = None,
) -> Plan:
    """The plan of an event. `change` is needed for pull requests and if the inputs name a base; without a `budget`,
    time is unlimited.
    """
    steps: list[Step] = []
    notes: list[str] = []
    base = change.base if change else None
    match "schedule" if event.night else event.name:
        case "push" if event.other_branch:
            notes.append(f"a push to another branch than {event.default_branch}: only that one has a trend")
        case "push":
            doubts = _affordable(settings, budget, notes)
            base = min(doubts, key=lambda doubt: doubt.created).base if doubts else None
            steps = list(_doubted(doubts, base, settings))
        case "merge_group":
            notes.append("a merge queue: each of its pull requests was measured alone")
        case "schedule":
            _require_alone(event)
            steps = [commands.control(catalog, settings, day), *_searches(catalog, settings, day, budget)]
        case "pull_request":
            assert change, "a pull request has a base"
            steps = within_job(list(_of_change(event, catalog, change, settings, notes)), settings, notes)
        case "workflow_dispatch":
            _require_consistent(event.inputs)
            steps = within_job(list(_of_inputs(event, catalog, change, settings, notes)), settings, notes)
    reduced: list[str] = []
    if measures_everything(event):
        shared = _shared(event, catalog, settings, budget, steps)
        reduced = [server.id for server in shared.small]
        notes += shared.notes
        whole = list(_measure(event, shared, settings))
        steps = [*steps, *whole] if event.pull_request else [*whole, *steps]
    if event.name == "pull_request" and event.untrusted and steps:
        notes.append(_waiting(event))
    left_out = _left_out(event, catalog, change)
    if left_out:
        notes.append(f"changed, but left out of this run, which cannot pass without them: {', '.join(left_out)}")
    return Plan(
        event="schedule" if event.night else event.name,
        sha=event.inputs.head or event.sha,
        base=base,
        pull_request=_number(event),
        untrusted=event.untrusted,
        driver="docker" if event.untrusted else settings.driver,
        steps=steps,
        images=sorted({server for step in steps for server in step.servers}),
        notes=[one_line(note, LONGEST_NOTE) for note in notes],
        left_out=left_out,
        reduced=reduced,
    )


def measures_everything(event: Event) -> bool:
    """Whether the event requests every server: a point of the trend, or a pull request with the label for it."""
    if event.pull_request:
        return FULL_LABEL in event.pull_request.labels
    return event.night or (event.name == "push" and not event.other_branch)


def whole_profile(event: Event, settings: Settings) -> str:
    """The profile of a run of every server."""
    return "full" if event.pull_request else settings.push_profile


def touched(paths: Sequence[str]) -> tuple[frozenset[str], bool]:
    """The folders below servers/ that changed, and whether the harness did."""
    parts = [PurePosixPath(path).parts for path in paths]
    folders = frozenset(each[1] for each in parts if each[:1] == ("servers",) and (len(each) > 2 or is_link(each)))
    harness = any(path in PLACES or fnmatch.fnmatchcase(path, each) for path in paths for each in HARNESS)
    return folders, harness


def is_link(parts: Sequence[str]) -> bool:
    """Whether a path is a link or a submodule in the place of a server's folder, whose name has no dot. Git lists it as
    one path, whatever its target.
    """
    return len(parts) == 2 and parts[0] == "servers" and "." not in parts[1]


def _affordable(settings: Settings, budget: Budget | None, notes: list[str]) -> list[Doubt]:
    """The most urgent doubts that fit into the time."""
    doubts = list(budget.doubts) if budget else []
    number = int(settings.doubt_seconds // settings.max_seconds)
    if left := [doubt.server.id for doubt in doubts[number:]]:
        named = ", ".join(left[:MOST_NAMES])
        notes.append(f"the history cannot judge them, and PUSHBENCH_DOUBT_TIME is too short to compare them: {named}")
    return doubts[:number]


def _doubted(doubts: Sequence[Doubt], base: str | None, settings: Settings) -> Iterator[Step]:
    """Comparisons with the last accepted commit. If these differ, with the oldest one: all are accepted."""
    for suite, servers in by_suite([doubt.server for doubt in doubts]).items():
        assert base, "there are doubts"
        ids = [server.id for server in servers]
        arguments = _compare_arguments(suite, ["--base", base], settings, ["--servers", ",".join(ids)])
        why = "; ".join(dict.fromkeys(doubt.why for doubt in doubts if doubt.server in servers))
        yield Step(kind="compare", arguments=arguments, servers=ids, why=why)


def _searches(catalog: Sequence[Server], settings: Settings, day: date, budget: Budget | None) -> Iterator[Step]:
    """Searches for capacities, for suites that define one."""
    suites = budget.suites if budget else {}
    able = [server for server in catalog if (suite := suites.get(server.spec.suite)) and suite.spec.capacity]
    yield from commands.capacities(able, settings, day) if able else ()


def _shared(
    event: Event, catalog: Sequence[Server], settings: Settings, budget: Budget | None, beside: Sequence[Step]
) -> Share:
    if budget is None:
        return Share(catalog, [], [])
    return share(catalog, settings, whole_profile(event, settings), budget, beside)


def _measure(event: Event, shared: Share, settings: Settings) -> Iterator[Step]:
    """Runs of every server. Those with the larger profile come last: a site begins with the latest measurements."""
    why = "every push is a point of the trend"
    if event.night:
        why = "once a night the same commit again, which shows how much nights differ"
    if event.pull_request:
        why = f"the label {FULL_LABEL} asks for it"
    profile, named = whole_profile(event, settings), bool(shared.small)
    no_time = f"{why}; there is no time for the profile {profile}"
    yield from commands.run(shared.small, settings.check_profile, no_time)
    yield from commands.run(shared.large, profile, why, named=named)


def _of_change(
    event: Event, catalog: Sequence[Server], change: Change, settings: Settings, notes: list[str]
) -> Iterator[Step]:
    folders, harness = _touched_by(change)
    given = event.inputs  # of a dispatch; empty for a pull request's event
    named = select(catalog, _names(given)) if _names(given) else None
    own = [server for server in catalog if server.folder.name in folders] if named is None else named
    known = [server for server in own if server.folder.name in change.servers_at_base]
    for suite, servers in by_suite(known).items():
        ids = [server.id for server in servers]
        rounds = ["--max-rounds", given.rounds] if given.rounds else []
        accept = ["--accept"] if given.accept == "true" and change.head else []
        options = ["--servers", ",".join(ids), *rounds, *accept]
        arguments = _compare_arguments(suite, _arms(change), settings, options, given.profile)
        why = "their sources changed" if named is None else "they were requested"
        yield Step(kind="compare", arguments=arguments, servers=ids, why=why)
    if idle := sorted(change.accepted & {server.id for server in catalog if server not in known}):
        notes.append(
            f"{THRESHOLDS} accepts a regression of servers that are not compared: remove the lines of {', '.join(idle)}"
        )
    new = [server for server in own if server not in known]
    if new and event.untrusted:
        notes.append(f"new, and measured when they are merged: {', '.join(server.id for server in new)}")
    else:
        yield from commands.run(
            new, settings.check_profile, "they are new: there is nothing to compare them with", named=True
        )
    if harness and not event.untrusted:
        rest = [server for server in catalog if server not in new]
        yield from commands.run(
            rest,
            settings.check_profile,
            "what measures changed, which both arms of a comparison would share",
            named=True,
        )
    elif harness:
        notes.append("what measures is that of the base branch: its changes here were not tried")
    absent = folders - {server.folder.name for server in catalog} if named is None else frozenset()
    if event.untrusted and (unmerged := sorted(absent - change.servers_at_base)):
        notes.append(f"new, and measured when they are merged: {', '.join(unmerged)}")
        absent &= change.servers_at_base
    if gone := sorted(absent):
        notes.append(f"no longer there, so not measured: {', '.join(gone)}")
    if not (own or harness):
        notes.append("no server and nothing that measures changed: there is nothing to measure")


def _of_inputs(
    event: Event, catalog: Sequence[Server], change: Change | None, settings: Settings, notes: list[str]
) -> Iterator[Step]:
    given = event.inputs
    if given.pull_request:
        assert change, "a pull request has a base"
        yield from _of_change(event, catalog, change, settings, notes)
        return
    if given.accept == "true":
        raise UserError("the input accept needs the inputs pull_request and head", hint="it is for one pull request")
    names = _names(given)
    chosen = select(catalog, names) if names else catalog
    own = {suite: servers for suite, servers in by_suite(chosen).items() if given.suite in ("", suite)}
    if not own:
        raise UserError(f"no server belongs to the suite {given.suite!r}", hint="see `pushbench suites`")
    for suite, servers in own.items():
        ids = [server.id for server in servers]
        which = ["--servers", ",".join(ids)] if names else []
        kind: Kind
        if change:
            kind, rounds = "compare", ["--max-rounds", given.rounds] if given.rounds else []
            arguments = _compare_arguments(suite, _arms(change), settings, [*which, *rounds], given.profile)
        else:
            kind, rounds = "run", ["--rounds", given.rounds] if given.rounds else []
            profile = given.profile or settings.check_profile
            arguments = ["run", "--suite", suite, "--profile", profile, *which, *rounds]
        yield Step(kind=kind, arguments=arguments, servers=ids, why="it was requested")


def _names(given: Inputs) -> list[str]:
    return [name for name in given.servers.replace(" ", "").split(",") if name]


def _left_out(event: Event, catalog: Sequence[Server], change: Change | None) -> list[str]:
    """Changes of a pull request that a maintainer's run does not measure, and without which it cannot pass. These are
    servers that the inputs do not name, new servers, and the harness, which such a run takes from the default
    branch.
    """
    if not (change and event.inputs.pull_request):
        return []
    folders, harness = _touched_by(change)
    changed = [server.id for server in catalog if server.folder.name in folders & change.servers_at_base]
    names = _names(event.inputs)
    named = {server.id for server in select(catalog, names)} if names else set(changed)
    left = [server for server in changed if server not in named]
    new = [one_line(folder, LONGEST_NAME) for folder in sorted(folders - change.servers_at_base)[:MOST_NAMES]]
    return [*left, *new, *(["what measures"] if harness else [])]


def _touched_by(change: Change) -> tuple[frozenset[str], bool]:
    return touched([path for path in change.paths if not (change.accepts_only and path == THRESHOLDS)])


def _arms(change: Change) -> list[str]:
    return ["--base", change.base, *(["--head", change.head] if change.head else [])]


def _compare_arguments(
    suite: str, arms: Sequence[str], settings: Settings, options: Sequence[str], profile: str = ""
) -> list[str]:
    load = ["--suite", suite, "--profile", profile or settings.compare_profile]
    return ["compare", *arms, *load, "--max-time", settings.max_time, *options]


def _require_alone(event: Event) -> None:
    if given := event.inputs.besides("night"):
        raise UserError(f"a night measures everything, so it takes no {', '.join(given)}", hint="leave them empty")


def _require_consistent(given: Inputs) -> None:
    """Require consistent inputs: they also determine the name of the run, on which `trust` relies."""
    if given.head and not given.pull_request:
        raise UserError("the input head needs pull_request", hint="without it the default branch is measured")
    fits_not = {"first": given.first, **({"base": given.base, "suite": given.suite} if given.pull_request else {})}
    if wrong := [name for name, value in fits_not.items() if value]:
        what = "run of a pull request" if given.pull_request else "run that does not continue another one"
        raise UserError(f"a {what} takes no {', '.join(wrong)}", hint="leave them empty")


def _number(event: Event) -> int | None:
    if event.pull_request:
        return event.pull_request.number
    return int(event.inputs.pull_request) if event.inputs.pull_request else None


def _waiting(event: Event) -> str:
    assert event.pull_request
    return (
        "from a fork or of Dependabot, so not measured automatically: a maintainer who has read it starts "
        f"`gh workflow run bench.yml -f pull_request={event.pull_request.number} -f head={event.sha}`"
    )
