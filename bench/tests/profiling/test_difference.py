"""The function that gained most comes first, in CPU per unit of work, and scatter is reported as scatter."""

from __future__ import annotations

import random

import pytest

from pushbench.profiling.difference import Measured, compare
from pushbench.profiling.profile import Frame, Profile, frame

BROADCAST = frame("broadcast", "src/server.js", 10, own=True)
PARSE = frame("parse")
SEND = frame("send", "ws/lib/sender.js", 40)


def profile(**samples: int) -> Profile:
    """A profile with samples of a millisecond in `broadcast` and in the functions that it calls."""
    stacks = {"broadcast": (BROADCAST,), "parse": (BROADCAST, PARSE), "send": (BROADCAST, SEND)}
    found = Profile()
    for name, count in samples.items():
        found.add(stacks[name], count / 1000, count)
    return found


def measured(found: Profile, *, work: int = 1000, cpu: float = 1.0, by_wall: bool = False) -> Measured:
    return Measured(found, work, cpu, by_wall=by_wall)


def test_the_function_that_gained_most_per_unit_of_work_is_first() -> None:
    base = measured(profile(broadcast=300, parse=500, send=200))
    head = measured(profile(broadcast=500, parse=1000, send=900), work=2000, cpu=2.4)
    first, *_, last = compare(base, head)
    assert (first.title, last.title) == ("send (ws/lib/sender.js:40)", "broadcast (src/server.js:10)")
    assert first.change_per_work == pytest.approx(0.9 / 2000 - 0.2 / 1000)
    assert [first.base.share, first.head.share] == pytest.approx([0.2, 0.375])
    assert first.caller == "broadcast (src/server.js)"
    assert first.gained
    assert not last.gained


def test_time_by_the_wall_counts_by_its_share_of_the_measured_cpu() -> None:
    base = measured(profile(parse=500, send=500), cpu=0.5, by_wall=True)
    head = measured(profile(parse=500, send=1500), cpu=1.0, by_wall=True)
    found = {each.function: each.change_per_work for each in compare(base, head)}
    assert found == {"send": pytest.approx(0.0005), "parse": pytest.approx(0.0)}


def test_cpu_that_was_not_sampled_is_a_row_of_its_own() -> None:
    found = compare(measured(profile(parse=900)), measured(profile(parse=900), cpu=1.5))
    assert found[0].title == "(not sampled)"
    assert found[0].change_per_work == pytest.approx(0.0005)
    assert found[0].chance_per_work == pytest.approx(1.96 * 0.0009 * (2 / 900) ** 0.5)


def test_equal_arms_gain_rarely_more_than_chance() -> None:
    chance = random.Random(7)
    alarms = 0
    for _ in range(300):
        arms = []
        for _ in range(2):
            drawn = chance.choices(["broadcast", "parse", "send"], [2, 5, 3], k=chance.randint(450, 550))
            arms.append(profile(**{name: drawn.count(name) for name in set(drawn)}))
        alarms += any(each.gained for each in compare(*(measured(each, cpu=each.seconds) for each in arms)))
    assert alarms < 300 * 0.12


def test_a_function_of_one_arm_only_is_compared_with_nothing() -> None:
    base, head = Profile(), Profile()
    base.add([Frame("old")], 1.0, 1000)
    head.add([Frame("new")], 1.0, 1000)
    first, last = compare(measured(base), measured(head))
    assert (first.function, first.base.samples, last.function, last.head.samples) == ("new", 0, "old", 0)
