"""Records of several machines are merged if they belong to one run, and refused otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from pushbench.foundation.errors import UserError
from pushbench.machine.environment import set_apart
from pushbench.records.record import Machine, Record, Skipped
from pushbench.records.shared import merge
from tests.factories import ENVIRONMENT, make_record, make_trial


def of(server: str, number: int, **changed: Any) -> Record:
    """A record of two rounds of a server, on a machine of its own."""
    values: dict[str, Any] = {
        "id": f"20261121T11{number:02d}00Z-aaaaaa",
        "created": f"2026-11-21T11:{number:02d}:00+00:00",
        "machines": [Machine(name=f"bench-{number}", servers=[server])],
    }
    trials = [make_trial(server, 1, order=0), make_trial(server, 2, order=1)]
    return make_record(trials, **{**values, **changed})


def test_a_merged_record_has_every_trial_once_and_in_an_order_of_its_own() -> None:
    merged = merge([of("node-ws", 2), of("fastapi", 1)])
    assert merged.servers == ["fastapi", "node-ws"]
    assert [each.order for each in merged.plan] == [each.order for each in merged.trials] == [0, 1, 2, 3]
    assert merged.complete
    assert (merged.created, merged.id[:16]) == ("2026-11-21T11:01:00+00:00", "20261121T110100Z")
    assert merged.id == merge([of("fastapi", 1), of("node-ws", 2)]).id, "whichever is read first"
    assert {each.name: each.servers for each in merged.machines} == {"bench-1": ["fastapi"], "bench-2": ["node-ws"]}


def test_what_a_machine_skipped_is_kept() -> None:
    skipped = [Skipped(server="bun", reason="there is no bun")]
    assert merge([of("node-ws", 1), of("fastapi", 2, skipped=skipped)]).skipped == skipped


def test_one_record_stays_as_it_is() -> None:
    assert merge([one := of("node-ws", 1)]) is one


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"profile": "full"}, "they differ in profile"),
        ({"parameters": {"board_size": 20}}, "they differ in parameters"),
        ({"thresholds_digest": "0" * 64}, "they differ in thresholds_digest"),
        ({"commit": None}, "they differ in commit"),
        ({"environment": set_apart(ENVIRONMENT, "bench-2")}, "of different environments"),
    ],
)
def test_records_of_different_runs_are_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        merge([of("node-ws", 1), of("fastapi", 2, **changed)])


def test_a_server_on_two_machines_is_refused() -> None:
    with pytest.raises(UserError, match="share a server"):
        merge([of("node-ws", 1), of("node-ws", 2)])
