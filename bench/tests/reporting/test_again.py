"""The command that measures a run again is the same wherever it is shown, and the command line accepts it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from pushbench.cli import app
from pushbench.judging.verdict import judge
from pushbench.records.environment import Environment
from pushbench.records.record import Cluster, Comparison, OneSided, Record
from pushbench.reporting import report
from pushbench.reporting.again import command, command_from_anywhere
from pushbench.site.runfile import run
from tests.factories import failed, make_record, make_thresholds, make_trial

RUN = make_record([make_trial("node-ws", number) for number in (1, 2)])
FAILED = make_record([failed("node-ws")])
COMMIT = RUN.commit
DIRTY = RUN.model_copy(update={"commit": COMMIT and COMMIT.model_copy(update={"dirty": True})})


def compared(record: Record = RUN, **changed: object) -> Record:
    facts: dict[str, object] = {"base": COMMIT, "most_rounds": 2, "identical": [], "one_sided": []}
    return record.model_copy(update={"comparison": Comparison.model_validate(facts | changed)})


def measured_in(**changed: object) -> Record:
    environment: Environment = RUN.environment.model_copy(update=changed)
    return RUN.model_copy(update={"environment": environment})


IN_CLUSTER = measured_in(driver="kubernetes", generators=3).model_copy(
    update={"cluster": Cluster(context="stage", namespace_prefix="team")}
)


def test_a_run_is_done_again_with_its_order_and_driver() -> None:
    assert command(RUN) == (
        "./pushbench run --suite whiteboard --profile quick --servers node-ws --driver process "
        "--parameter board_size=10 --parameter pattern=steady --rounds 2 --seed 1"
    )


def test_a_comparison_names_both_commits_and_no_seed() -> None:
    assert command(compared()) == (
        "./pushbench compare --base 770fdf8a1b2c --head 770fdf8a1b2c --suite whiteboard --profile quick "
        "--servers node-ws --driver process --parameter board_size=10 --parameter pattern=steady"
    )
    assert "--head" not in command(compared(DIRTY))


def test_a_server_that_works_on_neither_side_is_named_once() -> None:
    sides = [OneSided(server="node-ws", reason="verify: no", failed=side) for side in ("head", "base")]
    nothing = RUN.model_copy(update={"trials": [], "plan": []})
    assert "--servers node-ws --driver" in command(compared(nothing, one_sided=sides))


def test_a_measured_judge_is_asked_for_its_fault() -> None:
    assert command(compared(injected="burn=15%")) == (
        "./pushbench calibrate measure --fault burn=15% --suite whiteboard --profile quick --servers node-ws "
        "--driver process"
    )


def test_how_the_machine_was_used_is_part_of_it() -> None:
    assert "--driver docker" in command(measured_in(driver="docker"))
    assert "--workers 2" in command(measured_in(workers=2))
    assert "--generators 3" in command(measured_in(generators=3))
    assert "--parameter board=true" in command(RUN.model_copy(update={"parameters": {"board": True}}))


def test_the_cluster_is_part_of_it() -> None:
    assert "--driver kubernetes --context stage --namespace-prefix team --generators 3" in command(IN_CLUSTER)
    usual = IN_CLUSTER.model_copy(update={"cluster": Cluster()})
    assert "--driver kubernetes --generators 3" in command(usual)


def test_a_comparison_that_measured_nothing_names_what_it_could_not_compare() -> None:
    left_out = OneSided(server="node-ws", reason="no image")
    assert "--servers node-ws" in command(compared(make_record([]), one_sided=[left_out]))
    assert "--servers" not in command(compared(make_record([])))


def test_who_reads_it_elsewhere_checks_the_commit_out_first() -> None:
    checkout = "git checkout 770fdf8a1b2c3d4e5f60718293a4b5c6d7e8f901 && "
    assert command_from_anywhere(RUN) == checkout + command(RUN)
    calibrating = compared(injected="none")
    assert command_from_anywhere(calibrating) == checkout + command(calibrating)
    assert command_from_anywhere(compared()) == command(compared())
    assert command_from_anywhere(DIRTY) == command(DIRTY)


@pytest.mark.parametrize(
    "record",
    [RUN, compared(), compared(injected="none"), measured_in(driver="docker", workers=2, generators=3), IN_CLUSTER],
    ids=["run", "compare", "calibrate", "used otherwise", "cluster"],
)
def test_the_command_line_takes_it(record: Record) -> None:
    _, *arguments = shlex.split(command(record))
    found: Any = typer.main.get_command(app)
    while hasattr(found, "commands"):
        found = found.commands[arguments.pop(0)]
    found.make_context("pushbench", arguments)


@pytest.mark.parametrize("record", [FAILED, compared(FAILED)], ids=["run", "compare"])
def test_reports_and_the_site_say_the_same(record: Record, tmp_path: Path) -> None:
    verdict = judge(record, make_thresholds(tmp_path))
    shown = report.render_terminal(record, verdict, width=160)
    assert command(record) in " ".join(shown.split())
    assert command(record) in report.markdown(record, verdict)
    assert run(record, verdict)["command"] == command_from_anywhere(record)
