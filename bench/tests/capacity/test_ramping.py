"""The load of a sweep is a profile with a stage for each requested load, derived from the suite's search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pushbench.capacity.asked import Ask
from pushbench.capacity.finding import _base_load
from pushbench.capacity.ramping import load_of, steps_of, sweep_seconds, was_slow
from pushbench.catalog.suites import Suite, read_suites
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.records.capacity import CLIENTS
from pushbench.records.record import StagePlan
from tests.capacity.capacities import SEARCH, make_probe
from tests.support import make_project

SUITES = read_suites(Project.at(Path(__file__).parents[3]).scenarios)
SHORTEST_SEARCH = 4
"""probes of a start with a hint, besides the hold: half of the hint, the hint, and the next load twice"""


def whiteboard() -> Suite:
    return next(suite for suite in SUITES if suite.id == "whiteboard")


def parts_of(stages: Sequence[StagePlan]) -> list[tuple[int, float]]:
    return [(each.clients, round(each.ramp_seconds, 2)) for each in stages]


def stages_of(*sweep: Ask) -> list[StagePlan]:
    return load_of(_base_load(whiteboard(), SEARCH), SEARCH, sweep).schedule.stages


def test_a_load_is_one_stage_with_a_ramp_that_grows_with_its_clients() -> None:
    base = _base_load(whiteboard(), SEARCH)
    (stage,) = stages_of(Ask(3000))
    assert (stage.clients, stage.ramp_seconds, stage.settle_seconds, stage.steady_seconds) == (3000, 3.0, 1, 3)
    assert stages_of(Ask(100))[0].ramp_seconds == 1.0, "the shortest"
    assert stages_of(Ask(3000, hold=True))[0].steady_seconds == 10
    warm = [load_of(base, SEARCH, (Ask(100, first=first),)).schedule.warmup_seconds for first in (True, False)]
    assert warm == [4, 0]
    assert sweep_seconds(base, SEARCH, (Ask(3000),)) == pytest.approx(3 + 1 + 3 + 2)
    closed = SEARCH.model_copy(update={"closed": True, "drain_seconds": 6})
    assert sweep_seconds(base, closed, (Ask(3000),)) == pytest.approx(3 + 1 + 3 + 6.5), "what has begun is waited for"


def test_a_slow_ramp_has_parts_that_get_slower_after_a_fast_lead_in() -> None:
    stages = stages_of(Ask(3000, slow=True, lead_in=1505))
    assert parts_of(stages) == [(1500, 1.5), (2550, 4.0), (2850, 2.0), (3000, 2.0)], "whole boards"
    assert [each.steady_seconds for each in stages] == [0.1, 0.1, 0.1, 3]
    large = stages_of(Ask(9000, slow=True, lead_in=6000))
    assert parts_of(large) == [(6000, 6.0), (7650, 4.95), (8550, 5.4), (9000, 5.4)]
    assert parts_of(stages_of(Ask(3000, slow=True))) == [(2550, 7.65), (2850, 2.0), (3000, 2.0)], "without a lead-in"
    assert parts_of(stages_of(Ask(10, slow=True))) == [(10, 3.0)], "one board has no parts"
    assert parts_of(stages_of(Ask(3000, slow=True, far=True))) == [(3000, 9.0)], "nor has a load far from the edge"
    later = stages_of(Ask(1500), Ask(3000, slow=True, far=True))
    assert parts_of(later) == [(1500, 1.5), (3000, 4.5)], "also where others are connected"


def test_each_further_load_of_a_sweep_adds_clients() -> None:
    sweep = (Ask(1500, first=True), Ask(2900, slow=True), Ask(3000, hold=True, slow=True))
    stages = stages_of(*sweep)
    assert parts_of(stages) == [(1500, 1.5), (2460, 4.0), (2750, 2.0), (2900, 2.0), (3000, 1.0)]
    assert [each.steady_seconds for each in stages] == [3, 0.1, 0.1, 3, 10]
    assert [(step.ask, step.joined) for step in steps_of(SEARCH, sweep) if step.ask] == [
        (sweep[0], 1500),
        (sweep[1], 150),
        (sweep[2], 100),
    ]
    base = _base_load(whiteboard(), SEARCH)
    alone = sum(sweep_seconds(base, SEARCH, (ask,)) for ask in sweep)
    assert sweep_seconds(base, SEARCH, sweep) < 0.75 * alone


def test_a_probe_was_slow_if_its_own_clients_connected_slowly() -> None:
    assert not was_slow(make_probe(3000, ramp_seconds=3.0), SEARCH)
    assert was_slow(make_probe(3000, ramp_seconds=9.0), SEARCH), "as recorded before there were sweeps"
    assert was_slow(make_probe(3000, ramp_seconds=4.0, joined=600), SEARCH)
    assert was_slow(make_probe(3000, ramp_seconds=1.0, joined=100), SEARCH)
    assert not was_slow(make_probe(3000, ramp_seconds=3.0, joined=3000), SEARCH)


def test_a_rate_is_a_parameter_and_has_clients_for_what_is_open_at_a_time() -> None:
    suite = next(each for each in SUITES if each.spec.capacity and each.spec.capacity.searched != CLIENTS)
    search = suite.spec.capacity
    assert search
    load = load_of(_base_load(suite, search), search, (Ask(300),))
    assert load.parameters[search.searched] == 300
    assert load.schedule.stages[0].clients == 300 * search.clients_each


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.id)
def test_every_suite_can_be_searched_in_the_time_that_there_is(suite: Suite) -> None:
    search = suite.spec.capacity
    assert search
    load = _base_load(suite, search)
    assert load.most_connections >= search.most
    short = sum(
        sweep_seconds(load, search, (Ask(search.first, first=number == 0),)) for number in range(SHORTEST_SEARCH)
    )
    assert short + sweep_seconds(load, search, (Ask(search.first, hold=True),)) < 300 / 3


def test_a_parameter_that_the_suite_does_not_have_is_refused(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    suite = project.scenarios / "tiny.yml"
    search = SEARCH.model_copy(update={"searched": "requests"}).model_dump_json()
    suite.write_text(f"{suite.read_text()}capacity: {search}\n")
    with pytest.raises(UserError, match="capacity: requests is not a parameter of the suite"):
        read_suites(project.scenarios)
