"""Concurrent trials wait for each other before they measure, and end together when one cannot continue."""

from __future__ import annotations

import time
from functools import partial

import pytest

from pushbench.measuring.company import Cancelled, Company, run_together


def test_they_meet_before_they_measure() -> None:
    def trial(number: int, company: Company) -> tuple[float, float]:
        time.sleep(0.1 * number)
        arrived = time.monotonic()
        company.meet()
        return arrived, time.monotonic()

    results = run_together([partial(trial, number) for number in range(3)])
    assert max(arrived for arrived, _ in results) <= min(met for _, met in results)


def test_one_that_ends_before_is_not_waited_for() -> None:
    def fails(company: Company) -> str:
        company.leave()
        return "failed"

    def goes_on(company: Company) -> str:
        company.meet()
        return "measured"

    assert run_together([fails, goes_on]) == ["failed", "measured"]


def test_one_that_raises_ends_the_others_early() -> None:
    ended: list[float] = []

    def breaks(company: Company) -> None:
        company.meet()
        raise KeyboardInterrupt

    def plays(company: Company) -> None:
        company.meet()
        try:
            for _ in range(300):
                time.sleep(0.01)
                company.require_going_on()
        except Cancelled:
            ended.append(time.monotonic())
            raise

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_together([breaks, plays])
    assert ended
    assert ended[0] - began < 2


def test_only_one_starts_at_a_time() -> None:
    inside: list[int] = []

    def trial(company: Company) -> int:
        with company.starting():
            inside.append(1)
            time.sleep(0.05)
            seen = len(inside)
            inside.pop()
        return seen

    assert run_together([trial] * 4) == [1] * 4
