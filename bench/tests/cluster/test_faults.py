"""Harms to running trials on a real cluster are detected and named, and the trials that follow are measured."""

from __future__ import annotations

import re

import pytest

from tests.cluster.at_hand import TOOL
from tests.cluster.course import Course
from tests.cluster.runs import DELIVERIES, harms_of

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL, reason="needs CLUSTER: `current`, or a program that starts a cluster"),
]


def test_a_generator_that_is_removed_is_named(harmed: Course) -> None:
    [why] = harms_of(harmed.generator_removed)
    assert re.fullmatch(r"generator_failed: the pod of the generator load-\S+ was removed", why)


def test_a_killed_command_is_resumed_and_removes_what_it_left_and_nothing_else(harmed: Course) -> None:
    assert harmed.kept == [harmed.generator_removed]
    assert f"removed namespace {harmed.left}" in harmed.said
    assert harmed.of_somebody == "Active"


def test_a_server_that_is_moved_is_named_with_both_nodes(harmed: Course) -> None:
    assert not harmed.moved_and_node_lost["validity"]["valid"], "its end is not the server's result"
    moves = [why for why in harms_of(harmed.moved_and_node_lost) if "server" in why]
    assert len(moves) == 1
    named = re.fullmatch(r"pod_lost: .*; it was moved from the node (\S+) to (\S+)", moves[0])
    assert named, moves
    assert named[1] != named[2]


def test_a_node_that_is_lost_is_named(harmed: Course) -> None:
    if not harmed.node_was_here:
        pytest.skip("the nodes of this cluster are elsewhere")
    [why] = [why for why in harms_of(harmed.moved_and_node_lost) if "generator" in why]
    assert re.fullmatch(r"node_gone: the node \S+ of the generator load-\S+ was removed", why)


def test_the_next_trial_runs_on_the_nodes_that_are_left_while_the_api_server_is_away(harmed: Course) -> None:
    trial = harmed.api_away
    assert trial["failure"] is None, trial["failure"]
    assert harms_of(trial) == []
    [stage] = trial["stages"]
    assert stage["receipts"]["expected"] == stage["receipts"]["received"] == DELIVERIES
    assert stage["metrics"]["cpu_cores"] is not None


def test_a_meter_that_is_killed_is_named_and_what_clients_saw_is_kept(harmed: Course) -> None:
    assert harms_of(harmed.meter_killed) == ["meter_lost: the meter ended with exit code 137 (Error)"]
    assert harmed.meter_killed["errors"] == []
    [stage] = harmed.meter_killed["stages"]
    assert stage["receipts"]["expected"] == stage["receipts"]["received"] == DELIVERIES


def test_a_server_that_is_killed_has_failed(harmed: Course) -> None:
    """Its result is that it ended by itself."""
    trial = harmed.server_killed
    assert (harms_of(trial), trial["failure"]["step"]) == ([], "load")
    assert "exit code 137" in trial["failure"]["message"]
