"""The judge's error rates with a constructed truth: comparisons with known noise, by the thousand. Pure.

A server has the usual rows, with noise as in the records of the calibration. The judge sees pairs, as from a record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt

from pushbench.calibration.rates import Rate, rate
from pushbench.foundation.model import Document
from pushbench.judging.comparison import Pair
from pushbench.judging.sequential import Gated, Word, decide, rounds_until_over
from pushbench.judging.thresholds import Regression
from pushbench.metrics.definitions import Better, Metric, Unit

Values = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Values]
"""that many differences, with a standard deviation of about 1"""

MOST_ROUNDS = 44
"""that fit into ten minutes, for a server that takes 13.6 s per round"""
CORRELATION = 0.5
"""between neighbouring rounds, if noise is autocorrelated"""
BIAS = 0.03
"""standard deviation of the meaningless difference between the builds of the arms, if there is a bias"""
TENTH, DOUBLED = 1.1, 2.0


HOUR_ROUNDS = 264
"""that fit into an hour, for all such servers together"""
ALLOWED_BIAS = 0.01
"""if a bias is known: the margins allow for twice its standard deviation"""


class Simulated(Document):
    """Simulated comparisons of one kind."""

    noise: str
    noisier: float = Field(1.0, description="noise of each server as a multiple of the noise in the campaigns")
    all_rounds: NonNegativeInt | None = Field(
        None, description="maximum number of rounds of all servers together; null if their common time is not limited"
    )
    servers: NonNegativeInt = Field(description="number of servers in a comparison")
    factor: float = Field(description="factor on the head's cost of the first server; 1 means that no server got worse")
    runs: NonNegativeInt
    alarms: Rate = Field(description="runs in which a row that did not change is called worse")
    found: Rate | None = Field(description="runs in which the row that changed is called worse; null if no row changed")
    missed: NonNegativeInt = Field(description="runs in which the row that changed is called the same")
    undecided: NonNegativeInt = Field(description="runs with any row that is still unknown at the end")
    rounds: float = Field(
        description="median number of rounds until the row that changed was decided, or until all rows were if none "
        "changed"
    )


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
"""as in the campaigns of bench/tests/data, rounded up"""


def simulate(runs: int, seed: int = 1) -> list[Simulated]:
    """All kinds, each with its own random numbers."""
    seeds = np.random.default_rng(seed).spawn(len(KINDS))
    return [_simulate(kind, runs, random) for kind, random in zip(KINDS, seeds, strict=True)]


class _Kind(NamedTuple):
    noise: str
    servers: int
    factor: float
    noisier: float = 1.0
    all_rounds: int | None = None


def _simulate(kind: _Kind, runs: int, random: np.random.Generator) -> Simulated:
    noise, servers, factor, noisier, all_rounds = kind
    played = [_play(kind, random) for _ in range(runs)]
    changed = [run.words[0, COST] for run in played]
    alarms = sum(
        any(word == "worse" for row, word in run.words.items() if factor == 1 or row != (0, COST)) for run in played
    )
    return Simulated(
        noise=noise,
        noisier=noisier,
        all_rounds=all_rounds,
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


def _play(kind: _Kind, random: np.random.Generator) -> _Played:
    among = kind.servers * len(ROWS)
    of_server = [
        {(server, row.name): _gated(row, kind, changed=server == 0, random=random) for row in ROWS}
        for server in range(kind.servers)
    ]
    ends = [rounds_until_over(rows, MOST_ROUNDS, among) for rows in of_server]
    if kind.all_rounds is not None:
        ends = shared(ends, kind.all_rounds)
    words: dict[tuple[int, str], Word] = {}
    for rows, end in zip(of_server, ends, strict=True):
        words |= {row: each.word for row, each in decide(rows, rounds=end, among=among).items()}
    if kind.factor == 1:
        return _Played(words, max(ends))
    return _Played(words, rounds_until_over({COST: of_server[0][0, COST]}, ends[0], among))


def shared(ends: Sequence[int], all_rounds: int) -> list[int]:
    """The rounds of each server if all share `all_rounds`: all undecided servers run each round, until the time does
    not suffice for another round of them all.
    """
    left = all_rounds
    for number in range(max(ends)):
        left -= sum(end > number for end in ends)
        if left < 0:
            return [min(end, number) for end in ends]
    return list(ends)


def _gated(row: _Row, kind: _Kind, *, changed: bool, random: np.random.Generator) -> Gated:
    differences = kind.noisier * row.noise * NOISES[kind.noise](random, MOST_ROUNDS)
    allowed = 0.0
    if row.name == COST:
        bias, allowed = BIASES.get(kind.noise, (0.0, 0.0))
        differences += (np.log(kind.factor) if changed else 0.0) + (random.normal(0, bias) if bias else 0.0)
    metric = Metric(row.name, row.name, Unit.SECONDS)
    pairs = [Pair(number, 1.0, float(head)) for number, head in enumerate(np.exp(differences), 1)]
    return Gated(pairs, Regression(metric, row.margin, 0.0, Better.LOWER, bias=allowed))


def _normal(random: np.random.Generator, count: int) -> Values:
    return random.normal(0, 1, count)


def _heavy(random: np.random.Generator, count: int) -> Values:
    """Student's t with two degrees of freedom, which has no variance; as wide as normal noise in its middle half."""
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


BIASED, KNOWN_BIAS = "a lasting bias", "a bias that the margin allows for"
BIASES: Mapping[str, tuple[float, float]] = {BIASED: (BIAS, 0.0), KNOWN_BIAS: (ALLOWED_BIAS, 2 * ALLOWED_BIAS)}
"""standard deviation of the bias, and the margin's allowance"""
NOISES: Mapping[str, Noise] = {
    "normal": _normal,
    "heavy tails": _heavy,
    "disturbed rounds": _disturbed,
    "skewed": _skewed,
    "autocorrelated": _autocorrelated,
    BIASED: _normal,
    KNOWN_BIAS: _normal,
}
INDEPENDENT = ("normal", "heavy tails", "disturbed rounds", "skewed")
"""noise with independent rounds"""
_CASES: Sequence[tuple[int, float]] = ((1, 1.0), (7, 1.0), (1, DOUBLED), (1, TENTH), (7, TENTH))
KINDS: Sequence[_Kind] = (
    *(_Kind(noise, *case) for case in _CASES for noise in NOISES if noise != KNOWN_BIAS),
    *(_Kind(KNOWN_BIAS, *case) for case in _CASES),
    *(_Kind(noise, 7, factor, 2.0, HOUR_ROUNDS) for factor in (1.0, TENTH) for noise in ("normal", "heavy tails")),
)
"""each kind has its own random numbers, by its place: append new ones"""
