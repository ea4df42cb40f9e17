"""The answer of a probe: only limits of the suite refuse a load, and only for what the server itself did."""

from __future__ import annotations

from typing import Any

import pytest

from pushbench.capacity.answering import Asking, answer_of
from pushbench.records.capacity import AskedLimit
from pushbench.records.record import Failure, Finding, Trial
from pushbench.records.vocabulary import ORIGINAL
from tests.factories import make_trial

LIMITS = [
    AskedLimit(metric="clients_missing_ratio", side="max", value=0.0),
    AskedLimit(metric="connect_late_ratio", side="max", value=0.01),
    AskedLimit(metric="delivery_seconds.p95", side="max", value=0.5),
    AskedLimit(metric="loss_ratio", side="max", value=0.01),
]
OPEN, CLOSED = (Asking(LIMITS, ORIGINAL, closed=closed) for closed in (False, True))
QUEUE: dict[str, Any] = {"throughput_per_second": 950.0, "offered_per_second": 1000.0, "messages_per_second": 100.0}
"""5 % are missing: 0.3 s in a window of 6 s"""


def trial(*codes: str, failure: Failure | None = None, stages: int = 1, **metrics: float | None) -> Trial:
    """A trial of one stage without problems except for the named metrics; `__` stands for the dot."""
    whole = make_trial("x")
    stage = whole.stages[0]
    changed = {name.replace("__", "."): value for name, value in metrics.items()}
    stage = stage.model_copy(
        update={"metrics": stage.metrics | changed, "begin_seconds": 1.0, "end_seconds": 7.0, "clients": 100}
    )
    reasons = [Finding(code=code, message=code) for code in codes]
    validity = whole.validity.model_copy(update={"valid": not codes, "reasons": reasons})
    return whole.model_copy(update={"stages": [stage][:stages], "validity": validity, "failure": failure})


def said(found: Trial, asking: Asking = OPEN, *, slow: bool = False) -> tuple[str, list[str]]:
    answered = answer_of(found, 0, asking, slow=slow)
    return answered.answer, [each.metric for each in answered.broken]


@pytest.mark.parametrize(
    ("metrics", "word", "broken"),
    [
        ({}, "carried", []),
        ({"delivery_seconds__p95": 0.5}, "carried", []),
        ({"delivery_seconds__p95": 0.51}, "broken", ["delivery_seconds.p95"]),
        ({"delivery_seconds__p95": None}, "carried", []),
        ({"loss_ratio": 0.02, "delivery_seconds__p95": 0.6}, "broken", ["delivery_seconds.p95", "loss_ratio"]),
        ({"delivery_seconds__p95": 0.51, "lateness_seconds__p95": 0.02}, "disturbed", ["delivery_seconds.p95"]),
        ({"connect_late_ratio": 0.02}, "connecting", ["connect_late_ratio"]),
        ({"clients_missing_ratio": 0.01}, "connecting", ["clients_missing_ratio"]),
        ({"connect_late_ratio": 0.02, "loss_ratio": 0.02}, "connecting", ["connect_late_ratio", "loss_ratio"]),
        ({**QUEUE, "delivery_seconds__p50": 0.15}, "broken", ["throughput_per_second"]),
        ({**QUEUE, "delivery_seconds__p50": 0.01}, "carried", []),
        ({**QUEUE, "messages_per_second": 1.0, "delivery_seconds__p50": 0.15}, "carried", []),
        ({**QUEUE, "throughput_per_second": 970.0, "delivery_seconds__p50": 0.3}, "carried", []),
        ({**QUEUE, "throughput_per_second": 950.0, "delivery_seconds__p50": 0.3}, "broken", ["throughput_per_second"]),
        ({"throughput_per_second": 0.0, "delivery_seconds__p50": None}, "broken", ["throughput_per_second"]),
    ],
    ids=[
        "all is well",
        "the limit itself is allowed",
        "beyond it",
        "not measured",
        "two limits",
        "the generator's own lateness",
        "connecting",
        "not connected",
        "connecting and more",
        "a queue that grows",
        "something stood still at the end",
        "few exchanges on their way",
        "as many more on their way as chance may bring",
        "more of them",
        "nothing arrives",
    ],
)
def test_limits_end_a_server(metrics: dict[str, Any], word: str, broken: list[str]) -> None:
    assert said(trial(**metrics)) == (word, broken)


