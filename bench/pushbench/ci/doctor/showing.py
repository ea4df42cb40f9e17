"""The diagnosis on a terminal: one line per check, and below it how to set what is missing.

Commands break with a backslash, so that they can be copied. The state is a word; colour only repeats it.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator
from itertools import pairwise

from rich.text import Text

from pushbench.ci.doctor.diagnosis import summary
from pushbench.ci.doctor.finding import Diagnosis, Finding, Fix, State
from pushbench.reporting.terminal import text_console, text_of

NARROW = 80
"""columns below which the text is under the check instead of beside it"""
STYLES: dict[State, str] = {"ok": "green", "missing": "bold red", "unknown": "yellow"}
STATE, GAP = 7, 2
CONTINUED = " \\"
MOST_TEXT = 110
"""columns: longer lines are hard to read"""


def render(diagnosis: Diagnosis, *, width: int, color: bool) -> str:
    console = text_console(width, color=color)
    longest = max(len(finding.check) for finding in diagnosis.findings)
    for finding in diagnosis.findings:
        for line in _lines(finding, longest, width):
            console.print(line, soft_wrap=True)
    console.print()
    console.print(Text(summary(diagnosis), style="bold"), soft_wrap=True)
    return text_of(console)


def _indent(width: int) -> int:
    """The indentation below a line: an address has to fit a narrow terminal."""
    return 4 if width < NARROW else STATE + GAP


def _lines(finding: Finding, longest: int, width: int) -> Iterator[Text]:
    head = Text.assemble((finding.state.ljust(STATE), STYLES[finding.state]), " " * GAP)
    left = _indent(width) if width < NARROW else STATE + GAP + longest + GAP
    said = textwrap.wrap(finding.said, max(20, min(width - left, MOST_TEXT)), break_on_hyphens=False)
    if width < NARROW:
        yield head.append(finding.check)
    else:
        first, *said = said or [""]
        yield head.append(finding.check.ljust(longest + GAP)).append(first)
    for line in said:
        yield Text(" " * left + line)
    for each in finding.fixes:
        yield from _fix(each, width)


def _fix(each: Fix, width: int) -> Iterator[Text]:
    """The instruction, the command and the page, each on its own lines."""
    indent = _indent(width)
    first, *more = textwrap.wrap(each.do, max(20, min(width - indent - GAP, MOST_TEXT)), break_on_hyphens=False)
    yield Text(f"{' ' * indent}- {first}")
    inner = " " * (indent + GAP)
    for line in more:
        yield Text(inner + line)
    for line in _command(each.command, min(width, MOST_TEXT) - len(inner)):
        yield Text(inner + line, style="bold")
    if each.page:
        yield Text(inner + each.page, style="dim")


def _command(words: list[str], width: int) -> list[str]:
    """Lines that a shell reads as one command, split before words and never between an option and its value."""
    units: list[str] = []
    for before, word in pairwise(["", *words]):
        if before.startswith("-") and not word.startswith("-"):
            units[-1] += f" {shlex.quote(word)}"
        else:
            units.append(shlex.quote(word))
    lines: list[str] = []
    for unit in units:
        if lines and len(lines[-1]) + len(unit) + len(" ") + len(CONTINUED) <= width:
            lines[-1] += f" {unit}"
        else:
            lines.append(f"  {unit}" if lines else unit)
    return [line + CONTINUED for line in lines[:-1]] + lines[-1:]
