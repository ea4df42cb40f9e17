"""The difference between the profiles of two arms: CPU per unit of work of each function, base and head. Pure.

A sampling profiler counts, and counts vary: a change is shown with the variation that chance alone causes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from pushbench.profiling.explanation import ExplainedFunction, Side
from pushbench.profiling.profile import Frame, Profile, Stack

NORMAL_95 = 1.96
UNSAMPLED = Frame("(not sampled)")
MOST_FUNCTIONS = 200


@dataclass(frozen=True)
class Measured:
    """The profile of one arm, and the trial's measurements during the same seconds."""

    profile: Profile
    work: int
    """units of work"""
    cpu_seconds: float
    """of the server, from the kernel's accounting"""
    by_wall: bool
    """The profiler counts time in which a function runs or is ready to run. That is more than its CPU time if two
    servers share a CPU, so only the proportions are used."""

    def per_work(self) -> Profile:
        """CPU seconds per unit of work by stack. Their sum is what the kernel accounted for, unless the samples amount
        to more.
        """
        sampled = self.profile.seconds
        if self.by_wall:
            return self.profile.scaled(self.cpu_seconds / sampled / self.work)
        missing = self.cpu_seconds - sampled
        found = self.profile.scaled(1 / self.work)
        if missing > 0:
            found.stacks[(UNSAMPLED,)] = missing / self.work
        return found


def compare(base: Measured, head: Measured) -> list[ExplainedFunction]:
    """The functions with the largest changes, gains first. Both arms have samples and work."""
    profiles = {"base": base.per_work(), "head": head.per_work()}
    own = {arm: each.own_seconds() for arm, each in profiles.items()}
    totals = {arm: each.seconds for arm, each in profiles.items()}
    callers = _gaining_callers(profiles["base"], profiles["head"])
    unsampled = [_variance_of_rest(each) for each in profiles.values()]
    found = []
    for each in own["base"].keys() | own["head"].keys():
        sides = {
            arm: Side(
                seconds_per_work=own[arm].get(each, 0.0),
                share=own[arm].get(each, 0.0) / totals[arm],
                samples=profiles[arm].samples[each],
            )
            for arm in profiles
        }
        line = profiles["head"].line(each) or profiles["base"].line(each)
        caller = callers.get(each)
        variances = unsampled if each == UNSAMPLED else [_variance(side) for side in sides.values()]
        found.append(
            ExplainedFunction(
                function=each.function,
                file=each.file,
                line=line,
                caller=caller.title() if caller else None,
                base=sides["base"],
                head=sides["head"],
                change_per_work=sides["head"].seconds_per_work - sides["base"].seconds_per_work,
                chance_per_work=NORMAL_95 * sqrt(sum(variances)),
            )
        )
    found.sort(key=lambda each: (-each.change_per_work, each.title))
    return found if len(found) <= MOST_FUNCTIONS else [*found[: MOST_FUNCTIONS // 2], *found[-MOST_FUNCTIONS // 2 :]]


def _variance(side: Side) -> float:
    """The variance of the CPU per unit of work, with a Poisson number of samples. No samples: no variance."""
    return side.seconds_per_work**2 / side.samples if side.samples else 0.0


def _variance_of_rest(profile: Profile) -> float:
    """The variance of the unsampled rest: the kernel's account is exact, so it equals that of all samples."""
    sampled = profile.seconds - profile.stacks.get((UNSAMPLED,), 0.0)
    return sampled**2 / profile.count


def _gaining_callers(base: Profile, head: Profile) -> Mapping[Frame, Frame]:
    """For each function that is not the server's own: the nearest own caller through which it gained most."""
    gained: dict[Frame, Counter[Frame]] = defaultdict(Counter)
    for sign, profile in ((-1, base), (1, head)):
        for stack, seconds in profile.stacks.items():
            if not stack[-1].own and (caller := _own_caller(stack)):
                gained[stack[-1]][caller] += sign * seconds  # type: ignore[assignment] # a Counter of seconds
    return {each: callers.most_common(1)[0][0] for each, callers in gained.items()}


def _own_caller(stack: Stack) -> Frame | None:
    return next((each for each in reversed(stack[:-1]) if each.own), None)
