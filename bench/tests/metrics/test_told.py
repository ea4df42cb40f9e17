"""A server's own metrics are checked, cut into windows, and become metrics of the record."""

from __future__ import annotations

import json

import pytest

from pushbench.metrics.definitions import metrics_of
from pushbench.metrics.results import stage_result
from pushbench.metrics.told import Telling, read_telling, told_metrics, within
from pushbench.records.load_report import Rooms
from pushbench.records.vocabulary import ORIGINAL, Told, Vocabulary
from tests.samples import stage_report, window

WORDS = ORIGINAL.model_copy(update={"told": {"delay": Told(title="Delay")}, "rooms": "Rooms"})


def telling(at: float, **points: float) -> Telling:
    return Telling(at, {f"delay_seconds.{point}": value for point, value in points.items()})


def test_an_answer_is_read_by_the_words_of_the_suite() -> None:
    body = json.dumps({"rooms": 2, "delay": {"p50": 0.0003, "p99": 0, "max": 1.0}}).encode()
    assert read_telling(7.0, body, WORDS) == telling(7.0, p50=0.0003, p99=0.0)


@pytest.mark.parametrize(
    "value", [None, "0.1", True, -0.1, 3601, [0.1], {"p50": 0.1}, float("nan"), float("inf"), 10**400]
)
def test_what_is_no_time_is_left_out(value: object) -> None:
    body = json.dumps({"delay": {"p50": value, "p99": 0.2}}).encode()
    assert read_telling(7.0, body, WORDS) == telling(7.0, p99=0.2)


@pytest.mark.parametrize(
    "body", [b"", b"no", b"[]", b"{}", b'{"delay":null}', b'{"delay":0.1}', b'{"delay":[1]}', b"\xff", b"[" * 60_000]
)
def test_an_answer_of_another_shape_tells_nothing(body: bytes) -> None:
    assert read_telling(7.0, body, WORDS) == Telling(7.0, {})


def test_an_answer_is_about_the_second_before_it() -> None:
    told = [telling(at) for at in (9.0, 10.0, 11.0, 12.0, 13.0)]
    assert [each.at for each in within(told, 10.0, 12.0)] == [11.0, 12.0]


def test_the_metric_is_the_median_of_the_seconds_that_are_known() -> None:
    told = [telling(1, p50=0.001, p99=0.002), telling(2, p50=0.003, p99=9.0), telling(3, p50=0.002), Telling(4, {})]
    assert told_metrics(told, WORDS) == {"delay_seconds.p50": 0.002, "delay_seconds.p99": pytest.approx(4.501)}
    assert told_metrics([], WORDS) == {"delay_seconds.p50": None, "delay_seconds.p99": None}


def test_a_stage_has_what_was_told_and_how_many_rooms_there_were() -> None:
    report = stage_report().model_copy(update={"rooms": Rooms(begun=7, ended=5)})
    metrics = stage_result(report, window(), 4, WORDS, told=[telling(1, p50=0.001)]).metrics
    assert (metrics["delay_seconds.p50"], metrics["delay_seconds.p99"]) == (0.001, None)
    assert (metrics["rooms_begun"], metrics["rooms_ended"]) == (7, 5)
    assert set(metrics) == set(metrics_of(WORDS))
    without = stage_result(stage_report(), window(), 4, WORDS).metrics
    assert (without["rooms_begun"], without["rooms_ended"]) == (None, None)


@pytest.mark.parametrize("name", ["delivery", "lateness", "connect"])
def test_what_is_told_has_a_name_of_its_own(name: str) -> None:
    words = {**ORIGINAL.model_dump(), "told": {name: {"title": "Delay"}}}
    with pytest.raises(ValueError, match=f"told: {name} is a latency"):
        Vocabulary.model_validate(words)
