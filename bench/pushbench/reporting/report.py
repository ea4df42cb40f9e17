"""A record and its verdict for people and programs: on a terminal, as Markdown, as JSON. All show the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from pushbench.judging.verdict import Verdict
from pushbench.profiling.explanation import Explanation
from pushbench.records.record import Record, Trial
from pushbench.records.stages import headline
from pushbench.reporting import explained, notes, page, terminal
from pushbench.reporting import markdown as markdown_
from pushbench.reporting.ranking import rank
from pushbench.reporting.summary import summarize
from pushbench.reporting.table import brief_table, changes_table, levels_table, limits_table, stage_table, trial_table


def render_terminal(
    record: Record,
    verdict: Verdict,
    *,
    stages: Sequence[int] | None = None,
    explanations: Sequence[Explanation] = (),
    width: int = 80,
    color: bool = False,
) -> str:
    """The ranking, the table of each of `stages` (indices), and all notes.

    Without `stages`, it shows the table of the ranking's stage, and short tables of the largest stages with parameters
    of their own.
    """
    summary = summarize(record, verdict)
    console = terminal.text_console(width, color=color)
    main, *others = main_stages(record)
    for position, stage in enumerate([main] if stages is None else stages):
        if position:
            console.print()
        terminal.print_heading(console, record, notes.heading(record, stage))
        if ranking := rank(record, verdict, stage):
            terminal.print_ranking(console, record, ranking)
        terminal.print_table(console, stage_table(summary, stage))
    for stage in others if stages is None else []:
        terminal.print_subheading(console, notes.stage_heading(record.schedule.stages[stage]))
        terminal.print_table(console, brief_table(summary, stage))
    if verdict.changes:
        terminal.print_subheading(console, notes.against(record))
        terminal.print_table(console, changes_table(verdict))
    for each in explanations:
        _print_explanation(console, each)
    terminal.print_sections(console, _reasons_last(notes.sections(record, verdict)))
    terminal.print_verdict(console, record, verdict)
    return _text(console)


def render_explanation(found: Explanation, *, width: int = 80, color: bool = False) -> str:
    """The functions with the largest gains."""
    console = terminal.text_console(width, color=color)
    _print_explanation(console, found)
    return _text(console)


def _print_explanation(console: Console, found: Explanation) -> None:
    terminal.print_subheading(console, explained.heading(found))
    terminal.print_table(console, explained.table(found))


def _reasons_last(sections: Sequence[notes.Section]) -> list[notes.Section]:
    """The sections with the reasons last, because a truncated terminal or job log shows its end."""
    return sorted(sections, key=lambda section: section.title == "Reasons")


def render_trial(record: Record, verdict: Verdict, trial: Trial, *, width: int = 80, color: bool = False) -> str:
    """One trial, its stages side by side."""
    console = terminal.text_console(width, color=color)
    terminal.print_heading(console, record, notes.trial_heading(record, trial))
    terminal.print_table(console, trial_table(trial, verdict.limits, record))
    terminal.print_sections(console, notes.trial_sections(record, trial))
    return _text(console)


def render_verdict(record: Record, verdict: Verdict, *, width: int = 80, color: bool = False) -> str:
    """The decisions and their reasons, without the numbers that have no limit."""
    console = terminal.text_console(width, color=color)
    terminal.print_heading(console, record, notes.heading(record))
    if verdict.limits:
        terminal.print_table(console, limits_table(verdict))
    if verdict.changes:
        terminal.print_subheading(console, notes.against(record))
        terminal.print_table(console, changes_table(verdict))
    if verdict.levels:
        terminal.print_subheading(console, "Against the history")
        terminal.print_table(console, levels_table(verdict))
    terminal.print_sections(console, _reasons_last(notes.sections(record, verdict)))
    terminal.print_verdict(console, record, verdict)
    return _text(console)


def markdown(record: Record, verdict: Verdict, explanations: Sequence[Explanation] = ()) -> str:
    ranking = rank(record, verdict, main_stages(record)[0])
    return markdown_.render(record, summarize(record, verdict), ranking, explanations)


def html(record: Record, verdict: Verdict, listed: Sequence[str] = ()) -> str:
    """One file without scripts, for mail and tickets. `listed` are the servers of report-site/looks.txt."""
    ranking = rank(record, verdict, main_stages(record)[0])
    return page.render(record, summarize(record, verdict), ranking, listed)


def as_json(record: Record, verdict: Verdict) -> dict[str, Any]:
    """The ranking, the numbers of every server and stage in base units, and the verdict."""
    ranking = rank(record, verdict, main_stages(record)[0])
    whole = summarize(record, verdict).model_dump(mode="json", by_alias=True)
    return {"ranking": ranking and ranking.model_dump(mode="json"), **whole}


def main_stages(record: Record) -> list[int]:
    """The stage that ranks servers, then the largest stage with the record's parameters, then the largest with each
    other set of parameters; likewise for each kind of outage.
    """
    stages = record.schedule.stages
    by_size = sorted(range(len(stages)), key=lambda index: stages[index].clients)
    kinds = [(str(stage.parameters), stage.outage and stage.outage.kill) for stage in stages]
    largest = {kinds[index]: index for index in by_size}
    first = headline(stages)
    return sorted({first, *largest.values()}, key=lambda index: (index != first, bool(stages[index].parameters), index))


def _text(console: Console) -> str:
    lines = (line.rstrip() for line in terminal.text_of(console).strip("\n").split("\n"))
    return "\n".join(lines) + "\n"
