"""What a pull request is told: one screen, and the rest folded. Pure; the same text is step summary and check run.

Everything that came from a pull request passes `markdown.escape`, so it is text and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pushbench import notes
from pushbench.markdown import escape, fenced, measured_by, points, table_lines
from pushbench.record import Record
from pushbench.summary import Summary
from pushbench.table import changes_table, levels_table, limits_table, loud, stage_table
from pushbench.text import one_line
from pushbench.verdict import Verdict

MARK = "<!-- pushbench: this comment is kept up to date -->"
"""by which the comment of an earlier push is found"""
MOST_BYTES = 60_000
"""in UTF-8; GitHub takes comments of 65,536 characters and check runs of 65,535 bytes"""
MOST_SENTENCES = 12
"""of one kind on the first screen"""
LONGEST_LINE = 2_000
"""of the names of all servers"""
CHANGED = ("worse", "accepted", "better")
CHANGES_LEGEND = [
    "Below each change is its 95 % interval. A change counts from the margin on. Visible is the smallest change that "
    "nine of ten such comparisons find."
]


@dataclass(frozen=True)
class Link:
    title: str
    url: str
    """ours, never a pull request's"""


@dataclass(frozen=True)
class Part:
    """One thing that was measured."""

    record: Record
    summary: Summary
    intended: Sequence[str] = ()
    """lines of YAML for thresholds.yml that accept what got worse"""


@dataclass(frozen=True)
class Message:
    outcome: str
    parts: Sequence[Part]
    sentences: Sequence[str] = ()
    """what happened beside what was measured, such as why something was not"""
    links: Sequence[Link] = ()
    headline: str = ""
    """the outcome in words of the reader, such as `waiting for a maintainer`; the outcome itself where it is empty"""
    advice: Sequence[str] = ()
    """what the reader can do now"""
    commands: Sequence[str] = ()
    """that carry the advice out, for a shell or a comment"""


def comment(message: Message) -> str:
    """At most `MOST_BYTES`: what does not fit of the folded parts is left out, and said."""
    several = len(message.parts) > 1
    first = [MARK, f"### Pushbench: {escape(message.headline or loud(message.outcome))}", "", *_list(message.sentences)]
    for part in message.parts:
        first += [f"#### {_title(part)}", ""] if several else []
        first += [escape(one_line(notes.tally(part.summary.verdict), LONGEST_LINE)), ""]
        first += [*_changed(part.summary.verdict), *_reasons(part.summary.verdict)]
    first += [*_advice(message), *(line for part in message.parts for line in _intended(part))]
    lines = [*_bounded(first, MOST_BYTES // 2), *_links(message.links), ""]
    left = MOST_BYTES - _length(lines) - 400
    left_out = []
    for part in message.parts:
        for title, content in _folded(part.record, part.summary):
            full = f"{escape(title)} ({_title(part)})" if several else escape(title)
            section = ["<details>", f"<summary>{full}</summary>", "", *content, "", "</details>", ""]
            if _length(section) <= left:
                lines += section
                left -= _length(section)
            else:
                left_out.append(title)
    if left_out:
        lines += [f"Too long for a comment, and in the report: {escape(', '.join(dict.fromkeys(left_out)))}.", ""]
    return "\n".join(lines)


def _title(part: Part) -> str:
    what = "against the base" if part.record.comparison else "by the limits"
    if part.record.comparison and part.record.comparison.injected:
        what = "control, against itself"
    return escape(f"{notes.heading(part.record)}, {what}: {part.summary.verdict.outcome}")


def _bounded(lines: list[str], most: int) -> list[str]:
    """The first lines that fit."""
    kept: list[str] = []
    length = 0
    for line in lines:
        length += _length([line])
        if length > most:
            return [*kept, "", "Too long for a comment; the rest is in the report.", ""]
        kept.append(line)
    return kept


def _length(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _changed(verdict: Verdict) -> Iterator[str]:
    """A table of what changed, and of nothing else."""
    moved = verdict.model_copy(
        update={
            "changes": [change for change in verdict.changes if change.word in CHANGED],
            "levels": [level for level in verdict.levels if level.word in CHANGED],
        }
    )
    if moved.changes:
        yield from [*table_lines(replace(changes_table(moved), legend=CHANGES_LEGEND)), ""]
    if moved.levels:
        yield from [*table_lines(replace(levels_table(moved), legend=[])), ""]
    compared = len(verdict.changes) + len(verdict.levels)
    if compared and not (moved.changes or moved.levels):
        same = [*(each.word for each in verdict.changes), *(each.word for each in verdict.levels)].count("same")
        yield from (f"Nothing changed: {same} of {compared} comparisons are the same within their margins.", "")


def _reasons(verdict: Verdict) -> Iterator[str]:
    """Why it is no pass, what was not decided, and what was not measured."""
    yield from _list([*verdict.reasons, *verdict.notes])


def _list(sentences: Sequence[str]) -> Iterator[str]:
    for sentence in sentences[:MOST_SENTENCES]:
        yield f"- {escape(one_line(sentence, 600))}"
    if len(sentences) > MOST_SENTENCES:
        yield f"- and {len(sentences) - MOST_SENTENCES} more, in the report"
    if sentences:
        yield ""


def _advice(message: Message) -> Iterator[str]:
    """What the reader can do now, as a list and a block to copy."""
    if message.advice or message.commands:
        yield from ("**What to do now**", "")
        yield from _list(message.advice)
        if message.commands:
            yield from [*fenced([one_line(command) for command in message.commands], "sh"), ""]


def _intended(part: Part) -> Iterator[str]:
    if part.intended:
        yield from ("**If this is intended**, add to `thresholds.yml` in this pull request:", "")
        yield from [*fenced(part.intended, "yaml"), ""]


def _links(links: Sequence[Link]) -> Iterator[str]:
    if links:
        yield " · ".join(f"[{escape(link.title)}]({link.url})" for link in links)


def _folded(record: Record, summary: Summary) -> Iterator[tuple[str, list[str]]]:
    """What can be unfolded, the most wanted first."""
    verdict = summary.verdict
    yield "Do it again", fenced([one_line(notes.command(record))], "sh")
    if verdict.changes:
        yield f"All changes {notes.against(record)}", list(table_lines(changes_table(verdict)))
    if verdict.levels:
        yield "All levels of the history", list(table_lines(levels_table(verdict)))
    if verdict.limits:
        yield "Limits", list(table_lines(limits_table(verdict)))
    for stage in range(len(summary.stages)) if record.trials else ():
        yield notes.stage_heading(summary.stages[stage]), list(table_lines(stage_table(summary, stage)))
    for section in notes.sections(record, verdict):
        if section.title not in ("Reasons", "Notes"):
            yield section.title, list(points(section))
    yield "Environment and versions", measured_by(record)
