"""The error rates of the verdict by history with a constructed truth: series with known noise. Pure.

The current rule and, for comparison, the usual rule judge the same runs. The usual rule checks whether a run lies
outside of the band around the newest level, by more than the margin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt

from pushbench.calibration.rates import Rate, rate
from pushbench.calibration.simulated import BIASED, NOISES
from pushbench.foundation.model import Document
from pushbench.judging.levels import standing
from pushbench.judging.sequential import Word
from pushbench.judging.thresholds import Regression
from pushbench.metrics.definitions import Better, Metric, Unit
from pushbench.statistics.trend import band

Values = NDArray[np.float64]
RuleName = Literal["band", "accepted level"]
Rule = Callable[[Sequence[float], float, Regression, int], Word]
"""from the earlier runs, this one's value, its margin, and the number of rows of the run"""

BEFORE = 30
"""runs before the event"""
ROWS: Sequence[tuple[float, float]] = ((0.05, 0.5), (0.15, 0.4), (0.15, 0.8), (0.03, 0.03), (0.10, 0.3), (0.50, 1.3))
"""margin, and noise in multiples of the first row's"""
SERVERS = 9


class OfRule(Document):
    """One rule's words for the runs."""

    alarms: Rate = Field(description="runs in which a row that did not change is called worse")
    words: dict[Word, NonNegativeInt] = Field(
        description="number of runs by the word for the row that changed, or for the first row if none changed"
    )


class SimulatedHistory(Document):
    """Runs after one kind of history."""

    happening: str = Field(description="what happens to the cost of one server")
    noise: str
    scatter: float = Field(description="relative scatter of that cost between runs, where 0.03 is 3 %")
    after: NonNegativeInt = Field(description="number of runs since it began, including the judged one")
    runs: NonNegativeInt
    by: dict[RuleName, OfRule]


@dataclass(frozen=True)
class _Happening:
    """The course of the first server's cost, and the numbers of runs after which it is checked."""

    name: str
    looks: Sequence[int]
    factors: Callable[[int], Values]
    """for that many runs since its beginning"""


def _step(change: float) -> Callable[[int], Values]:
    return lambda runs: np.full(runs, np.log1p(change))


def _creep(change: float) -> Callable[[int], Values]:
    return lambda runs: np.log1p(change) * np.arange(1, runs + 1)


def _recovery(runs: int) -> Values:
    return np.where(np.arange(runs) < 10, np.log(1.3), 0.0)


NOTHING = "nothing"
HAPPENINGS: Sequence[_Happening] = (
    _Happening(NOTHING, (1, 30, 100), _step(0.0)),
    _Happening("+10 %", (5, 15), _step(0.10)),
    _Happening("+30 %", (1, 2, 5, 30), _step(0.30)),
    _Happening("+0.2 % a run", (60, 100), _creep(0.002)),
    _Happening("+30 % for ten runs", (12,), _recovery),
)
SCATTERS = (0.015, 0.03, 0.10)
"""between runs of one commit: a quiet machine, a usual one, a noisy one"""


def by_band(past: Sequence[float], value: float, regression: Regression, _rows: int) -> Word:
    """The usual rule: `same` below the margin, `unknown` within the band of the newest level, else a change."""
    around = band(past)
    if around is None:
        return "unknown"
    if abs(value - around.level) < max(regression.margin * around.level, regression.floor):
        return "same"
    return "unknown" if around.low <= value <= around.high else "worse" if value > around.level else "better"


def by_accepted_level(past: Sequence[float], value: float, regression: Regression, rows: int) -> Word:
    return standing(past, value, regression, rows).word


RULES: Mapping[RuleName, Rule] = {"band": by_band, "accepted level": by_accepted_level}


def simulate_histories(runs: int, seed: int = 1) -> list[SimulatedHistory]:
    """All kinds, each with its own random numbers; both rules see the same series."""
    kinds = list(_kinds())
    seeds = np.random.default_rng(seed).spawn(len(kinds))
    return [found for kind, random in zip(kinds, seeds, strict=True) for found in _simulate(*kind, runs, random)]


def _kinds() -> Iterator[tuple[_Happening, str, float]]:
    for happening in HAPPENINGS:
        for scatter in SCATTERS:
            for noise in (each for each in NOISES if each != BIASED):
                if noise == "normal" or scatter == SCATTERS[1]:
                    yield happening, noise, scatter


def _simulate(
    happening: _Happening, noise: str, scatter: float, runs: int, random: np.random.Generator
) -> Iterator[SimulatedHistory]:
    said: dict[int, dict[RuleName, list[list[Word]]]] = {
        after: {name: [] for name in RULES} for after in happening.looks
    }
    for _ in range(runs):
        series = list(_series(happening, noise, scatter, random))
        for after, of_rules in said.items():
            for name, rule in RULES.items():
                of_rules[name].append([_word(rule, values, BEFORE + after, margin) for values, margin in series])
    for after, of_rules in said.items():
        by = {name: _counted(found, happening.name) for name, found in of_rules.items()}
        yield SimulatedHistory(happening=happening.name, noise=noise, scatter=scatter, after=after, runs=runs, by=by)


def _counted(found: Sequence[Sequence[Word]], happening: str) -> OfRule:
    unchanged = 0 if happening == NOTHING else 1
    return OfRule(
        alarms=rate(sum("worse" in each[unchanged:] for each in found), len(found)),
        words=dict(Counter(each[0] for each in found)),
    )


def _series(
    happening: _Happening, noise: str, scatter: float, random: np.random.Generator
) -> Iterator[tuple[Values, float]]:
    """The values of each row of each server, and its margin. The first server changes."""
    longest = max(happening.looks)
    for server in range(SERVERS):
        for row, (margin, wide) in enumerate(ROWS):
            logs = NOISES[noise](random, BEFORE + longest) * scatter * wide / ROWS[0][1]
            if server == row == 0:
                logs[BEFORE:] += happening.factors(longest)
            yield np.exp(logs), margin


def _word(rule: Rule, values: Values, runs: int, margin: float) -> Word:
    regression = Regression(Metric("cost", "cost", Unit.SECONDS), margin, 0.0, Better.LOWER)
    return rule(values[: runs - 1].tolist(), float(values[runs - 1]), regression, SERVERS * len(ROWS))
