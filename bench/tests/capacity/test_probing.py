"""The probes of a sweep: each load of it has its own answer, and the first that is refused is the last."""

from __future__ import annotations

from pushbench.capacity.answering import Asking
from pushbench.capacity.asked import Ask, Sweep
from pushbench.capacity.probing import probes_of
from pushbench.capacity.ramping import steps_of
from pushbench.records.capacity import AskedLimit
from pushbench.records.record import Trial
from pushbench.records.vocabulary import ORIGINAL
from tests.capacity.capacities import SEARCH
from tests.factories import Metrics, make_stage, make_trial

ASKING = Asking([AskedLimit(metric="connect_late_ratio", side="max", value=0.01)], ORIGINAL, closed=False)
LATE = {"connect_late_ratio": 0.02}


def played(sweep: Sweep, *metrics: Metrics) -> Trial:
    """A trial of the sweep whose loads have these metrics. The window of each stage ends 10 s after the one before."""
    found = iter(metrics)
    stages = [make_stage(step.stage.clients, next(found) if step.ask else {}) for step in steps_of(SEARCH, sweep)]
    stages = [stage.model_copy(update={"end_seconds": 10.0 * number}) for number, stage in enumerate(stages, 1)]
    return make_trial("x", results=stages)


def answers(sweep: Sweep, *metrics: Metrics) -> list[tuple[int, str]]:
    probes = probes_of(played(sweep, *metrics), steps_of(SEARCH, sweep), ASKING)
    return [(probe.load, probe.answer) for probe in probes]


def test_the_first_load_that_was_refused_is_the_last_probe() -> None:
    sweep = (Ask(1000, slow=True), Ask(1100, slow=True), Ask(1200, slow=True))
    assert answers(sweep, {}, {}, {}) == [(1000, "carried"), (1100, "carried"), (1200, "carried")]
    assert answers(sweep, {}, LATE, {}) == [(1000, "carried"), (1100, "broken")]


def test_beyond_clients_that_connected_too_fast_what_is_carried_counts() -> None:
    sweep = (Ask(1000, slow=True), Ask(2000, slow=True, far=True), Ask(2100, slow=True), Ask(2200, slow=True))
    late = [(1000, "carried"), (2000, "connecting")]
    assert answers(sweep, {}, LATE, {}, {}) == [*late, (2100, "carried"), (2200, "carried")]
    assert answers(sweep, {}, LATE, {}, LATE) == [*late, (2100, "carried")], "it begins with the queue of the first"
    assert answers(sweep, {}, LATE, LATE, {}) == late


def test_clients_that_connect_late_refuse_a_load_only_if_no_ramp_is_slower() -> None:
    assert answers((Ask(1000),), LATE) == [(1000, "connecting")]
    assert answers((Ask(1000, slow=True),), LATE) == [(1000, "broken")]
    warming = (Ask(1000, slow=True), Ask(2000, slow=True, far=True))
    assert answers(warming, {}, LATE) == [(1000, "carried"), (2000, "connecting")]


def test_a_probe_takes_until_the_end_of_its_window_with_its_lead_ins() -> None:
    sweep = (Ask(1000), Ask(3000, slow=True))
    stages = len(steps_of(SEARCH, sweep))
    assert stages > 2
    first, second = probes_of(played(sweep, {}, {}), steps_of(SEARCH, sweep), ASKING)
    assert (first.seconds, second.seconds) == (10.0, 10.0 * (stages - 1))
    assert second.joined is not None
    assert second.joined < 3000 - 1000, "its lead-ins connected the others"


def test_a_load_that_was_not_played_has_no_answer_if_the_one_before_it_was_carried() -> None:
    sweep = (Ask(1000), Ask(1100))
    trial = played(sweep, {}, {})
    probes = probes_of(trial.model_copy(update={"stages": trial.stages[:1]}), steps_of(SEARCH, sweep), ASKING)
    assert [(probe.load, probe.answer) for probe in probes] == [(1000, "carried")]


def test_a_sweep_that_was_not_played_is_the_generators_end() -> None:
    sweep = (Ask(3000, slow=True), Ask(3100))
    probes = probes_of(make_trial("x", results=[]), steps_of(SEARCH, sweep), ASKING)
    assert [(probe.load, probe.answer) for probe in probes] == [(3000, "generator")]
