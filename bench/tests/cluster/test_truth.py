"""Two generators in a cluster report a server's known delays, and the same counts and times as one generator."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pushbench.catalog.suites import find_suite
from pushbench.metrics.definitions import Unit
from pushbench.metrics.units import parse_quantity
from tests.bare_checkouts import CHECKOUT, environment_of
from tests.cluster.at_hand import TOOL, Cluster, await_that
from tests.cluster.course import PREFIX, Course
from tests.cluster.runs import DELIVERIES, harms_of, namespaces, record_of, start
from tests.cluster.scripted import DELAY

LATE = 0.02
"""seconds beyond the delay; half of the deliveries arrive earlier, even on a busy machine"""

MARGINS = find_suite(CHECKOUT.scenarios, "whiteboard").spec.regressions

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL, reason="needs CLUSTER: `current`, or a program that starts a cluster"),
]


@pytest.fixture(scope="module")
def ones(harmed: Course) -> list[dict[str, Any]]:
    """The stage as one generator reports it, twice: the harms to these trials do not affect clients."""
    return [trial["stages"][0] for trial in (harmed.api_away, harmed.meter_killed)]


@pytest.fixture(scope="module")
def two(stocked: Cluster, scripted: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The stage as two generators report it."""
    out = tmp_path_factory.mktemp("two")
    run = start(stocked, out, "push-truth", "scripted", generators=2, environment=environment_of(scripted))
    said, errors = run.communicate(timeout=200)
    [trial] = record_of(out)["trials"]
    assert trial["failure"] is None, said + errors
    assert harms_of(trial) == []
    return dict(trial["stages"][0])


def test_known_delays_come_back(ones: list[dict[str, Any]], two: dict[str, Any]) -> None:
    for stage in (*ones, two):
        assert stage["metrics"]["clients"] == 20
        # No delivery is early. Half of them are hardly late. Some of the rest wait for this machine if it is busy.
        assert DELAY <= stage["metrics"]["delivery_seconds.p50"] < DELAY + LATE
        assert stage["metrics"]["delivery_seconds.p95"] >= DELAY


def test_two_generators_count_what_one_counts(ones: list[dict[str, Any]], two: dict[str, Any]) -> None:
    counts = [stage["receipts"] for stage in (*ones, two)]
    assert counts[0]["expected"] == counts[0]["received"] == DELIVERIES
    assert all(one == other for one, other in pairwise(counts)), "all counts; none is a time"


@pytest.mark.parametrize("point", ["p50", "p95"])
def test_two_generators_differ_from_one_by_no_more_than_two_runs_of_one(
    ones: list[dict[str, Any]], two: dict[str, Any], point: str
) -> None:
    """Two runs show the noise only roughly. So differences within the suite's margin count as noise as well, and so
    does the lateness of the generators.
    """
    seen = [stage["metrics"][f"delivery_seconds.{point}"] for stage in ones]
    late = max(stage["metrics"][f"lateness_seconds.{point}"] for stage in (*ones, two))
    margin = parse_quantity(str(MARGINS[f"delivery_seconds.{point}"].margin), Unit.RATIO)
    noise = max(max(seen) - min(seen), margin * min(seen)) + late
    assert min(seen) - noise <= two["metrics"][f"delivery_seconds.{point}"] <= max(seen) + noise


def test_nothing_of_the_harmed_trials_is_left(cluster: Cluster, harmed: Course) -> None:
    await_that("nothing is left", lambda: not namespaces(cluster, PREFIX))
