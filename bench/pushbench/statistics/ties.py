"""Which values are the same within noise: the rule of rankings, described in docs/method.md. Pure.

A subject is what one or several starts measured. The slower of two subjects is beyond noise if all conditions hold:

- its median is larger even without the part that the generator itself added;
- with `ENOUGH` starts of each or more, the rank-sum test finds a difference at 5 %;
- with fewer, where no such test can decide, no start of one lies among those of the other, and the medians are further
  apart than starts of the same code: by `alike`.

The relation is not transitive, so groups have a leader. The best subject opens a group of all subjects within noise of
it, and the first subject beyond it opens the next group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt
from statistics import median

import numpy as np

from pushbench.statistics.rank_sums import p_differ

ENOUGH = 4
"""starts of each: with three the smallest p of the test is 0.1"""
ALPHA = 0.05
NORMAL_95 = 1.96
BETWEEN_STARTS = 0.12
"""the standard deviation of the logarithm of a latency's p95 from start to start of the same code"""


@dataclass(frozen=True)
class Subject:
    """A value of each start, smaller is better, and the part of it that the generator added."""

    name: str
    values: Sequence[float]
    added: float = 0.0

    @property
    def middle(self) -> float:
        return median(self.values)


def groups(subjects: Sequence[Subject]) -> list[list[Subject]]:
    """The groups, the best first: each has the subjects within noise of its first one."""
    found: list[list[Subject]] = []
    for subject in sorted(subjects, key=lambda each: (each.middle, each.name)):
        if found and not is_beyond_noise(found[-1][0], subject):
            found[-1].append(subject)
        else:
            found.append([subject])
    return found


def is_beyond_noise(better: Subject, worse: Subject) -> bool:
    """Whether `worse` is slower by more than noise."""
    if worse.middle - worse.added <= better.middle:
        return False
    if is_tested([better, worse]):
        return p_differ(np.array(better.values), np.array(worse.values)) <= ALPHA
    apart = min(worse.values) > max(better.values)
    return apart and worse.middle > better.middle * alike(len(better.values), len(worse.values))


def is_tested(subjects: Sequence[Subject]) -> bool:
    """Whether the starts themselves show the noise."""
    return min(len(each.values) for each in subjects) >= ENOUGH


def alike(one: int, other: int) -> float:
    """The ratio below which medians of so many starts of the same code stay in nineteen of twenty cases."""
    return exp(NORMAL_95 * BETWEEN_STARTS * sqrt(1 / one + 1 / other))
