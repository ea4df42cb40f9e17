"""Profiles of Node.js and Bun are read as CPU by function, and nothing in them is trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pushbench.profiling.cpuprofile import add_cpuprofile
from pushbench.profiling.profile import Profile, Unprofiled

FOLDER = Path("/servers/x")
ALWAYS = [(0.0, 1e9)]


def node(number: int, name: str, url: str = "", line: int = -1, children: tuple[int, ...] = ()) -> dict[str, Any]:
    call = {"functionName": name, "scriptId": "1", "url": url, "lineNumber": line, "columnNumber": 0}
    return {"id": number, "callFrame": call, "hitCount": 0, "children": list(children)}


def profile_of(**replaced: Any) -> dict[str, Any]:
    """One second: half idle, 0.3 s in `send` below an anonymous function of `broadcast`, 0.2 s in a library."""
    nodes = [
        node(1, "(root)", children=(2, 3)),
        node(2, "(idle)"),
        node(3, "broadcast", "file:///servers/x/src/server.js", 9, children=(4, 6)),
        node(4, "", "file:///servers/x/src/server.js", 11, children=(5,)),
        node(5, "send", "/servers/x/src/out.js", 0),
        node(6, "write", "file:///servers/x/node_modules/ws/lib/sender.js", 40),
    ]
    found = {"nodes": nodes, "startTime": 5e6, "samples": [2, 5, 6, 2], "timeDeltas": [0, 500_000, 300_000, 200_000]}
    return found | replaced


def read(document: object, windows: list[tuple[float, float]] = ALWAYS, epoch: float = 1e9) -> Profile:
    profile = Profile()
    add_cpuprofile(profile, json.dumps(document).encode(), FOLDER, windows, epoch)
    return profile


def own(profile: Profile) -> dict[str, float]:
    return {each.title(profile.line(each)): round(seconds, 6) for each, seconds in profile.own_seconds().items()}


def test_a_sample_lasts_until_the_next_and_idle_time_is_no_cpu() -> None:
    assert own(read(profile_of())) == {"send (src/out.js:1)": 0.3, "write (ws/lib/sender.js:41)": 0.2}


def test_stacks_name_functions_without_a_name_by_their_caller() -> None:
    stacks = [[each.function for each in stack] for stack in read(profile_of()).stacks]
    assert ["broadcast", "(anonymous) of broadcast", "send"] in stacks


def test_only_the_windows_count() -> None:
    assert own(read(profile_of(), [(5.4, 5.6)])) == {"send (src/out.js:1)": 0.3}


def test_times_by_the_wall_clock_are_understood() -> None:
    by_wall = profile_of(startTime=(1.7e9 + 5) * 1e6)
    assert own(read(by_wall, [(5.4, 5.6)], epoch=1.7e9)) == {"send (src/out.js:1)": 0.3}


def test_the_same_function_on_another_line_is_the_same() -> None:
    before, after = read(profile_of()), profile_of()
    after["nodes"][4]["callFrame"]["lineNumber"] = 7
    assert before.own_seconds().keys() == read(after).own_seconds().keys()


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ([], "not a .cpuprofile"),
        (profile_of(startTime=float("inf")), "not a .cpuprofile"),
        (profile_of(samples=["5"] * 3 + [{}]), "not a .cpuprofile: samples"),
        (profile_of(nodes=[node(1, "a", children=(2,)), node(2, "b", children=(1,))]), "its own caller"),
    ],
)
def test_what_is_no_profile_is_refused_in_a_sentence(document: object, told: str) -> None:
    with pytest.raises(Unprofiled, match=told):
        read(document)


def test_a_deep_document_is_refused() -> None:
    with pytest.raises(Unprofiled, match=r"not a \.cpuprofile"):
        add_cpuprofile(Profile(), b"[" * 100_000, FOLDER, ALWAYS, 0.0)


def test_samples_of_functions_that_are_not_there_are_left_out() -> None:
    assert own(read(profile_of(samples=[2, 99, 6, 2]))) == {"write (ws/lib/sender.js:41)": 0.2}
