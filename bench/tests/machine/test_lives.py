"""The usage of a restarted program is the sum over all its lives."""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.machine.lives import Lives
from pushbench.machine.procfs import Stat
from pushbench.machine.resources import Usage


class Life:
    def __init__(self, cpu: float | None) -> None:
        self.cpu = cpu

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        return list(everyone)

    def open_sockets(self) -> int:
        return 7

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage | None:
        return None if self.cpu is None else Usage(1.0, self.cpu, self.cpu / 4, self.cpu / 2, 1000, 3, 1)


def test_counters_go_on_and_levels_are_those_of_the_present_life() -> None:
    first, second = Life(8.0), Life(0.4)
    lives = Lives(first)
    assert lives.usage() == first.usage()
    lives.end()
    first.cpu = None
    assert lives.usage() is None
    lives.begin(second)
    found = lives.usage()
    assert found
    assert (found.cpu_seconds, found.user_seconds, found.system_seconds) == (8.4, 2.1, 4.2)
    assert (found.memory_bytes, found.threads, lives.open_sockets()) == (1000, 3, 7)


def test_a_life_that_had_ended_by_itself_adds_nothing() -> None:
    lives = Lives(Life(None))
    lives.end()
    lives.begin(Life(1.0))
    found = lives.usage()
    assert found
    assert found.cpu_seconds == 1.0
