"""The servers that a push or night measures with the larger profile, so that everything fits into its job. Pure.

Servers that changed since their last run with that profile come first, then those that waited the longest for one. The
others get the smaller profile. So each server gets its turn, and the history alone decides when.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pushbench.catalog.servers import Server
from pushbench.catalog.suites import Suite
from pushbench.ci.steps import CONTROL_ROUNDS, SEARCH_SECONDS, Settings, Step
from pushbench.drivers.driver import START_SECONDS, STOP_SECONDS
from pushbench.drivers.services import READY_SECONDS
from pushbench.foundation.errors import UserError
from pushbench.generator.load import MARGIN_SECONDS, planned_seconds
from pushbench.measuring.plan import trial_seconds
from pushbench.metrics.units import format_elapsed
from pushbench.records.record import Schedule

JOB_SECONDS = 330 * 60.0
"""the time limit of the job bench in bench.yml"""
MEASURING_SHARE = 0.8
"""of a job, for the rounds of comparisons; the rest is for builds and rules of both arms"""
TOTAL_TIME = "--total-time"
VERIFY_SECONDS = 10.0
"""of each server before its first trial: about the time of a slow one; several are verified in parallel"""
LOOKS_WORSE = "its last runs look worse, and the history cannot tell yet"
CANNOT_TELL = "it changed since it was last measured, and its runs scatter too much for the history to tell"
TIMES = 2
"""maximum measurements of a trial"""


@dataclass(frozen=True)
class Cost:
    """Seconds on the machine that measures."""

    expected: float = 0.0
    """if the servers keep up and the machine is undisturbed"""
    most: float = 0.0
    """if each trial takes as long as it may, and is measured twice"""

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.expected + other.expected, self.most + other.most)


@dataclass(frozen=True)
class Turn:
    """The last time that a server was measured with the larger profile."""

    last: str = ""
    """a timestamp; empty if there was none"""
    changed: bool = False
    """its folder has changed since then"""


@dataclass(frozen=True)
class Doubt:
    """One server that the history cannot decide about, and the last commit without evidence against it."""

    server: Server
    base: str
    created: str
    """of the run of that commit, a timestamp"""
    why: str

    @property
    def order(self) -> tuple[bool, str]:
        """Servers that look worse come first."""
        return self.why != LOOKS_WORSE, self.server.id


@dataclass(frozen=True)
class Budget:
    """The inputs of the decision."""

    seconds: float | None
    """of a job; None if there is no limit"""
    suites: Mapping[str, Suite]
    turns: Mapping[str, Turn]
    """by the id of a server; a missing server has not had its turn yet"""
    doubts: Sequence[Doubt] = ()
    """the most urgent first: servers that a push compares because their history is inconclusive"""
    machines: int = 1
    """number of machines that share the servers"""
    control_seconds: float = 0.0
    """for the control server, which each of several machines measures in addition"""

    @property
    def all_seconds(self) -> float | None:
        """Of the jobs of all machines, for the servers."""
        return None if self.seconds is None else (self.seconds - self.control_seconds) * self.machines


@dataclass(frozen=True)
class Share:
    """How the servers of a plan are measured."""

    large: Sequence[Server]
    small: Sequence[Server]
    notes: Sequence[str]
    """sentences with the profile of each server, the reason, and the time"""


def share(servers: Sequence[Server], settings: Settings, profile: str, budget: Budget, beside: Sequence[Step]) -> Share:
    """Choose the servers that get `profile`, as many as fit; the others get the profile of checks.

    `beside` has the job's other steps. Raises UserError for a suite that lacks one of the profiles.
    """
    large = {server.id: cost(budget.suites, server.spec.suite, profile) for server in servers}
    other = total(cost_of(step, settings, budget.suites) for step in beside)
    whole = other + total(large.values())
    if budget.all_seconds is None:
        return Share(servers, [], list(_too_long(whole, budget.machines)))
    if whole.expected <= budget.all_seconds:
        return Share(servers, [], [_time(whole), *_too_long(whole, budget.machines)])
    small = {server.id: cost(budget.suites, server.spec.suite, settings.check_profile) for server in servers}
    chosen = _chosen(servers, large, small, budget, other)
    planned = other + total(large[each] if each in chosen else small[each] for each in large)
    said = _Said(budget, profile, settings.check_profile, chosen, len(servers), whole, planned)
    return Share(
        [server for server in servers if server.id in chosen],
        [server for server in servers if server.id not in chosen],
        list(said.notes()),
    )


def cost_of(step: Step, settings: Settings, suites: Mapping[str, Suite]) -> Cost:
    """The time of a step. Comparisons and searches end when their time is up."""
    if step.kind == "capacity":
        each = VERIFY_SECONDS + SEARCH_SECONDS
        return Cost(each * len(step.servers), each * len(step.servers))
    if step.kind == "machine":
        once = cost(suites, step.argument("--suite"), step.argument("--profile"))
        return total([once] * CONTROL_ROUNDS)
    if step.kind != "run":
        seconds = settings.max_seconds * len(step.servers)
        if TOTAL_TIME in step.arguments:
            seconds = min(seconds, float(step.argument(TOTAL_TIME).removesuffix("s")))
        return Cost(seconds, seconds)
    return total(cost(suites, step.argument("--suite"), step.argument("--profile")) for _ in step.servers)


def within_job(steps: Sequence[Step], settings: Settings, notes: list[str]) -> list[Step]:
    """The steps, with their comparisons limited to the job's time in total; a note names the time per server."""
    compared = [step for step in steps if step.kind == "compare"]
    servers = sum(len(step.servers) for step in compared)
    seconds = (settings.job_seconds or JOB_SECONDS * MEASURING_SHARE) * settings.machines
    if servers * settings.max_seconds <= seconds:
        return list(steps)
    notes.append(
        f"{servers} servers are compared, {settings.max_time} at most each, {format_elapsed(seconds)} in total: "
        f"{format_elapsed(seconds / servers)} each, plus the time left over by servers decided early; for the full "
        f"time, the job needs {format_elapsed(servers * settings.max_seconds)}"
    )
    return [with_time(step, seconds * len(step.servers) / servers) if step in compared else step for step in steps]


