"""A test that fails while the hypervisor takes much of the CPU is run again: it may have waited for the machine.

A test that fails on an undisturbed machine fails at once. One that fails in every run fails, too, however disturbed
the machine is. The summary names the tests that were run again.
"""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol

from pushbench.conformance.verification import MOST_CHECKS, STOLEN_MOST
from pushbench.machine.disturbance import Since

AGAIN = "run_again"


def run(item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
    """The reports of the last run of the test: the first run, unless it failed on a disturbed machine."""
    for left in reversed(range(MOST_CHECKS)):
        began = Since.now()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        share = began.stolen_share()
        if not left or share <= STOLEN_MOST or not any(report.failed for report in reports):
            return reports
        item.user_properties.append((AGAIN, f"{item.nodeid} failed while the hypervisor took {share:.0%} of the CPU"))
        item._initrequest()  # type: ignore[attr-defined]  # as pytest-rerunfailures does: fixtures are made anew
    raise AssertionError


def told(reports: list[pytest.TestReport]) -> list[str]:
    """The reasons for which the test was run again."""
    return [
        str(why) for report in reports if report.when == "call" for name, why in report.user_properties if name == AGAIN
    ]
