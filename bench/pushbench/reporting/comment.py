"""The comment on a pull request: one screen, the rest folded. Pure; step summary and check run have the same text.

Everything from a pull request goes through `markdown.escape`, so that it is plain text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pushbench.foundation.text import one_line
from pushbench.judging import sentences
from pushbench.judging.verdict import Outcome, Verdict
from pushbench.profiling.explanation import Explanation
from pushbench.records.record import Record
from pushbench.reporting import again, explained, notes
from pushbench.reporting.markdown import escape, fenced, in_html, inline, measured_by, points, table_lines
from pushbench.reporting.summary import Summary
from pushbench.reporting.table import changes_table, levels_table, limits_table, loud, moved_table, stage_table

MARK = "<!-- pushbench: this comment is kept up to date -->"
"""identifies the comment of an earlier push"""
MOST_BYTES = 60_000
"""in UTF-8; GitHub accepts comments of 65,536 characters and check runs of 65,535 bytes"""
MOST_SENTENCES = 12
"""of one kind on the first screen"""
MOST_ROWS = 8
"""of changes on the first screen"""
MOST_EXPLAINED = 3
"""servers whose functions are on the first screen"""
MOST_INTENDED = 12
"""lines for a thresholds.yml on the first screen"""
LONGEST_LINE = 2_000
"""of the names of all servers"""
CHANGED = ("worse", "accepted", "better")
"""in the order in which they are shown"""
TALLY: dict[Outcome, str] = {
    "fail": "Failed",
    "invalid": "Not valid",
    "inconclusive": "Not decided",
    "pass": "Passed",
}


@dataclass(frozen=True)
class Link:
    title: str
    url: str
    """always Pushbench's own, never from a pull request"""


@dataclass(frozen=True)
class Intended:
    """Lines of YAML that accept a regression."""

    file: str
    """the file that the lines belong in, such as `thresholds.yml`"""
    lines: Sequence[str]
    how: str
    """the place in the file, and any further steps, in sentences"""


@dataclass(frozen=True)
class Part:
    """One measurement in the comment."""

    record: Record
    summary: Summary
    intended: Sequence[Intended] = ()
    """for each file that needs some"""
    explanations: Sequence[Explanation] = ()
    """of servers that got worse in CPU"""


@dataclass(frozen=True)
class Message:
    outcome: str
    parts: Sequence[Part]
    sentences: Sequence[str] = ()
    """events beside the measurements, such as the reason for a missing one"""
    links: Sequence[Link] = ()
    about: str = ""
    """a sentence with the measured commit"""
    headline: str = ""
    """the outcome for the reader, such as `waiting for a maintainer`; if empty, the outcome itself"""
    advice: Sequence[str] = ()
    """what the reader can do now"""
    commands: Sequence[str] = ()
    """commands that carry out the advice, for a shell or a comment"""