def with_time(step: Step, seconds: float) -> Step:
    """A comparison with `seconds` for all its servers together."""
    arguments = list(step.arguments)
    if TOTAL_TIME in arguments:
        del arguments[arguments.index(TOTAL_TIME) : arguments.index(TOTAL_TIME) + 2]
    return step.model_copy(update={"arguments": [*arguments, TOTAL_TIME, f"{seconds:.0f}s"]})


def cost(suites: Mapping[str, Suite], suite: str, profile: str) -> Cost:
    """The time of a server's verification and trial. Raises UserError for a profile that the suite lacks."""
    if suite not in suites:
        raise UserError(f"there is no suite {suite!r}", hint="see `pushbench suites`")
    load = suites[suite].load(profile, {})
    times = TIMES if load.repeats_disturbed else 1
    return Cost(
        VERIFY_SECONDS + trial_seconds(load.schedule),
        VERIFY_SECONDS + longest_trial_seconds(load.schedule) * times,
    )


def longest_trial_seconds(schedule: Schedule) -> float:
    """The maximum time of a trial with a service. A longer trial is aborted and fails."""
    return READY_SECONDS + START_SECONDS + planned_seconds(schedule) + MARGIN_SECONDS + STOP_SECONDS


def total(costs: Iterable[Cost]) -> Cost:
    return sum(costs, Cost())


def _chosen(
    servers: Sequence[Server], large: Mapping[str, Cost], small: Mapping[str, Cost], budget: Budget, other: Cost
) -> list[str]:
    """The ids of the servers that get the larger profile, in order of selection."""
    assert budget.all_seconds is not None
    more = {each: large[each].expected - small[each].expected for each in large}
    chosen = [each for each in large if more[each] <= 0]
    left = budget.all_seconds - other.expected - sum(min(large[each].expected, small[each].expected) for each in large)
    for server in sorted(servers, key=lambda each: _order(budget.turns, each.id)):
        if server.id not in chosen and more[server.id] <= left:
            chosen.append(server.id)
            left -= more[server.id]
    return chosen


def _order(turns: Mapping[str, Turn], server: str) -> tuple[bool, str, str]:
    """Changed servers come first, then those that waited the longest."""
    turn = turns.get(server, Turn())
    return not turn.changed, turn.last, server


def _too_long(planned: Cost, machines: int) -> Iterator[str]:
    if planned.expected > JOB_SECONDS * machines:
        yield (
            f"this takes about {format_elapsed(planned.expected)}, and the job ends after "
            f"{format_elapsed(JOB_SECONDS)}: set the variable PUSHBENCH_JOB_TIME to 5h"
        )


def _time(planned: Cost) -> str:
    return (
        f"the plan takes about {format_elapsed(planned.expected)}, and at most {format_elapsed(planned.most)}, if "
        "every trial is as slow as allowed and is measured twice"
    )


@dataclass(frozen=True)
class _Said:
    """The sentences about servers with different profiles."""

    budget: Budget
    large: str
    small: str
    """profiles"""
    chosen: Sequence[str]
    servers: int
    whole: Cost
    planned: Cost

    def notes(self) -> Iterator[str]:
        assert self.budget.seconds is not None
        assert self.budget.all_seconds is not None
        each = f" on each of {self.budget.machines} machines" if self.budget.machines > 1 else ""
        yield (
            f"{len(self.chosen)} of {self.servers} servers get the profile {self.large}, the others {self.small}: with "
            f"{self.large}, all take about {format_elapsed(self.whole.expected)}, and PUSHBENCH_JOB_TIME is "
            f"{format_elapsed(self.budget.seconds)}{each}"
        )
        changed = [each for each in self.chosen if self.budget.turns.get(each, Turn()).changed]
        waited = [each for each in self.chosen if each not in changed]
        if changed:
            yield f"these changed since their last run with {self.large}: {', '.join(changed)}"
        if waited:
            yield f"these waited the longest for a run with {self.large}: {', '.join(waited)}"
        if self.planned.expected > self.budget.all_seconds:
            yield f"even with {self.small} the servers take longer than PUSHBENCH_JOB_TIME"
        yield _time(self.planned)
        yield from _too_long(self.planned, self.budget.machines)
