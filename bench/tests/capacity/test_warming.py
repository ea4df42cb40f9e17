"""A server whose compilers still work is cold, and what it refuses then says nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from pushbench.capacity.asked import Answer, Ask, Asked
from pushbench.capacity.hinting import RESOLUTION, Hint, hint_of
from pushbench.capacity.searching import Found, next_ask
from pushbench.capacity.warming import COMPILING, REPEATS_MOST, compiled_busy, was_cold
from tests.capacity.simulated_searches import AMPLE, PLAN, Search, cost, search

WARM = 3000


@dataclass
class Compiling:
    """A server on a virtual machine: its compilers have `needed` seconds of CPU time to use.

    They get `share` of the CPU while it serves, and `starved` where the load is too much. Until they are done, a unit
    of load costs up to 16 times as much: the servers of `posts` needed 12 ms of CPU for their first responses, and 0.4
    to 0.8 ms later.
    """

    needed: float
    share: float = 0.4
    starved: float = 0.4
    done: float = 0.0
    compiled: float = 0.0

    def capacity(self) -> float:
        if self.done >= self.needed:
            return WARM
        return WARM * (1 - self.share) / (1 + 15 * (1 - self.done / self.needed) ** 2)

    def share_compiled(self) -> float:
        return self.compiled

    def __call__(self, ask: Ask) -> Answer:
        full = self.capacity()
        warm = self.done >= self.needed
        self.compiled = 0.0 if warm else self.share if ask.load <= full else self.starved
        self.done += 0.8 * cost(ask) * self.compiled * (min(ask.load / full, 1.0) if ask.load <= full else 1.0)
        return "carried" if ask.load <= full else "broken"


def play(needed: float, seconds: tuple[float, ...], starved: float) -> list[Search]:
    played: list[Search] = []
    for left in seconds:
        server = Compiling(needed, starved=starved)
        hint = hint_of([each.ended for each in played])
        played.append(
            search(
                server,
                replace(PLAN, hint=hint),
                seconds=left,
                capacity=server.capacity,
                compiled=server.share_compiled,
            )
        )
    return played


def of_minutes(minutes: float) -> tuple[float, float, float]:
    """The seconds of three starts."""
    first = 60 * minutes * 0.45
    return first, (60 * minutes - first) / 2, (60 * minutes - first) / 2


@pytest.mark.parametrize("starved", [0.1, 0.4])
@pytest.mark.parametrize("needed", [5, 10, 20, 30, 40])
def test_a_cold_server_never_gets_a_number_that_a_warm_one_exceeds(needed: float, starved: float) -> None:
    for minutes in (3, 5, 8, 10, 15):
        played = play(needed, of_minutes(minutes), starved)
        numbers = [each.found.carried for each in played if each.found.end == "limit"]
        assert numbers == [pytest.approx(WARM, rel=2 * RESOLUTION)] * len(numbers), minutes
        assert len(numbers) == 3 or minutes < 15


def test_a_later_start_of_a_cold_server_begins_with_an_eighth_and_climbs_as_it_gets_room() -> None:
    _, second, _ = play(10, of_minutes(8), 0.4)
    assert [each.load for each in second.asks[:9]] == [380, 190, 100, 200, 360, 720, 720, 1440, 1970]
    assert [each.answer for each in second.asked[:3]] == ["broken", "broken", "carried"]


def test_a_load_that_was_carried_without_room_is_asked_again_at_most_five_times() -> None:
    asked = [Asked(1000, False, "carried", 0.95, compiled=0.3)]
    for _ in range(REPEATS_MOST - 1):
        again = next_ask(PLAN, asked, AMPLE, cost)
        assert isinstance(again, Ask)
        assert again.load == 1000
        asked.append(asked[0])
    following = next_ask(PLAN, asked, AMPLE, cost)
    assert isinstance(following, Ask)
    assert following.load > 1000


def test_with_room_a_server_that_compiles_gets_more_than_before_and_not_the_hint() -> None:
    plan = replace(PLAN, hint=Hint(8000, compiles=True))
    for compiled, load in ((0.3, 2000), (0.01, 8000)):
        ask = next_ask(plan, [Asked(1000, False, "carried", 0.5, compiled=compiled)], AMPLE, cost)
        assert isinstance(ask, Ask)
        assert ask.load == load


@pytest.mark.parametrize("answer", ["broken", "unsettled", "disturbed"])
def test_a_cold_server_goes_back_to_what_it_carried(answer: Answer) -> None:
    asked = [Asked(1000, False, "carried", 0.5), Asked(2000, False, answer, 1.0, compiled=0.3)]
    assert next_ask(PLAN, asked, AMPLE, cost) == Ask(1000)


@pytest.mark.parametrize("answer", ["broken", "unsettled"])
def test_a_later_start_repeats_the_half_that_it_did_not_carry(answer: Answer) -> None:
    plan = replace(PLAN, hint=Hint(3000))
    assert next_ask(plan, [Asked(1500, False, answer, 1.0)], AMPLE, cost) == Ask(1500)


@pytest.mark.parametrize(("answer", "cold"), [("broken", True), ("unsettled", True), ("generator", False)])
def test_an_answer_of_a_server_that_took_clearly_less_later_was_cold(answer: Answer, cold: bool) -> None:
    later = [Asked(1000, False, "carried", 0.5)]
    assert was_cold(Asked(1000, False, answer, 1.0), [], later) is cold
    assert was_cold(Asked(1000, False, answer, 1.0, compiled=0.3), [], []) is cold


@pytest.mark.parametrize(
    ("compiled", "refused"),
    [(None, 2000), (0.0, 2000), (COMPILING, 2000), (0.11, None)],
    ids=["not known", "warm", "hardly", "cold"],
)
def test_a_refusal_counts_unless_the_compilers_worked(compiled: float | None, refused: int | None) -> None:
    asked = [Asked(1000, False, "carried", 0.5), Asked(2000, False, "broken", 1.0, compiled=compiled)]
    found = next_ask(PLAN, asked, 0.0, cost)
    assert isinstance(found, Found)
    assert (found.carried, found.refused) == (1000, refused)


def test_what_was_carried_by_a_server_that_compiles_counts() -> None:
    found = next_ask(PLAN, [Asked(1000, True, "carried", 0.5, compiled=0.3)], 0.0, cost)
    assert isinstance(found, Found)
    assert (found.carried, found.end) == (1000, "time")


def test_a_server_that_compiled_while_it_was_busy_has_to_warm_up() -> None:
    assert compiled_busy([Asked(1000, False, "broken", 1.0, compiled=0.3)])
    assert not compiled_busy([Asked(1000, False, "carried", 0.3, compiled=0.3)]), "it had room"
    assert not compiled_busy([Asked(1000, False, "carried", 1.0, compiled=0.03)]), "the compilers rest"
    assert not was_cold(Asked(1000, False, "generator", 1.0, compiled=0.3), [], []), "the generator ended"


@pytest.mark.parametrize(
    ("load", "compiled", "cold"),
    [(1000, 0.0, False), (800, 0.0, False), (790, 0.0, True), (1000, 0.3, True)],
    ids=["carried before", "nearly", "less", "not warm then either"],
)
def test_a_server_that_carried_nearly_the_load_without_compiling_was_warm(
    load: int, compiled: float, cold: bool
) -> None:
    earlier = [Asked(load, False, "carried", 0.9, compiled=compiled)]
    assert was_cold(Asked(1000, True, "broken", 1.0, compiled=0.08), earlier, []) is cold
