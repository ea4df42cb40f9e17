"""Progress shows the trial's number and the total, the stage, and the time left; a log gets only whole lines."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from pushbench.generator.events import Second, Started
from pushbench.measuring.trial import failed_trial
from pushbench.records.record import Failure, Finding, PlannedTrial, Record, Schedule, StagePlan, Trial, Validity
from pushbench.watching.progress import Follower, Lines, Terminal, conclusion
from tests.factories import make_record
from tests.samples import result_of, stage_report, window

PLANNED = PlannedTrial(server="node-ws", round=1, order=1, seed=1)
STAGES = [StagePlan(clients=clients, ramp_seconds=1, settle_seconds=0, steady_seconds=2) for clients in (500, 1000)]


def record_of(*stages: StagePlan) -> Record:
    return make_record([], schedule=Schedule(warmup_seconds=0, stages=list(stages), drain_seconds=1))


RECORD = record_of(*STAGES)


def trial(**changed: object) -> Trial:
    finished = failed_trial(PLANNED, "digest", Failure(step="start", message="it is too old"))
    stages = [result_of(stage_report(clients=1000), window(), 4)]
    return finished.model_copy(update={"failure": None, "seconds": 61.0, "stages": stages, **changed})


def play(watch: Follower) -> None:
    watch.note("node-ws: building (npm ci)")
    watch.trial(PLANNED, 4, RECORD, seconds_left=180.0)
    watch.started(Started(at=0.0, windows=[(1.0, 3.0), (4.0, 6.0)], end=6.0))
    for at, clients in ((1.0, 500), (2.0, 500), (3.5, 900), (5.0, 1000), (6.5, 1000)):
        watch.second(Second(at=at, clients=clients, sent=clients, received=clients * 10))
    watch.finished(trial())
    watch.close()


def test_a_log_gets_a_line_for_the_start_each_stage_and_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    play(Lines())
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.replace("2 min 59 s", "3 min 00 s").splitlines() == [
        "node-ws: building (npm ci)",
        "[2/4] node-ws: starting, 3 min 00 s left",
        "[2/4] node-ws: stage 1/2, 500 clients, 5,000 deliveries/s, 3 min 00 s left",
        "[2/4] node-ws: stage 2/2, 1,000 clients, 10,000 deliveries/s, 3 min 00 s left",
        "[2/4] node-ws: done in 1 min 01 s; 1,000 clients, nothing lost",
    ]


def test_rounds_at_the_same_time_are_named_together(capsys: pytest.CaptureFixture[str]) -> None:
    rounds = [PLANNED.model_copy(update={"round": number, "together": True}) for number in (1, 2, 3, 4)]
    done = [trial().model_copy(update={"round": 1})]
    record = RECORD.model_copy(update={"plan": rounds, "trials": done})
    watch = Lines()
    watch.trial(rounds[1], 0, record, seconds_left=180.0)
    watch.finished(trial().model_copy(update={"round": 3}))
    watch.trial(rounds[0], 0, record.model_copy(update={"plan": rounds[:1]}), seconds_left=180.0)
    titles = [line.split(":")[0] for line in capsys.readouterr().err.splitlines()]
    assert titles == ["[rounds 2 to 4] node-ws", "[round 3] node-ws, head", "[round 1] node-ws"]


def test_a_terminal_has_one_line_that_changes_below_the_notes() -> None:
    screen = io.StringIO()
    play(Terminal(Console(file=screen, force_terminal=True, width=120, color_system=None)))
    shown = screen.getvalue()
    for part in (
        "[2/4] node-ws: starting",
        "stage 1/2 measuring, 500 of 500 clients, 5,000 deliveries/s",
        "stage 2/2 ramp, 900 of 1,000 clients",
        "stage 2/2 measuring, 1,000 of 1,000 clients",
        "draining",
        "done in 1 min 01 s",
    ):
        assert part in shown


def probe(watch: Follower) -> None:
    watch.sweep("[1/3] spring-websocket", STAGES, seconds_left=260.0)
    watch.started(Started(at=0.0, windows=[(1.0, 3.0), (4.0, 6.0)], end=6.0))
    for at, clients in ((2.0, 500), (3.5, 800), (5.0, 1000), (6.5, 1000)):
        watch.second(Second(at=at, clients=clients, sent=1000, received=10_000))
    watch.note("[1/3] spring-websocket: 1,000 clients: carried")
    watch.close()


def test_a_probe_is_one_line_that_changes_and_keeps_the_time_left_at_60_columns() -> None:
    screen = io.StringIO()
    probe(Terminal(Console(file=screen, force_terminal=True, width=60, color_system=None)))
    shown = screen.getvalue().replace("4 min 19 s", "4 min 20 s")
    for clients in ("500/500", "800/1,000", "1,000/1,000"):
        assert f"[1/3] spring-websocket: {clients} clients, 4 min 20 s left" in shown


def test_a_log_gets_no_line_for_a_probe_but_what_came_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    probe(Lines())
    assert capsys.readouterr().err == "[1/3] spring-websocket: 1,000 clients: carried\n"


def test_a_stage_with_a_name_is_told_by_it(capsys: pytest.CaptureFixture[str]) -> None:
    classroom = StagePlan(clients=300, name="classroom-300", ramp_seconds=3, settle_seconds=0, steady_seconds=2)
    screen = io.StringIO()
    terminal = Terminal(Console(file=screen, force_terminal=True, width=120, color_system=None))
    for watch in (Lines(), terminal):
        watch.trial(PLANNED, 4, record_of(STAGES[0], classroom), 180.0)
        watch.started(Started(at=0.0, windows=[(1.0, 3.0), (6.0, 8.0)], end=8.0))
        for at, clients in ((3.5, 500), (7.0, 300)):
            watch.second(Second(at=at, clients=clients, sent=clients, received=clients * 100))
        watch.finished(trial(stages=[result_of(stage_report(clients=300, name="classroom-300"), window(), 4)]))
        watch.close()
    assert "stage 2/2 (classroom-300), 300 clients, 30,000 deliveries/s" in capsys.readouterr().err
    assert "stage 2/2 (classroom-300) ramp, 500 clients leaving, 50,000 deliveries/s" in screen.getvalue()
    assert "stage 2/2 (classroom-300) measuring, 300 of 300 clients" in screen.getvalue()
    assert "done in 1 min 01 s; classroom-300: 300 clients, nothing lost" in screen.getvalue()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, "done in 1 min 01 s; 1,000 clients, nothing lost"),
        ({"failure": Failure(step="start", message="it is too old")}, "failed to start: it is too old"),
        (
            {
                "validity": Validity(
                    valid=False, reasons=[Finding(code="steal", message="the hypervisor took 3 %")], warnings=[]
                )
            },
            "invalid: the hypervisor took 3 %",
        ),
    ],
)
def test_a_trial_ends_with_what_came_of_it(changed: dict[str, object], told: str) -> None:
    assert conclusion(trial(**changed)) == told


def test_loss_is_told() -> None:
    lossy = result_of(stage_report(clients=1000, received=5_940, lost=60), window(), 4)
    assert conclusion(trial(stages=[lossy])).endswith("1,000 clients, 1 % lost")


@pytest.mark.parametrize("width", [60, 80, 160])
def test_the_time_left_is_never_cut(width: int) -> None:
    screen = io.StringIO()
    terminal = Terminal(Console(file=screen, force_terminal=True, width=width, color_system=None))
    planned = PLANNED.model_copy(update={"server": "socketio-game/bun-native"})
    terminal.trial(planned, 4, RECORD, 185.0)
    terminal.started(Started(at=0.0, windows=[(1.0, 3.0), (4.0, 6.0)], end=6.0))
    terminal.second(Second(at=2.0, clients=STAGES[0].clients, sent=100, received=32716))
    terminal.close()
    shown = re.findall(r"\[2/4\] socketio-game/bun-native: stage[^\x1b\r\n]*", screen.getvalue())[-1]
    assert shown.endswith("left")
    assert re.search(r", 3 min 0[0-9] s left$", shown)
    assert len(shown) <= width
    assert ("deliveries/s" in shown) == (width == 160)