SLOWLY: dict[str, Any] = {
    "messages_per_second": 1000.0,
    "offered_per_second": 10_000.0,
    "delivery_seconds__p50": 0.15,
}
"""with 1.5 % missing, a queue grows by 0.09 s in a window of 6 s, and its limit is 0.5 s"""


def test_a_queue_that_grew_a_little_in_a_short_window_decides_nothing() -> None:
    slowly, faster = trial(**SLOWLY, throughput_per_second=9850.0), trial(**SLOWLY, throughput_per_second=9800.0)
    assert said(slowly) == ("unsettled", ["throughput_per_second"])
    assert said(faster) == ("broken", ["throughput_per_second"])
    assert said(trial(**SLOWLY, throughput_per_second=9850.0, loss_ratio=0.02))[0] == "broken"
    assert answer_of(slowly, 0, OPEN, slow=True, hold=True).answer == "broken", "a hold is long enough"
    without = Asking([limit for limit in LIMITS if limit.metric != "delivery_seconds.p95"], ORIGINAL, closed=False)
    assert said(slowly, without)[0] == "broken", "there is no limit to compare it with"


def test_a_longer_ramp_is_no_excuse_twice() -> None:
    assert said(trial(connect_late_ratio=0.02), slow=True)[0] == "broken"
    assert said(trial(connect_late_ratio=0.02, loss_ratio=0.02), slow=True)[0] == "broken"


def test_a_closed_load_has_no_queue_and_still_needs_answers() -> None:
    assert said(trial(**QUEUE, delivery_seconds__p50=0.15), CLOSED)[0] == "carried"
    assert said(trial(throughput_per_second=0.0), CLOSED)[0] == "broken"


@pytest.mark.parametrize("code", ["generator_cpu", "generator_shortage", "clients_missing"])
def test_a_load_that_the_generator_cannot_play_is_its_end_and_not_the_servers(code: str) -> None:
    assert said(trial(code)) == ("generator", [])
    assert said(trial(code, "steal", loss_ratio=0.5))[0] == "generator"


@pytest.mark.parametrize("code", ["steal", "cpu_taken", "generator_late"])
def test_what_is_carried_on_a_disturbed_machine_is_carried_and_what_is_not_decides_nothing(code: str) -> None:
    assert said(trial(code))[0] == "carried"
    assert said(trial(code, loss_ratio=0.5)) == ("disturbed", ["loss_ratio"])


def test_a_server_that_ends_does_not_carry_the_load() -> None:
    failure = Failure(step="load", message="it ended")
    assert said(trial(failure=failure))[0] == "broken"
    assert said(trial("generator_failed", failure=failure, stages=0))[0] == "broken"
    assert said(trial("generator_failed", stages=0))[0] == "generator"


def test_each_stage_of_a_sweep_has_its_own_answer() -> None:
    """A finding counts where it happened. One of the whole load counts where a limit was broken, or else at the end."""
    whole = trial(stages=1)
    calm = whole.stages[0]
    late = calm.model_copy(update={"metrics": calm.metrics | {"delivery_seconds.p95": 0.51}})
    swept = whole.model_copy(update={"stages": [calm, late, late]})

    def answers(*findings: tuple[str, int | None], failure: Failure | None = None) -> list[str]:
        reasons = [Finding(code=code, message=code, stage=stage) for code, stage in findings]
        validity = whole.validity.model_copy(update={"valid": not reasons, "reasons": reasons})
        found = swept.model_copy(update={"validity": validity, "failure": failure})
        return [answer_of(found, index, OPEN, slow=True).answer for index in range(3)]

    assert answers() == ["carried", "broken", "broken"]
    assert answers(("steal", 1)) == ["carried", "disturbed", "broken"]
    assert answers(("steal", 0)) == ["carried", "broken", "broken"]
    assert answers(("generator_shortage", None)) == ["carried", "generator", "generator"]
    assert answers(failure=Failure(step="load", message="it ended")) == ["carried", "broken", "broken"]
    ended = whole.model_copy(update={"stages": [calm, calm], "failure": Failure(step="load", message="it ended")})
    assert [answer_of(ended, index, OPEN, slow=True).failed for index in range(2)] == [False, True]
    unbroken = whole.model_copy(
        update={
            "stages": [calm, calm],
            "validity": whole.validity.model_copy(
                update={"reasons": [Finding(code="generator_shortage", message="no port is left")]}
            ),
        }
    )
    assert [answer_of(unbroken, index, OPEN, slow=True).answer for index in range(2)] == ["carried", "generator"]
