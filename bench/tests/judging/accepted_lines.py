"""Lines of thresholds.yml that accept a regression."""

from __future__ import annotations

from datetime import date

from pushbench.judging.accepting import Known
from tests.factories import known_suite

DAY = date(2026, 11, 21)
KNOWN = Known(
    {"whiteboard": known_suite("500", "1000"), "posts": known_suite()},
    {"node-ws": "whiteboard", "fastapi": "whiteboard"},
)
TEXT = """\
version: 1
suites:
  whiteboard:
    limits:
      loss_ratio: {max: 1%}
"""
CPU = "cpu_seconds_per_delivery"


def accepting(*lines: str, server: str = "node-ws", suite: str = "whiteboard") -> str:
    head = f"servers:\n  {server}:\n    {suite}:\n      accepted:\n"
    return TEXT + head + "".join(f"        {line}\n" for line in lines)


def line(bound: str = "change: 20%", metric: str = CPU, until: str = "2027-01-31", rest: str = "") -> str:
    return f"{metric}: {{{bound}, {rest}reason: checks every field, until: {until}}}"
