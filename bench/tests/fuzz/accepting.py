"""The thresholds.yml of a stranger's commit: only its accepting lines are read, and none takes effect."""

from __future__ import annotations

import os

from pushbench.judging.accepting import accepts_only, new_lines, newly_accepted, state
from tests.fuzz.target import Target
from tests.judging.accepted_lines import DAY, KNOWN, TEXT, accepting, line


def _holds(content: bytes) -> bool:
    """Whether an unconfirmed line would take effect."""
    text = os.fsdecode(content)
    accepts_only(TEXT, text)
    newly_accepted(TEXT, text)
    lines = new_lines(text, TEXT, "whiteboard", KNOWN, confirmed=False)
    return any(state(each, DAY) == "holds" for each in lines)


SEEDS = [accepting(line()), accepting(line("level: 45us", rest="stages: [500, 1000], ")), TEXT]
TARGET = Target("accepting", [seed.encode() for seed in SEEDS], _holds)
