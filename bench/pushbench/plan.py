"""What a run will do: every server once a round, in random order, and how long that takes. Pure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

from pushbench.load import planned_seconds
from pushbench.record import PlannedTrial, Schedule

OVERHEAD_SECONDS = 5.0  # to start a server and k6, to end them, and to write the record
DRAIN_SECONDS_USED = 1.5  # a drain ends once nothing is outstanding, and takes at least a second

Arm = Literal["head", "base"]


def make_plan(servers: Sequence[str], *, rounds: int, seed: int, arms: Sequence[Arm] = ("head",)) -> list[PlannedTrial]:
    """The trials in their order. In a round all servers get the same seed: their clients do the same things."""
    shuffled = random.Random(seed)  # noqa: S311 - a plan must be repeatable, not secret
    plan: list[PlannedTrial] = []
    for round_number in range(1, rounds + 1):
        pairs = [(server, arm) for server in servers for arm in arms]
        shuffled.shuffle(pairs)
        for server, arm in pairs:
            plan.append(
                PlannedTrial(server=server, arm=arm, round=round_number, order=len(plan), seed=seed + round_number)
            )
    return plan


def trial_seconds(schedule: Schedule) -> float:
    """How long a trial takes when the server keeps up."""
    return planned_seconds(schedule) - schedule.drain_seconds + DRAIN_SECONDS_USED + OVERHEAD_SECONDS
