"""A suite's words are consistent, or their file is refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pushbench.records.vocabulary import Vocabulary


def words(beside: dict[str, Any], headline: str = "delivery_seconds.p95") -> Vocabulary:
    """The words of messages, and of an additional exchange `ping` with these latencies."""
    return Vocabulary.model_validate(
        {
            "work": {"name": "delivery", "plural": "Deliveries"},
            "exchanges": {
                "message": {"plural": "Messages", "latencies": {"delivery": {"title": "Delivery", "until": "each"}}},
                "ping": {"plural": "Pings", "latencies": beside},
            },
            "headline": headline,
        }
    )


def test_the_first_exchange_makes_the_work_and_the_others_are_beside_it() -> None:
    found = words({"ack": {"title": "Acknowledgement", "until": "own"}})
    assert found.exchange.plural == "Messages"
    assert list(found.beside) == ["ping"]
    assert list(found.latencies) == ["delivery", "ack"]


ACK = {"title": "Acknowledgement", "until": "own"}


@pytest.mark.parametrize(
    ("beside", "headline", "told"),
    [
        ({"ack": {"title": "Ack", "until": "each"}}, "delivery_seconds.p95", "one latency, until own"),
        ({"ack": ACK, "again": ACK}, "delivery_seconds.p95", "one latency, until own"),
        ({"delivery": ACK}, "delivery_seconds.p95", "delivery is named by two exchanges"),
        ({"ack": ACK}, "ack_seconds.p95", "expected LATENCY_seconds.POINT of delivery"),
        ({"connect": ACK}, "delivery_seconds.p95", "connect is counted in every suite"),
    ],
)
def test_words_that_do_not_fit_are_refused(beside: dict[str, Any], headline: str, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        words(beside, headline)
