"""Groups of values that stand out from the others: machines, by their measurements of the same server. Pure.

A group stands out if both conditions hold:

- its mean logarithm differs from that of the other groups by more than `margin`, a share that matters;
- the t-test with the scatter inside all groups finds it: at `ALPHA` over all groups of a call together.

The group that stands out most is removed first, and the others are tested again. Unless more than half of the groups
remain, it is unknown which are right, and all stand out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import atan, cos, expm1, log, log1p, pi, sin, sqrt
from statistics import fmean

ALPHA = 0.01
"""how often groups without a difference have one that stands out"""
LEAST = 2
"""values of a group that can be judged"""


def strays(groups: Mapping[str, Sequence[float]], margin: float, *, tests: int = 1) -> list[str]:
    """The names of the groups that stand out, in alphabetical order. Values are above 0, at least `LEAST` a group.

    `tests` is the number of such tests on the same groups: each gets its part of `ALPHA`.
    """
    left = {name: [log(value) for value in values] for name, values in groups.items()}
    found: list[str] = []
    while len(left) > 1:
        worst = max(left, key=lambda name: _distance(left, name))
        if not _stands_out(left, worst, margin, ALPHA / tests / len(groups)):
            break
        found.append(worst)
        del left[worst]
    return sorted(found if 2 * len(left) > len(groups) else groups)


def p_of_t(t: float, degrees: int) -> float:
    """The probability of a t as far from 0 as this, in either direction (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = atan(abs(t) / sqrt(degrees))
    odd = degrees % 2
    term = total = cos(angle) if odd else 1.0
    for each in range(2 + odd, degrees - 1, 2):
        term *= (each - 1) / each * cos(angle) ** 2
        total += term
    if degrees == 1:
        total = 0.0
    inside = (angle + sin(angle) * total) * 2 / pi if odd else sin(angle) * total
    return max(0.0, 1.0 - inside)


def difference(groups: Mapping[str, Sequence[float]], name: str) -> float:
    """How much larger the values of a group are than those of the others, as a share."""
    logs = {each: [log(value) for value in values] for each, values in groups.items()}
    return expm1(_contrast(logs, name))


def _contrast(logs: Mapping[str, Sequence[float]], name: str) -> float:
    return fmean(logs[name]) - fmean(fmean(values) for each, values in logs.items() if each != name)


def _t(logs: Mapping[str, Sequence[float]], name: str) -> tuple[float, int]:
    """The t of a group against the mean of the others, and its degrees of freedom."""
    degrees = sum(len(values) - 1 for values in logs.values())
    squares = sum((value - fmean(values)) ** 2 for values in logs.values() for value in values)
    others = [values for each, values in logs.items() if each != name]
    parts = 1 / len(logs[name]) + sum(1 / len(values) for values in others) / len(others) ** 2
    error = sqrt(squares / degrees * parts)
    return _contrast(logs, name) / max(error, 1e-12), degrees


def _distance(logs: Mapping[str, Sequence[float]], name: str) -> float:
    return abs(_t(logs, name)[0])


def _stands_out(logs: Mapping[str, Sequence[float]], name: str, margin: float, alpha: float) -> bool:
    t, degrees = _t(logs, name)
    return abs(_contrast(logs, name)) > log1p(margin) and p_of_t(t, degrees) <= alpha
