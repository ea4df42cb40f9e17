"""The cost of changes without a meaning, for readers: a page, and the lines of thresholds.yml that follow from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pushbench.calibration.bias import MARGINS, MOST_ROUNDS, Bias, Biases, ServerBias, proposed
from pushbench.calibration.report import ARMS
from pushbench.foundation.text import counted
from pushbench.judging.thresholds import Thresholds

HEADER: Sequence[str] = ("server", "the head has", "comparisons", "rounds", "CPU", "95 % interval", "false alarms")
LARGEST = f"{100 * MARGINS[-1]:g} %"
"""the largest margin that may be proposed"""


def cells(server: ServerBias, of: Bias) -> list[str]:
    """One line of the table, in the order of `HEADER`."""
    interval = "-" if of.low is None or of.high is None else f"{_percent(of.low)} to {_percent(of.high)}"
    counts = [str(of.comparisons), str(of.rounds)]
    return [server.server, ARMS[of.change], *counts, _percent(of.estimate), interval, str(of.worse)]


def table(found: Biases) -> list[list[str]]:
    return [cells(server, each) for server in found.servers for each in server.changes]


def lines(found: Biases, thresholds: Thresholds) -> Iterator[str]:
    """The part of a thresholds.yml with the margin of each server from its bias; a comment if no margin is possible."""
    for server in found.servers:
        usual = {each.metric: each for each in thresholds.suite(server.suite).regressions}
        if server.metric not in usual:
            continue
        line = proposed(server, usual[server.metric])
        if line is None:
            yield f"  # {server.server}: no margin up to {LARGEST} suits its bias and noise"
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
        "Each server is compared with the same code in another build. One more comment, a function that nothing calls,",
        "another random order of the functions in the program, 3 kB more environment, or another path has no meaning.",
        "But such a change moves code and data in memory, and this may change the server's CPU per unit of work. More",
        "rounds do not remove the difference. A comparison therefore takes a difference as evidence only beyond the",
        "server's `bias`, and the server's margin is above its bias",
        "([thresholds.md](thresholds.md#margins-of-single-servers)).",
        "",
        "`./pushbench calibrate bias` generates this page from the comparisons in `docs/calibration`. It adds the",
        "missing comparisons, and continues where it was interrupted. The interval holds at any number of rounds.",
        "*False alarms* are comparisons in which any metric was called worse. For each server, only comparisons count",
        "that measured in the same way as its newest one: at the same time after its start, and with the CPU of",
        "compilers known in both or in neither.",
        "",
    ]
    if not found.servers:
        return "\n".join([*out, "Nothing was measured yet.", ""])
    out += [
        f"{counted(comparisons, 'comparison')} in {counted(found.sittings, 'sitting')}, at least an hour apart.",
        f"Environments: {', '.join(found.environments)}.",
        "",
        *_markdown([HEADER, *table(found)]),
        "",
        "## Margins that rest on it",
        "",
        "*Noise* is the standard deviation of head / base between rounds. The proposed margin is the smallest of a few",
        "round figures that meets two conditions. It is at least twice the largest estimate. With it, 19 of 20",
        f"comparisons with this noise are decided after {MOST_ROUNDS} rounds: as many as fit into ten minutes if two",
        f"run at the same time. A dash means that no figure up to {LARGEST} meets both.",
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
