"""How often the judge is right where the truth is made: comparisons with noise of a known kind, by the thousand. Pure.

A server has the usual rows, with noise as the records of the calibration show it. The judge sees pairs, as of a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt

from pushbench.calibration.rates import Rate, rate
from pushbench.foundation.model import Document
from pushbench.judging.comparison import Pair
from pushbench.judging.sequential import Gated, Word, decide, rounds_until_decided
from pushbench.judging.thresholds import Regression
from pushbench.metrics.definitions import Better, Metric, Unit

Values = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Values]
"""so many differences, with a standard deviation of about 1"""

MOST_ROUNDS = 44
"""that ten minutes have time for, of a server that takes 13 s a round"""
CORRELATION = 0.5
"""of neighbouring rounds, where noise is autocorrelated"""
BIAS = 0.03
"""standard deviation of what the builds of the arms differ by without a reason, where there is a bias"""
TENTH, DOUBLED = 1.1, 2.0


class Simulated(Document):
    """Simulated comparisons of one kind."""

    noise: str
    servers: NonNegativeInt = Field(description="of a comparison")
    factor: float = Field(description="of the head's cost of the first server; 1: none got worse")
    runs: NonNegativeInt
    alarms: Rate = Field(description="runs in which a row is worse that did not change")
    found: Rate | None = Field(description="runs in which the row that changed is worse; null where none did")
    missed: NonNegativeInt = Field(description="runs in which that row is called the same")
    undecided: NonNegativeInt = Field(description="runs with any row that is unknown in the end")
    rounds: float = Field(description="median of those until the row that changed was decided; else until all were")


@dataclass(frozen=True)
class _Row:
    name: str
    margin: float
    noise: float
    """standard deviation of a round's logarithm of head / base"""


COST = "cost"
ROWS: Sequence[_Row] = (
    _Row(COST, 0.05, 0.025),
    _Row("median", 0.15, 0.04),
    _Row("p95", 0.15, 0.08),
    _Row("throughput", 0.03, 0.001),
    _Row("memory", 0.10, 0.03),
    _Row("connect", 1.00, 0.40),
    _Row("tail", 0.50, 0.26),
    _Row("loss", 0.10, 0.0001),
)
"""what the campaigns of bench/tests/data show, rounded up"""


def simulate(runs: int, seed: int = 1) -> list[Simulated]:
    """All kinds, each with its own random numbers."""
    kinds = [(noise, servers, factor) for servers, factor in _CASES for noise in NOISES]
    seeds = np.random.default_rng(seed).spawn(len(kinds))
    return [_simulate(*kind, runs, random) for kind, random in zip(kinds, seeds, strict=True)]


def _simulate(noise: str, servers: int, factor: float, runs: int, random: np.random.Generator) -> Simulated:
    played = [_play(noise, servers, factor, random) for _ in range(runs)]
    changed = [run.words[0, COST] for run in played]
    alarms = sum(
        any(word == "worse" for row, word in run.words.items() if factor == 1 or row != (0, COST)) for run in played
    )
    return Simulated(
        noise=noise,
        servers=servers,
        factor=factor,
        runs=runs,
        alarms=rate(alarms, runs),
        found=rate(changed.count("worse"), runs) if factor != 1 else None,
        missed=changed.count("same") if factor != 1 else 0,
        undecided=sum("unknown" in run.words.values() for run in played),
        rounds=median(run.rounds for run in played),
    )


@dataclass(frozen=True)
class _Played:
    words: Mapping[tuple[int, str], Word]
    rounds: int


def _play(noise: str, servers: int, factor: float, random: np.random.Generator) -> _Played:
    words: dict[tuple[int, str], Word] = {}
    among, rounds = servers * len(ROWS), 0
    for server in range(servers):
        rows = {(server, row.name): _gated(row, noise, factor if server == 0 else 1.0, random) for row in ROWS}
        ends = rounds_until_decided(rows, MOST_ROUNDS, among)
        words |= {row: each.word for row, each in decide(rows, rounds=ends, among=among).items()}
        if factor == 1:
            rounds = max(rounds, ends)
        elif server == 0:
            rounds = rounds_until_decided({COST: rows[0, COST]}, MOST_ROUNDS, among)
    return _Played(words, rounds)


def _gated(row: _Row, noise: str, factor: float, random: np.random.Generator) -> Gated:
    differences = row.noise * NOISES[noise](random, MOST_ROUNDS)
    if row.name == COST:
        differences += np.log(factor) + (random.normal(0, BIAS) if noise == BIASED else 0.0)
    metric = Metric(row.name, row.name, Unit.SECONDS)
    pairs = [Pair(number, 1.0, float(head)) for number, head in enumerate(np.exp(differences), 1)]
    return Gated(pairs, Regression(metric, row.margin, 0.0, Better.LOWER))


def _normal(random: np.random.Generator, count: int) -> Values:
    return random.normal(0, 1, count)


def _heavy(random: np.random.Generator, count: int) -> Values:
    """Student's with two degrees of freedom, which has no variance; as wide as normal noise in its middle half."""
    return 0.83 * random.standard_t(2, count)


def _disturbed(random: np.random.Generator, count: int) -> Values:
    """Every tenth round eight times as noisy."""
    return random.normal(0, np.where(random.random(count) < 0.1, 8.0, 1.0))


def _skewed(random: np.random.Generator, count: int) -> Values:
    """Exponential, with a median of 0: an arm that is sometimes late and never early."""
    late: Values = random.exponential(1, count) - np.log(2)
    return late


def _autocorrelated(random: np.random.Generator, count: int) -> Values:
    fresh = random.normal(0, 1, count)
    fresh[1:] *= np.sqrt(1 - CORRELATION**2)
    for index in range(1, count):
        fresh[index] += CORRELATION * fresh[index - 1]
    return fresh


BIASED = "a lasting bias"
NOISES: Mapping[str, Noise] = {
    "normal": _normal,
    "heavy tails": _heavy,
    "disturbed rounds": _disturbed,
    "skewed": _skewed,
    "autocorrelated": _autocorrelated,
    BIASED: _normal,
}
_CASES: Sequence[tuple[int, float]] = ((1, 1.0), (7, 1.0), (1, DOUBLED), (1, TENTH), (7, TENTH))


def independent(found: Sequence[Simulated]) -> Iterator[Simulated]:
    """Those whose rounds know nothing of each other."""
    return (each for each in found if each.noise not in ("autocorrelated", BIASED))
