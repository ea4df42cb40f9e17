"""One run of the scripted server with every harm: one in each trial, and a kill of its command."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bare_checkouts import environment_of
from tests.cluster import harms
from tests.cluster.at_hand import Cluster, await_that
from tests.cluster.runs import pushbench, running, start, trials_in

PREFIX = "push-harm"
ROUNDS = 5


@dataclass(frozen=True)
class Course:
    """The trials in the order in which they were played."""

    generator_removed: dict[str, Any]
    moved_and_node_lost: dict[str, Any]
    api_away: dict[str, Any]
    meter_killed: dict[str, Any]
    server_killed: dict[str, Any]
    node_was_here: bool
    """False if the node was not harmed"""
    kept: list[dict[str, Any]]
    """the trials in the record when the command was killed"""
    left: str
    """the namespace that the killed command left"""
    said: str
    """error output of the command that resumed the run"""
    of_somebody: str
    """phase, after the run, of another user's namespace with the same prefix"""


def play_harms(cluster: Cluster, scripted: Path, out: Path) -> Course:
    own = environment_of(scripted)
    run = start(cluster, out, PREFIX, "scripted", generators=1, rounds=ROUNDS, environment=own)
    trials = harms.Seen(cluster, PREFIX)
    try:
        with cluster.namespace(f"{PREFIX}-of-somebody"):
            harms.remove_a_generator(cluster, trials.next_in_load())
            left = kill_the_command(run, cluster, out)
            kept = trials_in(out)
            trials.seen.add(left)
            run = pushbench(cluster, "run", "--resume", "latest", "--out", str(out), "--json", **own)
            namespace = trials.next_in_load()
            harms.move_the_server(cluster, namespace)
            with harms.a_node_lost(cluster, namespace) as node_was_here:
                trials.next_in_load()  # on the remaining nodes
                harms.stop_the_api_server()
            harms.kill_the_meter(cluster, trials.next_in_load())
            harms.kill_the_server(cluster, trials.next_in_load())
            said, errors = run.communicate(timeout=200)
            phase = cluster.get("namespace", f"{PREFIX}-of-somebody")["status"]["phase"]
    finally:
        run.kill()
    found = trials_in(out)
    assert len(found) == ROUNDS, said + errors
    removed, moved, away, meter, killed = found
    return Course(removed, moved, away, meter, killed, node_was_here, kept, left, errors, phase)


def kill_the_command(run: subprocess.Popen[str], cluster: Cluster, out: Path) -> str:
    """Send SIGKILL to the command in its second trial. Return the namespace that it leaves."""
    await_that("the first trial is kept", lambda: bool(trials_in(out)))
    await_that("the second has a namespace", lambda: bool(running(cluster, PREFIX)))
    run.kill()
    run.communicate()
    [left] = running(cluster, PREFIX)
    return left
