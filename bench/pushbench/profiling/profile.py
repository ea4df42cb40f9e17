"""A profile: how much CPU time was spent in which stack of functions, from any profiler.

Profilers' output comes from the server's process, so it is untrusted: sizes are bounded, and names are single lines.
"""

from __future__ import annotations

import stat
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from pushbench.foundation.text import one_line

MOST_BYTES = 256 << 20
"""of a profiler's output for one process, a hundred times the usual size"""
MOST_STACKS = 200_000
"""distinct ones; a trial of 7 s has some thousands"""
DEEPEST = 256
"""frames of a stack; outer ones are left out"""
LONGEST_NAME = 200
"""characters of a function or a file"""

Window = tuple[float, float]
"""begin and end by the monotonic clock, in seconds"""


class Unprofiled(Exception):
    """There is no profile; the message is a sentence with the reason and the remedy."""


@dataclass(frozen=True)
class Frame:
    """A function. Lines move between commits, so a function's identity does not depend on its line."""

    function: str
    file: str = ""
    """relative to the server's folder, or a library's own name; empty if it is unknown"""
    line: int | None = field(default=None, compare=False)
    own: bool = field(default=False, compare=False)
    """the file is the server's own source"""

    def title(self, line: int | None = None) -> str:
        return titled(self.function, self.file, line)


def titled(function: str, file: str, line: int | None) -> str:
    """`function (file:line)`, as far as it is known."""
    if not file:
        return function
    return f"{function} ({file}:{line})" if line else f"{function} ({file})"


def frame(function: str, file: str = "", line: int | None = None, *, own: bool = False) -> Frame:
    """A frame from untrusted names."""
    return Frame(one_line(function, LONGEST_NAME) or "(anonymous)", one_line(file, LONGEST_NAME), line, own)


Stack = tuple[Frame, ...]
"""the outermost function first"""


@dataclass
class Profile:
    """CPU seconds by stack. Call `add` for all samples before reading."""

    stacks: dict[Stack, float] = field(default_factory=lambda: defaultdict(float))
    samples: Counter[Frame] = field(default_factory=Counter)
    """by the innermost function"""
    _lines: dict[Frame, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, stack: Sequence[Frame], seconds: float, samples: int = 1) -> None:
        """Add samples of a stack. Raises Unprofiled for more stacks than a real profile has."""
        if not stack or not isfinite(seconds) or seconds <= 0 or samples <= 0:
            return
        kept = tuple(stack[-DEEPEST:])
        if kept not in self.stacks and len(self.stacks) >= MOST_STACKS:
            raise Unprofiled(f"the profile has more than {MOST_STACKS:,} different stacks")
        self.stacks[kept] += seconds
        self.samples[kept[-1]] += samples
        if kept[-1].line:
            self._lines[kept[-1]][kept[-1].line] += samples

    @property
    def seconds(self) -> float:
        return sum(self.stacks.values())

    @property
    def count(self) -> int:
        return sum(self.samples.values())

    def own_seconds(self) -> Mapping[Frame, float]:
        """CPU seconds in each function itself, without its callees."""
        found: dict[Frame, float] = defaultdict(float)
        for stack, seconds in self.stacks.items():
            found[stack[-1]] += seconds
        return found

    def line(self, of: Frame) -> int | None:
        """The line of a function with most samples."""
        lines = self._lines.get(of)
        return lines.most_common(1)[0][0] if lines else None

    def scaled(self, factor: float) -> Profile:
        """The same profile with its seconds multiplied."""
        stacks = {stack: seconds * factor for stack, seconds in self.stacks.items()}
        return Profile(stacks, self.samples, self._lines)


def require_file(path: Path) -> None:
    """Raises Unprofiled unless it is a file of plausible size: a server might leave a pipe or a link there."""
    try:
        found = path.lstat()
    except OSError as error:
        raise Unprofiled(f"the profiler wrote no file: {error.strerror}") from None
    if not stat.S_ISREG(found.st_mode):
        raise Unprofiled("the output of the profiler is not a regular file")
    if found.st_size > MOST_BYTES:
        raise Unprofiled(f"the profiler's file has more than {MOST_BYTES >> 20} MiB")


def read_bounded(path: Path) -> bytes:
    """The content of a profiler's file. Raises Unprofiled if it is missing or larger than a profile."""
    require_file(path)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unprofiled(f"the profiler's file cannot be read: {error.strerror}") from None
    if len(content) > MOST_BYTES:
        raise Unprofiled(f"the profiler's file has more than {MOST_BYTES >> 20} MiB")
    return content


def inside(at: float, windows: Sequence[Window]) -> bool:
    return any(begin <= at < end for begin, end in windows)
