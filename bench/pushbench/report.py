"""A record and its verdict for people and programs: on a terminal, as Markdown, as JSON. All show the same numbers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from pushbench import markdown as markdown_
from pushbench import notes, terminal
from pushbench.record import Record, Trial
from pushbench.summary import summarize
from pushbench.table import limits_table, stage_table, trial_table
from pushbench.verdict import Verdict


def render_terminal(
    record: Record, verdict: Verdict, *, stages: Sequence[int] | None = None, width: int = 80, color: bool = False
) -> str:
    """The tables of `stages` (indices; without them the largest stage), and everything that is to be said."""
    summary = summarize(record, verdict)
    console = _console(width, color=color)
    for position, stage in enumerate([largest_stage(record)] if stages is None else stages):
        if position:
            console.print()
        terminal.print_heading(console, record, notes.heading(record, stage))
        terminal.print_table(console, stage_table(summary, stage))
    terminal.print_sections(console, notes.sections(record, verdict))
    terminal.print_verdict(console, verdict)
    return _text(console)


def render_trial(record: Record, verdict: Verdict, trial: Trial, *, width: int = 80, color: bool = False) -> str:
    """One trial, its stages side by side."""
    console = _console(width, color=color)
    terminal.print_heading(console, record, notes.trial_heading(record, trial))
    terminal.print_table(console, trial_table(trial, verdict.limits))
    terminal.print_sections(console, notes.trial_sections(record, trial))
    return _text(console)


def render_verdict(record: Record, verdict: Verdict, *, width: int = 80, color: bool = False) -> str:
    """What was decided and why, without the numbers that no limit was asked of."""
    console = _console(width, color=color)
    terminal.print_heading(console, record, notes.heading(record))
    if verdict.limits:
        terminal.print_table(console, limits_table(verdict))
    terminal.print_sections(console, notes.sections(record, verdict))
    terminal.print_verdict(console, verdict)
    return _text(console)


def markdown(record: Record, verdict: Verdict) -> str:
    return markdown_.render(record, summarize(record, verdict))


def as_json(record: Record, verdict: Verdict) -> dict[str, Any]:
    """The numbers of every server and stage in base units, and the verdict."""
    return summarize(record, verdict).model_dump(mode="json", by_alias=True)


def largest_stage(record: Record) -> int:
    stages = record.schedule.stages
    return max(range(len(stages)), key=lambda index: stages[index].clients)


def _console(width: int, *, color: bool) -> Console:
    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO), "made by _console"
    lines = (line.rstrip() for line in console.file.getvalue().strip("\n").split("\n"))
    return "\n".join(lines) + "\n"
