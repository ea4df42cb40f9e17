"""A minute has one value for each second, ordered by its end, and a gap where no value is known."""

from __future__ import annotations

import pytest

from pushbench.generator.events import Second, Started
from pushbench.machine.resources import Usage
from pushbench.machine.sampling import Sample
from pushbench.watching.minute import SECONDS, Minute, latest

LOAD = Started(at=100.0, windows=[(102.0, 104.0)], end=110.0)


def second(at: float, received: int) -> Second:
    return Second(at=at, clients=20, sent=20, received=received, owed=200, headline_p95=0.002)


def sample(at: float, server: float | None, generator: float = 0.0) -> Sample:
    return Sample(at, usage(at, server), None, usage(at, generator), None)


def usage(at: float, cpu: float | None) -> Usage | None:
    return None if cpu is None else Usage(at, cpu, cpu, 0.0, 1_000_000, 1, 1)


def test_a_minute_ends_with_the_newest_second_and_has_gaps_before_the_load() -> None:
    minute = Minute(LOAD)
    for at, received in ((101.004, 10), (102.003, 20), (103.1, 30)):
        minute.second(second(at, received))
    found = minute.counts(lambda each: each.received)
    assert len(found) == SECONDS
    assert found[-4:] == [None, 10, 20, 30]
    assert minute.measured()[-4:] == [False, False, False, True]


def test_after_a_minute_the_oldest_seconds_are_gone() -> None:
    minute = Minute(LOAD)
    for index in range(70):
        minute.second(second(LOAD.at + index + 1, index))
    assert minute.counts(lambda each: each.received) == list(range(10, 70))


def test_of_several_generators_the_last_word_on_a_second_has_the_sum() -> None:
    minute = Minute(LOAD)
    for at, received in ((101.001, 60), (101.004, 100), (102.002, 90), (102.01, 101)):
        minute.second(second(at, received))
    assert minute.counts(lambda each: each.received)[-3:] == [None, 100, 101]


def test_cpu_is_what_was_used_between_two_samples() -> None:
    minute = Minute(LOAD)
    for at, server, generator in ((100.0, 5.0, 1.0), (101.0, 5.25, 1.5), (102.0, 6.25, 1.5)):
        minute.sample(sample(at, server, generator))
    minute.second(second(102.002, 1))
    assert minute.cores("server")[-3:] == [None, 0.25, 1.0]
    assert minute.cores("generator")[-3:] == [None, 0.5, 0.0]
    assert latest(minute.cores("services")) is None


def test_a_sample_at_the_border_of_a_window_is_no_second() -> None:
    """One tick of the kernel between two samples a millisecond apart would count as many cores."""
    minute = Minute(LOAD)
    for at, server in ((100.0, 0.0), (101.0, 0.5), (101.001, 0.51), (102.0, 1.0)):
        minute.sample(sample(at, server))
    minute.second(second(102.002, 1))
    assert minute.cores("server")[-2:] == [0.5, pytest.approx(0.5)]


def test_a_server_that_is_started_again_has_a_gap_and_no_negative_cpu() -> None:
    minute = Minute(LOAD)
    for at, server in ((100.0, 0.0), (101.0, 3.0), (102.0, None), (103.0, 0.1), (104.0, 0.4), (105.0, 0.1)):
        minute.sample(sample(at, server))
    minute.second(second(105.0, 1))
    assert minute.cores("server")[-5:] == [3.0, None, None, pytest.approx(0.3), None]
