"""What a run will do: every server once a round, in random order, and how long that takes. Pure."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from pushbench.generator.load import planned_seconds
from pushbench.records.record import PlannedTrial, Schedule

OVERHEAD_SECONDS = 5.0  # to start a server and k6, to stop them, and to write the record
DRAIN_SECONDS_USED = 1.5  # a drain ends once no exchange is outstanding, and takes at least a second

Arm = Literal["head", "base"]


def make_plan(servers: Sequence[str], *, rounds: int, seed: int) -> list[PlannedTrial]:
    """The trials of a run of one arm, in their order."""
    plan: list[PlannedTrial] = []
    for number in range(1, rounds + 1):
        plan += make_rounds({server: [number] for server in servers}, seed=seed, first=len(plan))
    return plan


def make_rounds(
    numbers: Mapping[str, Sequence[int]],
    *,
    seed: int,
    first: int,
    arms: Sequence[Arm] = ("head",),
    together: Collection[str] = (),
) -> list[PlannedTrial]:
    """The trials of the rounds with these numbers, starting at position `first` of the run. Servers come in random
    order, the arms of each round side by side. The trials of servers in `together` run at the same time.

    All trials of a round get the same seed: their clients do the same things.
    """
    shuffled = random.Random(seed + max(map(max, numbers.values())))  # noqa: S311 - repeatable, not secret
    trials = [
        (server, number, arm)
        for server in shuffled.sample(list(numbers), len(numbers))
        for number in numbers[server]
        for arm in shuffled.sample(arms, len(arms))
    ]
    return [
        PlannedTrial(
            server=server,
            arm=arm,
            round=number,
            order=first + position,
            seed=seed + number,
            together=server in together,
        )
        for position, (server, number, arm) in enumerate(trials)
    ]


def trial_seconds(schedule: Schedule) -> float:
    """How long a trial takes when the server keeps up."""
    return planned_seconds(schedule) - schedule.drain_seconds + DRAIN_SECONDS_USED + OVERHEAD_SECONDS
