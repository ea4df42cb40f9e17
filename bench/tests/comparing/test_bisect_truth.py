"""A regression of 15 % in one of 40 commits of a real server is found, five times out of five.

`make bisect-truth` runs it: half an hour at most for each search, on a quiet machine (SEARCHES=N: fewer,
COMMITS=N: a shorter history).
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from pushbench.cli.conclusion import thresholds_of
from pushbench.comparing.bisect import BisectRequest, bisect
from pushbench.drivers.choice import DriverChoice
from pushbench.foundation.project import Project
from pushbench.measuring.common import Options
from pushbench.watching.progress import Lines
from tests.comparing.truths import Burn, burn, clone, commit, git

COMMITS = int(os.environ.get("COMMITS", "40"))
MOST_SECONDS = 1800.0
HOW = Options(DriverChoice("process"), verify=False, wait=True)
SLOWER = Burn(
    "node-ws",
    "src/boards.js",
    "  broadcast(boardId, frame) {\n",
    "    for (const end = performance.now() + 0.045; performance.now() < end; );\n",
    "broadcast",
)
"""45 us for 20 deliveries of 15 us each"""


def history(folder: Path, first_bad: int) -> tuple[Project, list[str]]:
    """Forty commits that change a comment of the server; from `first_bad` on, the server is slower."""
    project = clone(folder)
    file = project.servers / SLOWER.server / SLOWER.file
    shas = []
    for number in range(COMMITS):
        if number == first_bad:
            burn(project, SLOWER)
        text = file.read_text()
        rest = text.partition("\n")[2] if number else text
        file.write_text(f"// Revision {number}.\n{rest}")
        shas.append(commit(project, f"Revision {number}"))
    return project, shas


@pytest.mark.measurement
@pytest.mark.parametrize("search", range(int(os.environ.get("SEARCHES", "5"))))
def test_the_commit_is_found_within_half_an_hour(search: int, tmp_path: Path) -> None:
    first_bad = random.Random(search).randrange(COMMITS)
    project, shas = history(tmp_path / "checkout", first_bad)
    began = time.monotonic()
    good = git(project.root, "rev-parse", f"{shas[0]}~1")
    request = BisectRequest(good, shas[-1], SLOWER.server, step_seconds=240.0)
    found = bisect(project, request, HOW, thresholds_of(project), Lines())
    seconds = time.monotonic() - began
    print(found.model_dump_json(indent=2))
    print(f"{seconds / 60:.1f} min, {len(found.steps)} comparisons, effect {found.effect}")
    assert [each.sha for each in found.culprits] == [shas[first_bad]]
    assert seconds < MOST_SECONDS
