"""Two measurements are compared by the pairs of servers that noise separates in both."""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.records.compact import CompactServer
from pushbench.reporting.standings import Standing, Standings, agreement


def in_places(*groups: Sequence[str]) -> Standings:
    """Servers in groups that share a place, the best first."""
    newest = CompactServer(build="", runtime="", framework="", headline=[1.0], cost=[], memory=[], late=0.0, problem="")
    return Standings([], [[Standing(name, newest, [1.0], [], [], 0.0, []) for name in group] for group in groups], [])


def test_places_count_servers_and_ties_are_marked() -> None:
    assert in_places("a", "bc", "d").places == {"a": "1", "b": "2=", "c": "2=", "d": "4"}


def test_pairs_that_share_a_place_in_one_measurement_do_not_count() -> None:
    found = agreement(in_places("ab", "c"), in_places("a", "bc"))
    assert (found.alike, found.reversed) == (1, [])


def test_a_reversed_pair_names_the_better_server_of_the_first_measurement_first() -> None:
    found = agreement(in_places("a", "b", "c"), in_places("b", "a", "c"))
    assert (found.alike, found.reversed) == (2, [("a", "b")])


def test_servers_of_one_measurement_alone_do_not_count() -> None:
    found = agreement(in_places("a", "x", "b"), in_places("y", "a", "b"))
    assert (found.alike, found.reversed) == (1, [])
