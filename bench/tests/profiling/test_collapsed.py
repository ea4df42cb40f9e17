"""Stacks of py-spy become functions with files relative to the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.profiling.collapsed import add_collapsed
from pushbench.profiling.profile import Profile, Unprofiled

FOLDER = Path("/servers/fastapi")
TEXT = b"""\
<module> (/servers/fastapi/app/__main__.py:3);broadcast (/servers/fastapi/app/board.py:20) 30
<module> (/servers/fastapi/app/__main__.py:3);broadcast (/servers/fastapi/app/board.py:21) 10
process 12:"python";run (/usr/lib/python3.12/asyncio/runners.py:118) 5
send (/servers/fastapi/.venv/lib/python3.12/site-packages/websockets/asyncio/connection.py:9) 5
"""


def read(content: bytes) -> Profile:
    profile = Profile()
    add_collapsed(profile, content, FOLDER, 0.01)
    return profile


def test_lines_of_a_function_are_one_function_named_by_the_line_with_most_samples() -> None:
    profile = read(TEXT)
    own = {each.title(profile.line(each)): round(seconds, 3) for each, seconds in profile.own_seconds().items()}
    assert own == {
        "broadcast (app/board.py:20)": 0.4,
        "run (asyncio/runners.py:118)": 0.05,
        "send (websockets/asyncio/connection.py:9)": 0.05,
    }
    assert profile.count == 50
    assert [each.own for stack in profile.stacks for each in stack] == [True, True, False, False]


def test_names_are_one_line_without_control_characters() -> None:
    [stack] = read("x\x1b[31my\u202e (a.py:1) 1".encode()).stacks
    assert stack[0].function == "xy"


@pytest.mark.parametrize("content", [b"<svg/>", b"a;b;c", b"a -1", b"a 99999999999999999999"])
def test_what_is_no_file_of_stacks_is_refused(content: bytes) -> None:
    with pytest.raises(Unprofiled, match="line 1 has no count"):
        read(content)