def comment(message: Message) -> str:
    """The comment, at most `MOST_BYTES`: folded parts that do not fit are replaced by a note."""
    several = len(message.parts) > 1
    first = [MARK, f"### Pushbench: {escape(message.headline or loud(message.outcome))}", ""]
    first += [inline(one_line(message.about, 600)), ""] if message.about else []
    first += _list(message.sentences)
    for part in message.parts:
        tally = escape(one_line(_tally(part.summary.verdict), LONGEST_LINE))
        if several:
            first += [f"#### {escape(_title(part))}. {tally}", ""]
        elif len(part.summary.verdict.servers) != 1:
            first += [tally, ""]
        first += [*_changed(part.summary.verdict), *_explained(part), *_reasons(part.summary.verdict)]
    first += [*_advice(message), *(line for part in message.parts for line in _intended(part))]
    lines = [*_bounded(first, MOST_BYTES // 2), *_links(message.links), ""]
    left = MOST_BYTES - _length(lines) - 400
    left_out = []
    for part in message.parts:
        for title, content in _folded(part):
            full = f"{title} ({_title(part)})" if several else title
            section = ["<details>", f"<summary>{in_html(full)}</summary>", "", *content, "", "</details>", ""]
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
    machine = part.record.environment.machine
    apart = f", apart on {machine}" if machine else ""
    return one_line(f"{part.record.suite}, profile {part.record.profile}, {what}{apart}", LONGEST_LINE)


def _tally(verdict: Verdict) -> str:
    """The servers by outcome, the worst first: `Failed: fastapi. Passed: node-ws, spring-stomp.`"""
    found = {
        word: [each.server for each in verdict.servers if each.outcome == outcome] for outcome, word in TALLY.items()
    }
    said = " ".join(f"{word}: {', '.join(servers)}." for word, servers in found.items() if servers)
    return said or "No server was measured."


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
    """A table of the changed rows only."""
    changes = sorted(
        (change for change in verdict.changes if change.word in CHANGED), key=lambda each: CHANGED.index(each.word)
    )
    levels = [level for level in verdict.levels if level.word in CHANGED]
    if changes:
        yield from [*table_lines(moved_table(changes[:MOST_ROWS])), ""]
    if len(changes) > MOST_ROWS:
        yield from (f"Below are {len(changes) - MOST_ROWS} more changes, with all that was compared.", "")
    if levels:
        only_these = verdict.model_copy(update={"levels": levels})
        yield from [*table_lines(replace(levels_table(only_these), legend=[])), ""]
    compared = len(verdict.changes) + len(verdict.levels)
    if compared and not (changes or levels):
        same = [*(each.word for each in verdict.changes), *(each.word for each in verdict.levels)].count("same")
        if same:
            said = "Nothing changed: " if same == compared else ""
            yield from (f"{said}{same} of {compared} comparisons are the same within what is allowed.", "")


def _explained(part: Part) -> Iterator[str]:
    """The functions with the largest gains."""
    for each in part.explanations[:MOST_EXPLAINED]:
        yield from (f"**{escape(explained.heading(each))}**", "", *table_lines(explained.table(each)), "")


def _reasons(verdict: Verdict) -> Iterator[str]:
    """Why the run does not pass, what was not decided, and what was not measured. Omits what the table shows."""
    in_table = {
        sentences.change(change)
        for change in verdict.changes
        if change.word in ("worse", "better") and not change.acceptance
    }
    yield from _list([each for each in (*verdict.reasons, *verdict.notes) if each not in in_table])


def _list(points_: Sequence[str]) -> Iterator[str]:
    for point in points_[:MOST_SENTENCES]:
        yield f"- {inline(one_line(point, 600))}"
    if len(points_) > MOST_SENTENCES:
        yield f"- and {len(points_) - MOST_SENTENCES} more, in the report"
    if points_:
        yield ""


def _advice(message: Message) -> Iterator[str]:
    """What the reader can do now, as a list and a block to copy."""
    if message.advice or message.commands:
        yield from ("**What to do now**", "")
        yield from _list(message.advice)
        if message.commands:
            yield from [*fenced([one_line(command) for command in message.commands], "sh"), ""]


def _intended(part: Part) -> Iterator[str]:
    """The lines that accept the change if they are short enough for the first screen; otherwise they are folded."""
    for each in part.intended:
        file = inline(f"`{each.file}`")
        if len(each.lines) <= MOST_INTENDED:
            yield from (f"**If this is intended**, add to {file} in this pull request:", "")
            yield from [*_block(each), ""]
        else:
            yield from (f"**If this is intended**, the lines to add to {file} are folded below.", "")


def _block(intended: Intended) -> Iterator[str]:
    yield from fenced([_printable(line) for line in intended.lines], "yaml")
    yield from ("", inline(one_line(intended.how, LONGEST_LINE)))


def _printable(line: str) -> str:
    """One line, with its indentation."""
    return " " * (len(line) - len(line.lstrip(" "))) + one_line(line, LONGEST_LINE)


def _links(links: Sequence[Link]) -> Iterator[str]:
    if links:
        yield " · ".join(f"[{escape(link.title)}]({link.url})" for link in links)


def _folded(part: Part) -> Iterator[tuple[str, list[str]]]:
    """The folded parts, the most useful first."""
    record, summary, verdict = part.record, part.summary, part.summary.verdict
    for each in part.intended:
        if len(each.lines) > MOST_INTENDED:
            yield f"If this is intended: what to add to {each.file} in this pull request", list(_block(each))
    yield "Reproduce", fenced([one_line(again.command(record))], "sh")
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
