"""Reads collapsed stacks, the `raw` format of py-spy: `outermost;...;innermost count` on each line. Pure.

A frame of py-spy is `function (file:line)`.
"""

from __future__ import annotations

import re
from pathlib import Path

from pushbench.profiling.naming import place
from pushbench.profiling.profile import Frame, Profile, Unprofiled, frame

_LINE = re.compile(r"(?P<stack>.+) (?P<count>\d{1,9})")
_FRAME = re.compile(r"(?P<function>.+) \((?P<file>[^()]+?)(?::(?P<line>\d{1,9}))?\)")
_PROCESS = re.compile(r"process \d+:|thread \(")
"""py-spy's prefix for the stack of one of several processes"""


def add_collapsed(profile: Profile, content: bytes, folder: Path, seconds: float) -> None:
    """Add all stacks; a sample is `seconds`. Raises Unprofiled for other content."""
    for number, line in enumerate(content.decode(errors="replace").splitlines(), start=1):
        found = _LINE.fullmatch(line.strip())
        if not found:
            if line.strip():
                raise Unprofiled(f"not a file of collapsed stacks: line {number} has no count")
            continue
        frames = [each for each in found["stack"].split(";") if not _PROCESS.match(each)]
        count = int(found["count"])
        profile.add([_frame(each, folder) for each in frames], seconds * count, count)


def _frame(text: str, folder: Path) -> Frame:
    found = _FRAME.fullmatch(text)
    if not found:
        return frame(text)
    file, own = place(found["file"], folder)
    return frame(found["function"], file, int(found["line"]) if found["line"] else None, own=own)
