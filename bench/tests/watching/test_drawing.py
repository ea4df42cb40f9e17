"""`run --watch` owns the terminal while trials run, and then restores it, with the lines that are to remain."""

from __future__ import annotations

import io
import os
import pty
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from rich.console import Console, ConsoleDimensions

from pushbench.cli.interrupting import drawable, watching
from pushbench.generator.events import Second, Started
from pushbench.judging.thresholds import NO_THRESHOLDS
from pushbench.records.record import PlannedTrial
from pushbench.watching.drawing import Drawn
from pushbench.watching.progress import Terminal
from tests.factories import make_record, make_thresholds
from tests.support import FAKES

PLANNED = PlannedTrial(server="node-ws", round=1, order=1, seed=1)
ENTER, LEAVE, HIDE, SHOW = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25l", "\x1b[?25h"
SEQUENCES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def terminal(width: int = 80, height: int = 24) -> tuple[Console, io.StringIO]:
    screen = io.StringIO()
    return Console(file=screen, force_terminal=True, width=width, height=height, legacy_windows=False), screen


def begin(watch: Drawn) -> None:
    watch.trial(PLANNED, 4, make_record([]), seconds_left=180.0)
    watch.started(Started(at=0.0, windows=[(1.0, 3.0), (4.0, 6.0), (7.0, 9.0), (10.0, 12.0)], end=12.0))


def second(at: float, clients: int = 100) -> Second:
    return Second(at=at, clients=clients, sent=clients, received=clients * 10, owed=clients * 10, headline_p95=0.0021)


def test_the_terminal_is_given_back_with_the_notes(tmp_path: Path) -> None:
    console, screen = terminal()
    watch = Drawn(console, make_thresholds(tmp_path))
    watch.note("node-ws: building (npm ci)")
    assert screen.getvalue() == "node-ws: building (npm ci)\n", "nothing is drawn before the first trial"
    begin(watch)
    watch.second(second(2.002))
    watch.note("[2/4] node-ws: done")
    watch.close()
    watch.close()
    before, _, rest = screen.getvalue().partition(ENTER)
    drawn, _, after = rest.partition(LEAVE)
    assert before.count("building") == 1
    assert "stage 1/4 measuring, 100 of 100 clients" in drawn
    assert "1,000 /s, 1,000 due" in drawn
    assert "2.10 ms" in drawn
    assert "limit 500 ms" in drawn
    assert HIDE in drawn + before
    assert SHOW in rest
    assert drawn.endswith("\x1b[2J\x1b[H" + SHOW) or drawn.endswith("\x1b[2J\x1b[H"), "nothing to scroll back to"
    assert SEQUENCES.sub("", after).split("\n") == ["[2/4] node-ws: done", ""]


def test_one_second_is_one_drawing_that_begins_at_the_top(tmp_path: Path) -> None:
    """Nothing is erased before it is overwritten, since that would flicker."""
    console, screen = terminal()
    watch = Drawn(console, make_thresholds(tmp_path))
    begin(watch)
    screen.truncate(0)
    screen.seek(0)
    watch.second(second(2.002))
    found = screen.getvalue()
    assert found.startswith("\x1b[H")
    assert found.count("\x1b[H") == 1
    assert "\x1b[2J" not in found
    assert found.count("\n") == 23, "every line is drawn over, so none has to be erased"
    watch.close()


def test_a_terminal_that_became_narrower_is_filled_anew(tmp_path: Path) -> None:
    console, screen = terminal(160, 40)
    watch = Drawn(console, make_thresholds(tmp_path))
    begin(watch)
    watch.second(second(2.002))
    console.size = ConsoleDimensions(60, 20)
    screen.truncate(0)
    screen.seek(0)
    watch.second(second(3.002))
    found = SEQUENCES.sub("", screen.getvalue()).split("\n")
    assert len(found) == 20
    assert {len(line) for line in found} == {60}
    watch.close()


def test_limits_are_those_of_the_stage(tmp_path: Path) -> None:
    own = """\
    version: 1
    servers:
      node-ws:
        whiteboard:
          limits:
            delivery_seconds.p95: {max: 50ms, stages: ["300"], reason: x}
    """
    console, screen = terminal()
    watch = Drawn(console, make_thresholds(tmp_path, textwrap.dedent(own)))
    begin(watch)
    watch.second(second(2.002))
    assert "limit 50 ms" not in screen.getvalue()
    watch.second(second(5.002))
    assert "limit 50 ms" in screen.getvalue()
    watch.close()


@pytest.mark.parametrize(
    ("terminals", "variables", "reason"),
    [
        (False, {}, "stderr is not a terminal"),
        (True, {"NO_COLOR": "1"}, "NO_COLOR is set"),
        (True, {"TERM": "dumb"}, "TERM is dumb"),
        (True, {"TERM": ""}, "TERM is not set"),
    ],
)
def test_where_nothing_can_be_drawn_one_line_says_why(
    terminals: bool,
    variables: dict[str, str],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminals)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm", **variables}.items():
        monkeypatch.setenv(name, value)
    assert not drawable()
    assert capsys.readouterr().err == f"--watch: {reason}; showing the usual progress instead\n"


def test_a_terminal_is_drawn_on_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert drawable()
    for drawn, kind in ((NO_THRESHOLDS, Drawn), (None, Terminal)):
        with watching(drawn) as watch:
            assert isinstance(watch, kind)


PROGRAM = f"""\
import sys, time, typer
sys.path[:0] = [{str(FAKES.parents[1])!r}]
from pushbench.cli.interrupting import measure
from pushbench.judging.thresholds import NO_THRESHOLDS
from tests.watching.test_drawing import begin, second

def play(watch):
    begin(watch)
    for at in range(1, 100):
        watch.second(second(at + 0.002))
        watch.note("drawn")
        time.sleep(0.05)

try:
    measure(play, str, drawn=NO_THRESHOLDS)
except typer.Exit as ended:
    sys.exit(ended.exit_code)
"""


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_who_ends_a_run_has_a_clean_terminal(ending: signal.Signals) -> None:
    """In a real pseudo-terminal; stdout is a pipe and stays empty."""
    main, other = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=other, stdin=other, env=environment
    ) as process:
        os.close(other)
        shown = b""
        deadline = time.monotonic() + 30
        while b"drawn" not in shown and time.monotonic() < deadline:
            shown += os.read(main, 1 << 16)
        process.send_signal(ending)
        while True:
            try:
                content = os.read(main, 1 << 16)
            except OSError:  # the answer of Linux when no process has the other end open
                break
            if not content:
                break
            shown += content
        assert process.stdout
        assert process.stdout.read() == b""
        assert process.wait() == 130
    os.close(main)
    text = shown.decode(errors="replace")  # a signal may cut the last frame within a character
    assert text.count(ENTER) == text.count(LEAVE) == 1
    assert text.rindex(SHOW) > text.rindex(HIDE)
    after = SEQUENCES.sub("", text.partition(LEAVE)[2])
    assert "drawn" in after
    assert after.rstrip().endswith("interrupted before anything was measured")
