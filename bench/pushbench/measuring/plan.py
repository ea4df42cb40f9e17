"""What a run will do: every server once a round, in random order, and how long that takes. Pure."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import Literal

from pushbench.generator.load import planned_seconds
from pushbench.records.record import PlannedTrial, Schedule

OVERHEAD_SECONDS = 5.0  # to start a server and k6, to end them, and to write the record
DRAIN_SECONDS_USED = 1.5  # a drain ends once nothing is outstanding, and takes at least a second

Arm = Literal["head", "base"]


def make_plan(servers: Sequence[str], *, rounds: int, seed: int) -> list[PlannedTrial]:
    """The trials of a run of one arm, in their order."""
    plan: list[PlannedTrial] = []
    for round_number in range(1, rounds + 1):
        plan += make_round(servers, round_number=round_number, seed=seed, first=len(plan))
    return plan


def make_round(
    servers: Sequence[str],
    *,
    round_number: int,
    seed: int,
    first: int,
    arms: Sequence[Arm] = ("head",),
    together: Collection[str] = (),
) -> list[PlannedTrial]:
    """The trials of one round, in random order, from position `first` of the run on; the arms of a server side by side,
    at the same time for the servers of `together`.

    All get the same seed: their clients do the same things.
    """
    own_seed = seed + round_number
    shuffled = random.Random(own_seed)  # noqa: S311 - a plan must be repeatable, not secret
    pairs = [
        (server, arm) for server in shuffled.sample(servers, len(servers)) for arm in shuffled.sample(arms, len(arms))
    ]
    return [
        PlannedTrial(
            server=server,
            arm=arm,
            round=round_number,
            order=first + position,
            seed=own_seed,
            together=server in together,
        )
        for position, (server, arm) in enumerate(pairs)
    ]


def trial_seconds(schedule: Schedule) -> float:
    """How long a trial takes when the server keeps up."""
    return planned_seconds(schedule) - schedule.drain_seconds + DRAIN_SECONDS_USED + OVERHEAD_SECONDS
