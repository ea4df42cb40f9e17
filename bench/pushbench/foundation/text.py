"""Untrusted text of servers, logs and commits, made safe to show: no terminal control, no invisible characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# CSI and OSC sequences and two-character escapes (ECMA-48); without this their printable rest would stay behind.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


MESSAGE = 500
"""characters of a message from elsewhere that a report has room for in one place"""
WIDTH = 200
"""characters of a line of a log"""


def one_line(text: str, limit: int | None = None) -> str:
    """`text` as one line, of at most `limit` characters."""
    line = " ".join(_printable(text).split())
    return line if limit is None or len(line) <= limit else f"{line[: limit - 3]}..."


def counted(number: int, noun: str) -> str:
    """`1 run`, `2,000 runs`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def joined(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def inert(text: str) -> str:
    """The text made safe for spreadsheets, which would treat such a cell as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def last_lines(text: str, count: int) -> list[str]:
    """The last `count` lines of `text` that are not blank, each cut at WIDTH."""
    lines = [_printable(line.expandtabs(4)).rstrip() for line in text.splitlines()]
    return [line[:WIDTH] for line in lines if line][-count:]


def _printable(text: str) -> str:
    without_escapes = _ESCAPES.sub("", text)
    return "".join(
        " " if character.isspace() else character
        for character in without_escapes
        if character.isspace() or not unicodedata.category(character).startswith("C")
    )
