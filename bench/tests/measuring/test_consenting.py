"""The upper limit of loads on servers that run elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.catalog.elsewhere import server_at
from pushbench.catalog.suites import Load, find_suite
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.measuring.consenting import elsewhere_of, profiles_below, require_consent

CHECKOUT = Project.at(Path(__file__).parents[3])
SUITE = find_suite(CHECKOUT.scenarios, "whiteboard")
CHAT = server_at("wss://chat.example.org", "whiteboard", "protocol.yml", name="chat", authorities="own-ca.pem")


def load(profile: str = "smoke", clients: int | None = None, **parameters: str) -> Load:
    found = SUITE.load(profile, parameters)
    if clients is None:
        return found
    stages = [stage.model_copy(update={"clients": clients}) for stage in found.schedule.stages]
    schedule = found.schedule.model_copy(update={"stages": stages})
    return Load(found.suite, found.profile, found.scenario, schedule, found.parameters, found.words)


@pytest.mark.parametrize(
    ("wanted", "what"),
    [
        (load(), None),
        (load(clients=100), None),
        (load(clients=101), "101 clients and 1,010 deliveries/s"),
        (load(clients=101, board_size="1"), "101 clients and 101 deliveries/s"),
        (load(clients=100, board_size="11"), "100 clients and 1,100 deliveries/s"),
        (load(clients=10, board_size="1000"), None),
        (load(clients=40, pattern="stroke"), "40 clients and 1,200 deliveries/s"),
        (load("quick"), "1,000 clients and 10,000 deliveries/s"),
        (load("full"), "1,000 clients and 100,000 deliveries/s"),
    ],
)
def test_a_load_above_the_ceiling_needs_the_consent_of_the_owner(wanted: Load, what: str | None) -> None:
    offered = SUITE.spec.offered
    require_consent(wanted, offered, None)
    require_consent(wanted, offered, elsewhere_of([CHAT], owner_agreed=True))
    strange = elsewhere_of([CHAT], owner_agreed=False)
    if what is None:
        require_consent(wanted, offered, strange)
        return
    with pytest.raises(
        UserError, match=f"^chat runs elsewhere, and the load of {what} is above the ceiling"
    ) as refused:
        require_consent(wanted, offered, strange)
    assert str(refused.value).endswith("; ask the owner of the server, and add --owner-agreed if the owner agrees")
    with pytest.raises(UserError, match=r", or take --profile smoke$"):
        require_consent(wanted, offered, strange, ["smoke"])


def test_profiles_that_need_no_consent_are_known() -> None:
    assert profiles_below(SUITE, {}) == ["smoke"]
    assert profiles_below(SUITE, {"board_size": "20", "pattern": "stroke"}) == [], "1,200 deliveries/s"
    small = {"board_size": "1"}
    assert profiles_below(SUITE, small) == ["smoke"], "no other has at most 100 clients"


def test_a_load_of_an_unknown_rate_needs_it_too() -> None:
    with pytest.raises(UserError, match="the load of 20 clients and an unknown rate is above the ceiling"):
        require_consent(load(), None, elsewhere_of([CHAT], owner_agreed=False))


def test_a_record_has_the_address_and_the_files_that_were_named() -> None:
    found = elsewhere_of([CHAT], owner_agreed=True)
    assert found
    assert found["chat"].model_dump() == {
        "url": "wss://chat.example.org", "protocol": "protocol.yml", "ca": "own-ca.pem", "owner_agreed": True,
    }  # fmt: skip
