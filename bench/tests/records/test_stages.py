"""A stage is named by its number of clients or by its own name; documents from before stages had names can be read."""

from __future__ import annotations

import pytest

from pushbench.records import stages
from pushbench.records.record import StagePlan


def stage(clients: int, name: str | None = None) -> StagePlan:
    named = {} if name is None else {"name": name}
    return StagePlan.model_validate(
        {"clients": clients, "ramp_seconds": 1, "settle_seconds": 1, "steady_seconds": 1, **named}
    )


PLAIN, CLASSROOM = stage(1000), stage(300, "classroom-300")


def test_a_stage_without_a_name_is_called_by_its_clients() -> None:
    assert (PLAIN.name, PLAIN.parameters, CLASSROOM.name) == ("1000", {}, "classroom-300")


def test_headings() -> None:
    assert (stages.heading(PLAIN), stages.short(PLAIN)) == ("1,000 clients", "at 1,000")
    assert (stages.heading(CLASSROOM), stages.short(CLASSROOM)) == ("classroom-300: 300 clients", "classroom-300")


@pytest.mark.parametrize(
    ("which", "said", "listed"),
    [
        ([stage(700), PLAIN], "at 700, 1,000 clients", "700, 1000 clients"),
        ([CLASSROOM], "in classroom-300", "classroom-300"),
        ([PLAIN, CLASSROOM], "at 1,000 clients, in classroom-300", "1000 clients; classroom-300"),
    ],
)
def test_stages_in_a_sentence_and_in_a_list(which: list[StagePlan], said: str, listed: str) -> None:
    assert (stages.places(which), stages.listing(which)) == (said, listed)


@pytest.mark.parametrize(
    ("found", "name"),
    [
        ([stage(300), stage(1000), CLASSROOM, stage(2000, "classroom-2000")], "1000"),
        ([stage(1000), stage(300)], "1000"),
        ([stage(500, "open-50"), stage(500, "open-200"), stage(900, "paced-900-closed")], "open-200"),
        ([stage(10, "closed-10"), stage(500, "paced-500-closed")], "paced-500-closed"),
    ],
)
def test_the_stage_that_ranks_is_plain_or_else_open_and_then_the_largest(found: list[StagePlan], name: str) -> None:
    assert found[stages.headline(found)].name == name


def test_names_are_in_the_order_of_their_numbers() -> None:
    names = ["open-1000", "open-50", "open-200", "closed-10", "100", "open"]
    assert sorted(names, key=stages.by_numbers) == ["100", "closed-10", "open", "open-50", "open-200", "open-1000"]
