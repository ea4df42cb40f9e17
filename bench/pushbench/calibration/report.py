"""The calibration for readers: Markdown tables of false alarms and of power."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pushbench.calibration.error_rates import Calibration, Case, Rate, rate
from pushbench.calibration.faults import NOTHING


def markdown(found: Calibration) -> str:
    lines = [
        "# How often the judge is right",
        "",
        "Comparisons whose answer is known: a server against itself, and against itself with a fault that a wrapper",
        "injects. *Real* ones were measured; *resampled* ones draw blocks of neighbouring rounds from campaigns that",
        "were played to their end; *scaled* ones multiply the head's CPU per delivery of such a draw. Rounds are the",
        "median of those after which everything was decided, and those that ten minutes have time for.",
        "",
        f"Environments: {', '.join(found.environments) or 'none'}.",
        "",
        "## False alarms",
        "",
        "| server | how | runs | failed | 95 % interval | undecided | rounds |",
        "|---|---|---:|---:|---:|---:|---:|",
        *(_alarms(case) for case in found.cases if case.injected == NOTHING),
        "",
        "## Power",
        "",
        "The word is that of the metric in which the fault shows.",
        "",
        "| server | fault | how | runs | worse | 95 % interval | unknown | same | rounds |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|",
        *_power(found),
        "",
    ]
    return "\n".join(lines)


def _alarms(case: Case) -> str:
    undecided = case.words.get("unknown", 0)
    cells = [case.server, case.how, case.runs, case.failed.count, _interval(case.failed), undecided, _rounds(case)]
    return _row(cells)


def _power(found: Calibration) -> Iterator[str]:
    for case in found.cases:
        if case.injected != NOTHING:
            worse = rate(case.words.get("worse", 0), case.runs)
            words = [case.words.get("unknown", 0), case.words.get("same", 0)]
            cells = [case.server, case.injected, case.how, case.runs, worse.count, _interval(worse), *words]
            yield _row([*cells, _rounds(case)])


def _rounds(case: Case) -> str:
    """`8 of 47`: rounds that a run took, and rounds that it had time for."""
    return f"{case.rounds:g} of {case.most_rounds}"


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _interval(of: Rate) -> str:
    return f"{100 * of.low:.1f} to {100 * of.high:.1f} %"
