"""The probes of a sweep: each load of it has its own answer, and the first that is refused is the last."""

from __future__ import annotations

from dataclasses import replace

from pushbench.capacity.answering import Asking
from pushbench.capacity.asked import Ask, Sweep
from pushbench.capacity.probing import probes_of
from pushbench.capacity.ramping import steps_of
from pushbench.records.capacity import AskedLimit
from pushbench.records.record import Trial
from pushbench.records.vocabulary import ORIGINAL
from tests.capacity.capacities import SEARCH
from tests.factories import Metrics, make_stage, make_trial

LIMITS = {"connect_late_ratio": 0.01, "delivery_seconds.p95": 0.5}
ASKING = Asking(
    [AskedLimit(metric=metric, side="max", value=value) for metric, value in LIMITS.items()], ORIGINAL, closed=False
)
LATE = {"connect_late_ratio": 0.02}
BEHIND: Metrics = {
    "messages_per_second": 4000.0,
    "offered_per_second": 40_000.0,
    "throughput_per_second": 39_500.0,
    "delivery_seconds.p50": 0.05,
}
"""1.25 % are missing"""


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


def test_a_load_with_a_queue_that_grows_slowly_is_refused_only_if_it_grows_under_the_next_one() -> None:
    asks = (Ask(4000, slow=True), Ask(4100, slow=True), Ask(4200, slow=True))
    window = {"begin_seconds": 0.0, "end_seconds": 3.0}

    def found(*metrics: Metrics, sweep: Sweep = asks) -> list[str]:
        trial = played(sweep, *metrics)
        trial = trial.model_copy(update={"stages": [each.model_copy(update=window) for each in trial.stages]})
        return [each.answer for each in probes_of(trial, steps_of(SEARCH, sweep), ASKING)]

    assert found({}, BEHIND, {}) == ["carried", "unsettled", "carried"]
    assert found({}, BEHIND, BEHIND) == ["carried", "broken"]
    assert found({}, BEHIND, {"delivery_seconds.p95": 0.6}) == ["carried", "broken"]
    assert found({}, {}, BEHIND) == ["carried", "carried", "unsettled"], "nothing follows that could show it"
    assert found(BEHIND, {}, LATE) == ["unsettled", "carried", "broken"]
    assert found(BEHIND, {}, sweep=(replace(asks[0], hold=True), asks[1])) == ["broken"], "a hold is long enough"


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
