"""The load of a probe is a profile of one stage, derived from the suite's search and the requested load."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.catalog.suites import Suite, read_suites
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.measuring.asked import Ask
from pushbench.measuring.capacity import _base_load
from pushbench.measuring.probing import load_of, probe_seconds
from pushbench.records.capacity import CLIENTS
from tests.measuring.capacities import SEARCH
from tests.support import make_project

SUITES = read_suites(Project.at(Path(__file__).parents[3]).scenarios)
SHORTEST_SEARCH = 4
"""probes of a start with a hint, besides the hold: half of the hint, the hint, and the next load twice"""


def whiteboard() -> Suite:
    return next(suite for suite in SUITES if suite.id == "whiteboard")


def test_a_load_is_one_stage_with_a_ramp_that_grows_with_its_clients() -> None:
    base = _base_load(whiteboard(), SEARCH)
    (stage,) = load_of(base, SEARCH, Ask(3000)).schedule.stages
    assert (stage.clients, stage.ramp_seconds, stage.settle_seconds, stage.steady_seconds) == (3000, 3.0, 1, 3)
    assert load_of(base, SEARCH, Ask(100)).schedule.stages[0].ramp_seconds == 1.0, "the shortest"
    assert load_of(base, SEARCH, Ask(3000, slow=True)).schedule.stages[0].ramp_seconds == 9.0
    assert load_of(base, SEARCH, Ask(3000, hold=True)).schedule.stages[0].steady_seconds == 10
    warm = [load_of(base, SEARCH, Ask(100, first=first)).schedule.warmup_seconds for first in (True, False)]
    assert warm == [4, 0]
    assert probe_seconds(base, SEARCH, Ask(3000)) == pytest.approx(3 + 1 + 3 + 2)
    closed = SEARCH.model_copy(update={"closed": True, "drain_seconds": 6})
    assert probe_seconds(base, closed, Ask(3000)) == pytest.approx(3 + 1 + 3 + 6.5), "what has begun is waited for"


def test_a_rate_is_a_parameter_and_has_clients_for_what_is_open_at_a_time() -> None:
    suite = next(each for each in SUITES if each.spec.capacity and each.spec.capacity.searched != CLIENTS)
    search = suite.spec.capacity
    assert search
    load = load_of(_base_load(suite, search), search, Ask(300))
    assert load.parameters[search.searched] == 300
    assert load.schedule.stages[0].clients == 300 * search.clients_each


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.id)
def test_every_suite_can_be_searched_in_the_time_that_there_is(suite: Suite) -> None:
    search = suite.spec.capacity
    assert search
    load = _base_load(suite, search)
    assert load.most_connections >= search.most
    short = sum(probe_seconds(load, search, Ask(search.first, first=number == 0)) for number in range(SHORTEST_SEARCH))
    assert short + probe_seconds(load, search, Ask(search.first, hold=True)) < 300 / 3


def test_a_parameter_that_the_suite_does_not_have_is_refused(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    suite = project.scenarios / "tiny.yml"
    search = SEARCH.model_copy(update={"searched": "requests"}).model_dump_json()
    suite.write_text(f"{suite.read_text()}capacity: {search}\n")
    with pytest.raises(UserError, match="capacity: requests is not a parameter of the suite"):
        read_suites(project.scenarios)
