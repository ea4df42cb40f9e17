"""What changes without a meaning cost, for readers: a page, and the lines of thresholds.yml that rest on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pushbench.calibration.bias import MARGINS, MOST_ROUNDS, Bias, Biases, ServerBias, proposed
from pushbench.calibration.report import ARMS
from pushbench.foundation.text import counted
from pushbench.judging.thresholds import Thresholds

HEADER: Sequence[str] = ("server", "the head has", "comparisons", "rounds", "CPU", "95 % interval", "false alarms")
LARGEST = f"{100 * MARGINS[-1]:g} %"
"""the largest margin that is proposed"""


def cells(server: ServerBias, of: Bias) -> list[str]:
    """One line of the table, in the order of `HEADER`."""
    interval = "-" if of.low is None or of.high is None else f"{_percent(of.low)} to {_percent(of.high)}"
    counts = [str(of.comparisons), str(of.rounds)]
    return [server.server, ARMS[of.change], *counts, _percent(of.estimate), interval, str(of.worse)]


def table(found: Biases) -> list[list[str]]:
    return [cells(server, each) for server in found.servers for each in server.changes]


def lines(found: Biases, thresholds: Thresholds) -> Iterator[str]:
    """The part of a thresholds.yml in which the margin of each server rests on its bias; a comment where none can."""
    for server in found.servers:
        usual = {each.metric: each for each in thresholds.suite(server.suite).regressions}
        if server.metric not in usual:
            continue
        line = proposed(server, usual[server.metric])
        if line is None:
            yield f"  # {server.server}: no margin up to {LARGEST} suits its noise"
            continue
        values = f"margin: {100 * line.margin:g}%, bias: {100 * line.bias:g}%, noise: {100 * (line.noise or 0):g}%"
        yield f"  {server.server}:"
        yield f"    {server.suite}:"
        yield "      regressions:"
        yield f'        {server.metric}: {{{values}, reason: "docs/calibration-bias.md"}}'


def markdown(found: Biases, thresholds: Thresholds) -> str:
    comparisons = sum(each.comparisons for server in found.servers for each in server.changes)
    out = [
        "# What a change without a meaning costs",
        "",
        "A server against the same code in another build. A comment, a function that nothing calls, another random",
        "order of the functions in the program, 3 kB more environment, or another path mean nothing. But they move",
        "code and data in memory, and the server's CPU per unit of work may change with that. More rounds do not",
        "remove such a difference. So a comparison takes a difference as evidence only beyond the `bias` of the",
        "server, and its margin lies above it ([thresholds.md](thresholds.md#margins-of-single-servers)).",
        "",
        "`./pushbench calibrate bias` makes this page from the comparisons in `docs/calibration`, adds those that are",
        "missing, and goes on where it was interrupted. The interval holds at any number of rounds. *False alarms* are",
        "comparisons in which any metric was called worse. Of each server only the comparisons count that measured as",
        "its newest one: at the same time after its start, and with or without the CPU of compilers.",
        "",
    ]
    if not found.servers:
        return "\n".join([*out, "Nothing was measured yet.", ""])
    out += [
        f"{counted(comparisons, 'comparison')} in {counted(found.sittings, 'sitting')}, an hour at least apart.",
        f"Environments: {', '.join(found.environments)}.",
        "",
        *_markdown([HEADER, *table(found)]),
        "",
        "## Margins that rest on it",
        "",
        "*Noise* is the standard deviation of head / base between rounds. The proposed margin is the least of a few",
        "round figures that is at least twice the largest estimate, and with which 19 of 20 comparisons with this",
        f"noise are decided after {MOST_ROUNDS} rounds: as many as ten minutes hold where two run at the same time. A",
        f"dash says that none up to {LARGEST} is.",
        "",
        *_markdown([("server", "largest", "noise", "margin"), *_margins(found, thresholds)]),
        "",
    ]
    return "\n".join(out)


def _margins(found: Biases, thresholds: Thresholds) -> Iterator[list[str]]:
    for server in found.servers:
        usual = {each.metric: each for each in thresholds.suite(server.suite).regressions}
        line = proposed(server, usual[server.metric]) if server.metric in usual else None
        margin = f"{100 * line.margin:g} %" if line else "-"
        yield [server.server, _percent(server.largest).lstrip("+"), _percent(server.noise).lstrip("+"), margin]


def _markdown(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    header, *others = rows
    yield f"| {' | '.join(header)} |"
    yield "|---" * len(header) + "|"
    yield from (f"| {' | '.join(row)} |" for row in others)


def _percent(share: float) -> str:
    return f"{100 * share:+.2f} %"
