"""What more rounds of a comparison would show, estimated from the noise of the rounds so far. Pure.

Both estimates repeat the existing rounds: their differences represent those of later rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil, inf, log1p, sqrt
from statistics import NormalDist

import numpy as np

from pushbench.foundation.text import counted
from pushbench.judging.comparison import FEWEST_PAIRS, Contrast
from pushbench.judging.sequential import ENOUGH_ROUNDS, claim
from pushbench.judging.thresholds import Regression, Thresholds
from pushbench.statistics import signed_ranks

CLEAR_ROUNDS = 8
"""rounds that decide a doubled cost, and most rows that did not change"""
POWER_Z = 1.2816
"""normal quantile of 0.9: a change is visible when nine of ten comparisons would call it"""
LONGER = 1.25
"""factor from each number of rounds to the next one tried"""
MOST_TIMES = 10
"""multiple of the rounds so far: there is no estimate beyond it"""
FARTHEST = 1000.0
"""margins: the largest change that is searched for"""
DECIDED_Z = 1.6449
"""normal quantile of 0.95: rounds are enough when 19 of 20 comparisons are decided after them"""
FEWEST_KNOWN = 3
"""rounds: fewer do not show their noise"""
USUAL_ROWS = 12
"""rows of one server: as many as a suite has margins"""
MOST_NEEDED = 1000
"""rounds: anything that needs more is not suitable for a comparison"""
STEPS = 10
"""halvings in the search for the smallest visible change"""


def visible(seen: Contrast, rows: int, rounds: int) -> float | None:
    """The smallest effect that nine of ten comparisons with this noise would call, given the rows and rounds."""
    if len(seen.differences) < FEWEST_PAIRS:
        return None
    noise = seen.differences - signed_ranks.centre(seen.differences)
    many = np.resize(noise, max(rounds, len(noise)))
    unsure = POWER_Z * float(noise.std(ddof=1)) / sqrt(len(many))

    def called(shift: float) -> bool:
        return claim(replace(seen, differences=many + shift), rows).word == "worse"

    high = seen.margin
    while not called(high):
        high *= 2
        if high > FARTHEST * seen.margin:
            return None
    low = high / 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if called(middle) else (middle, high)
    return high + unsure


def rounds_to_decide(seen: Contrast, rows: int) -> int | None:
    """About how many rounds would decide; None if ten times as many as so far would not."""
    count = len(seen.differences)
    rounds = max(FEWEST_PAIRS, count + 1)
    while count >= FEWEST_KNOWN and rounds <= MOST_TIMES * max(count, FEWEST_PAIRS):
        if claim(replace(seen, differences=np.resize(seen.differences, rounds)), rows).word != "unknown":
            return rounds
        rounds = ceil(LONGER * rounds)
    return None


@dataclass(frozen=True)
class Allowed:
    """The bounds that end a comparison, decided or not."""

    seconds: float
    """for each server"""
    all_seconds: float = inf
    """for all servers together"""
    rounds: int | None = None

    def fewest(self, round_seconds: Mapping[str, float]) -> int:
        """The rounds of the slowest server, if none is decided early."""
        slowest, whole = max(round_seconds.values()), sum(round_seconds.values())
        return int(min(self.seconds / slowest, self.all_seconds / whole, self.rounds or inf))


def rounds_needed(thresholds: Thresholds, suite: str, servers: Iterable[str]) -> dict[str, int]:
    """How many rounds decide each server: more than usual if a margin gives its noise."""
    return {
        server: max(
            [ENOUGH_ROUNDS, *(rounds_of_noise(each) for each in thresholds.margins(suite, server) if each.noise)]
        )
        for server in servers
    }


def too_short(round_seconds: Mapping[str, float], allowed: Allowed, needed: Mapping[str, int]) -> str:
    """A sentence if a comparison decides little, with the bounds that would be enough; otherwise empty.

    `round_seconds` is how long a round of each server takes, and `needed` how many rounds decide it.
    """
    would_do = list(_would_do(round_seconds, allowed, needed))
    if not would_do:
        return ""
    rounds, give = allowed.fewest(round_seconds), f"give {', and '.join(would_do)}"
    if rounds < CLEAR_ROUNDS:
        return f"{counted(rounds, 'round')} can hardly decide anything: {give}"
    if rounds < ENOUGH_ROUNDS:
        return f"{rounds} rounds decide large changes alone: for one of 10 %, {give}"
    noisy = ", ".join(sorted(server for server in needed if needed[server] > rounds))
    return f"{rounds} rounds may be too few where the noise is as thresholds.yml says ({noisy}): {give}"


def _would_do(round_seconds: Mapping[str, float], allowed: Allowed, needed: Mapping[str, int]) -> Iterator[str]:
    """The options that bound a comparison too much, with sufficient values."""
    seconds = {server: each * needed[server] for server, each in round_seconds.items()}
    once = sum(round_seconds.values())
    if allowed.seconds < max(seconds.values()):
        most = max(seconds[server] + each for server, each in round_seconds.items())
        yield f"--max-time {ceil(most / 60)}m or more, which is for each server"
    if allowed.all_seconds < sum(seconds.values()):
        yield f"--total-time {ceil((sum(seconds.values()) + once) / 60)}m or more, which is for all servers together"
    if allowed.rounds and allowed.rounds < max(needed.values()):
        yield f"--max-rounds {max(needed.values())} or more"


def rounds_of_noise(regression: Regression) -> int:
    """The number of rounds at which 19 of 20 comparisons with the noise of its margin call an unchanged server `same`,
    and 19 of 20 call a change of twice the margin `worse`. `MOST_NEEDED` if more rounds would be necessary.

    The rounds are spread like average normal noise, around a mean as far off as in the worst of 20 comparisons.
    """
    assert regression.noise
    margin, bias = log1p(regression.margin), log1p(regression.bias)
    rounds = FEWEST_PAIRS
    while rounds < MOST_NEEDED:
        quantiles = [NormalDist().inv_cdf((place + 0.5) / rounds) for place in range(rounds)]
        off = DECIDED_Z / sqrt(rounds)
        dearer, cheaper = (regression.noise * (np.array(quantiles) + each) for each in (off, -off))
        equal = Contrast("ratio", dearer, margin, 0.0, bias)
        changed = replace(equal, differences=cheaper + 2 * margin)
        if (claim(equal, USUAL_ROWS).word, claim(changed, USUAL_ROWS).word) == ("same", "worse"):
            return rounds
        rounds = ceil(LONGER * rounds)
    return MOST_NEEDED
