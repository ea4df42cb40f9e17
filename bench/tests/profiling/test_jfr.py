"""CPU-time samples of the JVM are read event by event."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from pushbench.profiling import jfr
from pushbench.profiling.jfr import add_jfr
from pushbench.profiling.profile import Profile, Unprofiled

EPOCH = 1_700_000_000.0
"""2023-11-14T22:13:20Z"""
WINDOWS = [(0.0, 10.0)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A server with one class."""
    sources = tmp_path / "src/main/java/app"
    sources.mkdir(parents=True)
    (sources / "Boards.java").write_text("class Boards {}")
    return tmp_path


def event(*frames: tuple[str, str, int], time: str = "2023-11-14T22:13:21.123456789Z", **more: Any) -> dict[str, Any]:
    """An event with `frames`, the innermost first."""
    stack = [
        {"method": {"type": {"name": type_}, "name": name, "descriptor": "()V"}, "lineNumber": line, "type": "Inlined"}
        for type_, name, line in frames
    ]
    values = {"startTime": time, "stackTrace": {"truncated": False, "frames": stack}, "samplingPeriod": "PT0.002S"}
    return {"type": "jdk.CPUTimeSample", "values": values | more}


BROADCAST = event(
    ("java/lang/String", "concat", 5), ("app/Boards$Board", "lambda$send$12", 30), ("app.Boards", "in", 9)
)
LATE = event(("app.Boards", "late", 1), time="2023-11-14T23:14:21+01:00")


def read(folder: Path, *events: dict[str, Any], text: str | None = None) -> Profile:
    profile = Profile()
    document = text if text is not None else json.dumps({"recording": {"events": events}}, indent=2)
    add_jfr(profile, io.StringIO(document), folder, WINDOWS, EPOCH)
    return profile


def test_own_classes_are_named_with_their_file_and_lambdas_without_their_number(folder: Path) -> None:
    [stack] = read(folder, BROADCAST, LATE).stacks
    assert [each.title(each.line) for each in stack] == [
        "Boards.in (src/main/java/app/Boards.java:9)",
        "Boards$Board.lambda$send$ (src/main/java/app/Boards.java:30)",
        "java.lang.String.concat",
    ]


def test_a_sample_counts_its_period(folder: Path) -> None:
    assert read(folder, BROADCAST, BROADCAST).seconds == pytest.approx(0.004)


def test_events_may_be_cut_anywhere_by_the_pipe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jfr, "CHUNK", 7)
    assert read(folder, BROADCAST, LATE, BROADCAST).count == 2


def test_hidden_classes_of_two_starts_have_one_name(folder: Path) -> None:
    events = [event((f"app.Other$$Lambda/0x{address:016x}", "run", 1)) for address in (0xAB, 0xCD)]
    [stack] = read(folder, *events).stacks
    assert stack[0].function == "app.Other$$Lambda.run"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it has no events"),
        ('{"recording": {"events": [{"type": "jdk.CPUTimeSample", ', "the middle of an event"),
        (json.dumps({"events": [{"type": "jdk.CPUTimeSample", "values": {}}]}), "not the output"),
        (json.dumps({"events": [event(samplingPeriod="P1D")]}), "not a duration"),
        (json.dumps({"events": [event(time="yesterday")]}), "not the output"),
    ],
)
def test_what_is_no_recording_is_refused(folder: Path, text: str, told: str) -> None:
    with pytest.raises(Unprofiled, match=told):
        read(folder, text=text)


def test_an_endless_event_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jfr, "MOST_EVENT", 100)
    monkeypatch.setattr(jfr, "CHUNK", 10)
    with pytest.raises(Unprofiled, match="too large for a profile"):
        read(folder, text='{"events": [{"type": "' + "x" * 1000)
