"""Small profiles that real runtimes wrote: the same program twice, with a costlier function `burn` in the head.

Frames that no reader uses are left out. Paths are those of a server in `/servers/x`.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from pushbench.profiling.collapsed import add_collapsed
from pushbench.profiling.cpuprofile import add_cpuprofile
from pushbench.profiling.difference import Measured, compare
from pushbench.profiling.jfr import add_jfr
from pushbench.profiling.perf import add_perf, go_names, lookups, read_samples
from pushbench.profiling.profile import Profile

DATA = Path(__file__).parents[1] / "data" / "profiles"
FOLDER = Path("/servers/x")
BINARY = FOLDER / "target" / "server"
ALWAYS = [(0.0, 1e10)]
WORK = 1000
"""units: the program does the same in both arms"""


def node(arm: str) -> Profile:
    profile = Profile()
    add_cpuprofile(profile, (DATA / f"node-{arm}.cpuprofile").read_bytes(), FOLDER, ALWAYS, 1e12)
    return profile


def python(arm: str) -> Profile:
    profile = Profile()
    add_collapsed(profile, (DATA / f"python-{arm}.txt").read_bytes(), FOLDER, 0.005)
    return profile


def java(arm: str) -> Profile:
    profile = Profile()
    add_jfr(profile, io.StringIO((DATA / f"java-{arm}.json").read_text()), FOLDER, ALWAYS, 0.0)
    return profile


def go(arm: str) -> Profile:
    samples = read_samples((DATA / f"go-{arm}.perf.txt").read_bytes(), ALWAYS)
    names = go_names(lookups(samples, BINARY), [], lambda _: (DATA / f"go-{arm}.names.txt").read_text())
    profile = Profile()
    add_perf(profile, samples, BINARY, names, "app")
    return profile


@pytest.mark.parametrize(
    ("read", "function"),
    [
        (node, "burn (src/app.js:1)"),
        (python, "burn (app.py:"),
        (java, "app.Main.burn"),
        (go, "main.burn (main.go:"),
    ],
)
def test_the_function_that_burns_is_named_first(read: Callable[[str], Profile], function: str) -> None:
    base, head = (Measured(read(arm), WORK, 1.0, by_wall=True) for arm in ("base", "head"))
    assert min(base.profile.count, head.profile.count) > 20
    first = compare(base, head)[0]
    assert first.title.startswith(function)
    assert first.gained
    assert first.head.share > first.base.share + 0.3
    last = compare(head, base)[-1]
    assert last.title.startswith(function)
