"""The comparison as rows and columns of finished text: what is shown, in which unit, with how many digits.

`terminal` and `markdown` decide how it looks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol, TypeVar

from pushbench.judging.judged import JudgedRow
from pushbench.judging.judged_changes import JudgedChange
from pushbench.judging.judged_history import JudgedLevel
from pushbench.judging.sentences import interval, signed
from pushbench.judging.verdict import JudgedLimit, Outcome, Verdict
from pushbench.metrics.definitions import Unit, counted_otherwise, metrics_of
from pushbench.metrics.units import NOT_MEASURED, format_number, format_quantity
from pushbench.records.environment import Environment
from pushbench.records.record import Trial
from pushbench.records.stages import places, short
from pushbench.records.vocabulary import Vocabulary
from pushbench.reporting import rows
from pushbench.reporting.summary import ServerSummary, Spread, StageSummary, Summary, due_instead, summarize_trial

Judged = TypeVar("Judged", bound=JudgedRow)


MOVED_COLUMNS = ["before", "now", "change", "allowed", "verdict"]
LEVEL_COLUMNS = ["value", "level", "margin", "runs", "word"]
CHANGE_COLUMNS = ["head", "change", "margin", "visible", "word"]

BREAKS = "! breaks a limit"
OF_DUE = "of N: so many {work} per second were due, and fewer arrived in the window"


class Run(Protocol):
    """The fields of a record that a table needs."""

    @property
    def words(self) -> Vocabulary: ...

    @property
    def environment(self) -> Environment: ...


@dataclass(frozen=True)
class Cell:
    text: str
    spread: str = ""
    """shown below the value"""
    broken: bool = False
    """a limit on the value is broken"""


@dataclass(frozen=True)
class Line:
    title: str
    unit: str
    cells: list[Cell]
    opens_group: bool = False


@dataclass(frozen=True)
class Table:
    """Columns of servers or stages, each with a heading."""

    headings: list[str]
    lines: list[Line]
    legend: list[str]


@dataclass(frozen=True)
class _Column:
    heading: str
    metrics: dict[str, Spread | None]
    broken: Collection[str]
    several: bool
    doubtful: bool

    @property
    def due(self) -> float | None:
        """The units of work per second that were due, if noticeably fewer arrived."""
        return due_instead(self.metrics)

    def cell(self, row: rows.TableRow) -> Cell:
        spread = self.metrics.get(row.metric)
        broken = row.metric in self.broken
        if spread is None:
            return Cell(NOT_MEASURED, broken=broken)
        text = format_number(spread.median * row.factor)
        return Cell(f"({text})" if self.doubtful else text, self.range_of(row) or self._of_due(row), broken)

    def range_of(self, row: rows.TableRow) -> str:
        """`1.2-1.4`, if trials differ."""
        spread = self.metrics.get(row.metric)
        if spread is None or not (row.ranged and self.several):
            return ""
        low, high = (format_number(each * row.factor) for each in (spread.min, spread.max))
        return f"{low}-{high}" if low != high else ""

    def _of_due(self, row: rows.TableRow) -> str:
        """`of 5,200`, below a throughput that is noticeably lower."""
        shown = row.metric == "throughput_per_second" and self.due is not None
        return f"of {format_quantity(self.due, Unit.COUNT)}" if shown else ""


def stage_table(summary: Summary, stage: int) -> Table:
    """All servers side by side in one stage, with the words of the verdict below."""
    outcomes = {server.server: server.outcome for server in summary.verdict.servers}
    words = [
        Line("Trials", "", [Cell(_trials(server)) for server in summary.servers], opens_group=True),
        Line("Verdict, all stages", "", [_verdict(server, outcomes[server.server]) for server in summary.servers]),
    ]
    parts = dict.fromkeys(part for server in summary.servers for part in server.stages[stage].parts)
    groups = [*rows.groups(summary.words), *(rows.of_part(summary.words, part) for part in parts)]
    return _table(_servers(summary, stage), groups, summary, words)


def brief_table(summary: Summary, stage: int) -> Table:
    """All servers side by side, in the few rows of a stage that is shown in addition to the main one."""
    return _table(_servers(summary, stage), rows.brief(summary.words), summary)


def trial_table(trial: Trial, limits: Sequence[JudgedLimit], of: Run) -> Table:
    """One trial with its stages side by side. A limit shows as broken if its worst value came from this trial."""
    server = summarize_trial(trial)
    own = [limit for limit in limits if limit.round == trial.round and trial.arm == "head"]
    columns = [_column(server, short(each), each, own, index) for index, each in enumerate(server.stages)]
    parts = dict.fromkeys(part for each in server.stages for part in each.parts)
    return _table(columns, [*rows.groups(of.words), *(rows.of_part(of.words, part) for part in parts)], of)


def limits_table(verdict: Verdict) -> Table:
    """Every limit with the worst value of each server in any stage."""
    servers = [server.server for server in verdict.servers]
    asked = {(limit.metric, limit.bound.side, limit.bound.value): limit for limit in verdict.limits}
    lines = [
        Line(
            limit.title,
            f"{side} {format_quantity(bound, limit.unit)}",
            [
                _worst([each for each in verdict.limits if _identity(each) == (server, metric, side, bound)])
                for server in servers
            ],
        )
        for (metric, side, bound), limit in sorted(asked.items(), key=lambda each: each[0])
    ]
    marks = any(cell.broken for line in lines for cell in line.cells)
    return Table(servers, lines, [BREAKS] if marks else [])


def changes_table(verdict: Verdict) -> Table:
    """Every change against the base, with the servers below each other."""
    rounds = sorted({change.pairs for change in verdict.changes})
    legend = [
        f"{_count_range(rounds)} rounds; below the change its 95 % interval",
        "margin: the smallest change that counts; visible: the smallest that nine of ten such comparisons would detect",
    ]
    if any(change.floor is not None for change in verdict.changes):
        legend.append("floor: smaller changes do not count; capped where that would be too large a share of the level")
    if any(change.controlled for change in verdict.changes):
        legend.append("~ corrected for the speed of the machine, by the generator's own cost per delivery")
    if any(change.word == "accepted" for change in verdict.changes):
        legend.append("accepted: worse, by no more than thresholds.yml accepts")
    if any(change.word == "invalid" for change in verdict.changes):
        legend.append("invalid: the change may be the generator's own lateness")
    return Table(CHANGE_COLUMNS, _by_server(verdict.changes, _change, len(CHANGE_COLUMNS)), legend)


def _change(found: JudgedChange) -> list[Cell]:
    return [
        Cell(format_quantity(found.head, found.unit)),
        Cell(signed(found, found.change) + (" ~" if found.controlled else ""), interval(found)),
        Cell(signed(found, found.margin).removeprefix("+"), _floor(found)),
        Cell(signed(found, found.visible).removeprefix("+")),
        Cell(_word(found.word)),
    ]


def _floor(found: JudgedChange) -> str:
    """What determined the margin, if not the ratio."""
    if found.floor is None:
        return ""
    return f"floor {format_quantity(found.floor, found.unit)}" + (", capped" if found.ceiling is not None else "")


def moved_table(changes: Sequence[JudgedChange]) -> Table:
    """Some changes for readers who are new to such tables: fewer columns, and explanations for all of them."""
    pairs = _count_range(sorted({change.pairs for change in changes}))
    legend = [
        f"Both commits were measured {pairs} times (rounds), close to each other; before and now are the medians. In "
        "brackets is the 95 % interval of the change. A change counts when it is larger than allowed (its margin) and "
        "the rounds leave no doubt that there is one."
    ]
    return Table(MOVED_COLUMNS, [_moved(change) for change in changes], legend)


def _moved(found: JudgedChange) -> Line:
    head, _, margin, _, word = _change(found)
    before = Cell(format_quantity(found.base, found.unit))
    surely = f" ({interval(found)})" if found.low is not None else ""
    title = f"{found.server}: {found.in_sentence} {places([found])}"
    return Line(title, "", [before, head, Cell(signed(found, found.change) + surely), margin, word])


def levels_table(verdict: Verdict) -> Table:
    """Every metric beside its earlier level, with the servers below each other."""
    legend = ["below the accepted level: the band of its runs; margin: the smallest change that counts"]
    if any(level.accepted for level in verdict.levels):
        legend.append("* accepted in thresholds.yml")
    return Table(LEVEL_COLUMNS, _by_server(verdict.levels, _level, len(LEVEL_COLUMNS)), legend)


def _level(found: JudgedLevel) -> list[Cell]:
    unit = found.unit
    value, level, low, high, margin = (
        format_quantity(each, unit) for each in (found.value, found.level, found.low, found.high, found.margin)
    )
    band = "" if found.low is None else f"{low.removesuffix(high[high.rfind(' ') :])} to {high}"
    return [
        Cell(value),
        Cell(level + (" *" if found.accepted else ""), band),
        Cell(margin),
        Cell(str(found.runs)),
        Cell(_word(found.word)),
    ]


def _by_server(judged: Sequence[Judged], cells: Callable[[Judged], list[Cell]], columns: int) -> list[Line]:
    """A line for each row, below the name of its server; the stage is named if there are several."""
    lines: list[Line] = []
    for server, of_server in groupby(judged, lambda row: row.server):
        lines.append(Line(server, "", [Cell("")] * columns, opens_group=bool(lines)))
        own = list(of_server)
        several = len({row.stage for row in own}) > 1
        for row in own:
            title = row.title + (f" {short(row)}" if several else "")
            lines.append(Line(f"  {title}", "", cells(row)))
    return lines


def _word(word: str) -> str:
    """The word in capitals if it needs attention, so that it stands out without colour too."""
    return word.upper() if word in ("worse", "unknown", "invalid") else word


def _count_range(counts: Sequence[int]) -> str:
    return f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"


def loud(outcome: str) -> str:
    """The outcome as it is shown: everything except a pass stands out without colour too."""
    return outcome if outcome == "pass" else outcome.upper()


def _identity(limit: JudgedLimit) -> tuple[str, str, str, float]:
    return limit.server, limit.metric, limit.bound.side, limit.bound.value


def _worst(limits: Sequence[JudgedLimit]) -> Cell:
    """The worst value of one limit for one server in all stages; a dash if the limit does not apply to the server."""
    outcomes = {limit.outcome for limit in limits}
    if "fail" not in outcomes and (undecided := outcomes & {"invalid", "unknown"}):
        return Cell(min(undecided))
    known = [(limit.value, limit.stage) for limit in limits if limit.value is not None]
    if not known:
        return Cell(NOT_MEASURED)
    value, _ = limits[0].bound.worst(known)
    text = format_quantity(value, limits[0].unit)
    return Cell(text, broken=not limits[0].bound.allows(value))


def _servers(summary: Summary, stage: int) -> list[_Column]:
    return [
        _column(server, server.server, server.stages[stage], summary.verdict.limits, stage)
        for server in summary.servers
    ]


def _column(
    server: ServerSummary, heading: str, stage: StageSummary, limits: Iterable[JudgedLimit], index: int
) -> _Column:
    return _Column(
        heading=heading,
        metrics=stage.metrics | _of_parts(stage),
        broken={
            limit.metric
            for limit in limits
            if limit.server == server.server and limit.stage == index and limit.outcome == "fail"
        },
        several=server.trials > 1,
        doubtful=server.numbers_from == "invalid trials",
    )


def _of_parts(stage: StageSummary) -> dict[str, Spread | None]:
    return {
        rows.metric_of_part(name, part): spread
        for part, metrics in stage.parts.items()
        for name, spread in metrics.items()
    }


def _table(
    columns: Sequence[_Column], usual: Sequence[Sequence[rows.TableRow]], of: Run, words: Sequence[Line] = ()
) -> Table:
    metrics = metrics_of(of.words)
    known = {row.metric for group in usual for row in group}
    broken_beside = sorted({metric for column in columns for metric in column.broken} - known)
    groups = [*usual, [rows.plain(metrics[metric]) for metric in broken_beside if metric in metrics]]
    shown = [
        (row, index > 0 and place == 0)
        for index, group in enumerate(groups)
        for place, row in enumerate(_shown(group, columns))
    ]
    lines = [Line(row.title, row.unit, [column.cell(row) for column in columns], opens) for row, opens in shown]
    legend = _legend(columns, [row for row, _ in shown], lines, of.words.work.plural.lower())
    measured = [metrics[row.metric] for row, _ in shown if row.metric in metrics and _measured(row, columns)]
    if otherwise := counted_otherwise(measured, of.environment.method_number):
        legend.append(otherwise)
    return Table([column.heading for column in columns], [*lines, *words], legend)


def _shown(group: Sequence[rows.TableRow], columns: Sequence[_Column]) -> list[rows.TableRow]:
    known = [row for row in group if _measured(row, columns)]
    return [
        row
        for row in group
        if row.shown == "always"
        or (row.shown == "where measured" and (row in known or not known))
        or any((spread := column.metrics.get(row.metric)) and spread.max for column in columns)
    ]


def _measured(row: rows.TableRow, columns: Sequence[_Column]) -> bool:
    return any(column.metrics.get(row.metric) for column in columns)


def _legend(
    columns: Sequence[_Column], table_rows: Sequence[rows.TableRow], lines: Sequence[Line], work: str
) -> list[str]:
    cells = [cell for line in lines for cell in line.cells]
    legend = []
    if any(cell.broken for cell in cells):
        legend.append(BREAKS)
    if any(column.doubtful for column in columns):
        legend.append("(...) from invalid trials: do not trust these")
    if any(column.due is not None for column in columns):
        legend.append(OF_DUE.format(work=work))
    if any(column.range_of(row) for column in columns for row in table_rows):
        legend.append("median of the valid trials; below it the smallest and the largest")
    return legend


def _verdict(server: ServerSummary, outcome: Outcome) -> Cell:
    return Cell(loud(outcome) if server.trials else NOT_MEASURED)


def _trials(server: ServerSummary) -> str:
    """`valid`, `FAILED`, `INVALID`; with several trials, the number of each."""
    failed, wrong = server.failed_trials, server.trials - server.valid_trials
    if server.trials <= 1:
        return ("INVALID" if wrong else "FAILED" if failed else "valid") if server.trials else "MISSING"
    counts = {"valid": server.valid_trials, "INVALID": wrong, "FAILED": failed}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)
