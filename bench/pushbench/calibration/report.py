"""The calibration for readers: Markdown tables of false alarms and of power."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pushbench.calibration.error_rates import Calibration, Case, of_real
from pushbench.calibration.faults import ALIKE, APART, NOTHING, ORDER, REBUILT
from pushbench.calibration.rates import Rate, rate
from pushbench.calibration.simulated import Simulated
from pushbench.calibration.simulated_history import BEFORE, ROWS, SERVERS, SimulatedHistory
from pushbench.judging.sequential import Word


def markdown(found: Calibration) -> str:
    lines = [
        "# How often the judge is right",
        "",
        "Comparisons whose answer is known: a server against itself, and against itself with a fault that a wrapper",
        "injects. *Real* ones were measured; *resampled* ones draw a campaign that was played to its end, and then",
        "blocks of neighbouring rounds of it. What two builds or two sittings differ by stays in all of them, so the",
        "interval is that of as many cases as there are campaigns, and not draws: a campaign weighs as much as it has",
        "rounds, and several of unequal length count as fewer. *Scaled* ones multiply the head's CPU per delivery of",
        "such a draw; the row says what its arms differ by otherwise. Rounds are the median of those after which",
        "the comparison was over, and those that ten minutes have time for.",
        "",
        f"Environments: {', '.join(found.environments) or 'none'}.",
        "",
        "## False alarms",
        "",
        bound(found.cases),
        "",
        "| server | arms | how | runs | campaigns | failed | 95 % interval | undecided | rounds |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|",
        *(_alarms(case) for case in found.cases if case.injected in ALIKE),
        "",
        "## Power",
        "",
        "The word is that of the metric in which the fault shows.",
        "",
        "| server | fault | how | runs | campaigns | worse | 95 % interval | unknown | same | rounds |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
        *_power(found),
        "",
        *_simulated(found.simulated),
        *_histories(found.histories),
    ]
    return "\n".join(lines)


def _simulated(found: Sequence[Simulated]) -> Iterator[str]:
    if not found:
        return
    yield from [
        "## Simulated",
        "",
        "Here the truth is made: each server has eight rows with noise as wide as the campaigns show, of several",
        "kinds. *Cost* is what the head of the first server needs for a unit of work, in multiples of the base; the",
        "other servers and rows do not change. An *alarm* is a run in which one of those is called worse. A lasting",
        "bias is what two builds of the same code differ by, 3 % in the standard deviation of the cost: no number of",
        "rounds removes it, so a bias beyond the margin is called worse. A bias that the margin allows for is 1 %, and",
        "`bias` in thresholds.yml twice that. Rounds are the median until the changed row was decided, and where none",
        "changed until all were. *In 264 rounds*: all servers together have the time of so many, an hour of rounds of",
        "14 s; *x 2*: each round is twice as noisy.",
        "",
        "| cost | servers | noise | runs | alarms | 95 % interval | found | missed | runs with unknown rows | rounds |",
        "|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for each in found:
        caught = "-" if each.found is None else f"{100 * each.found.count / each.runs:.1f} %"
        missed = "-" if each.found is None else each.missed
        servers = f"{each.servers} in {each.all_rounds} rounds" if each.all_rounds else each.servers
        noise = each.noise if each.noisier == 1 else f"{each.noise}, x {each.noisier:g}"
        cells = [f"x {each.factor:g}", servers, noise, each.runs, each.alarms.count, _interval(each.alarms)]
        yield _row([*cells, caught, missed, each.undecided, f"{each.rounds:g}"])
    yield ""


def _histories(found: Sequence[SimulatedHistory]) -> Iterator[str]:
    if not found:
        return
    yield from [
        "## Verdicts by history",
        "",
        f"Simulated, too: runs of {SERVERS} servers with {len(ROWS)} rows each, after {BEFORE} runs in which nothing",
        "happened. Then something happens to the cost of the first server, whose margin is 5 %; *after* is the number",
        "of runs since, the judged one included. *Scatter* is that of the cost between runs. *Accepted level* is the",
        "rule in use ([history.md](history.md)). *Band* is the usual rule, and was that of Pushbench: a change is",
        "worse outside of the band around the newest level. An *alarm* is a run in which a row is worse that did not",
        "change. *Worse* and *same* are the words of the row that changed; else it is unknown, or better.",
        "",
        "| happens | after | scatter | noise | runs | alarms, band | alarms, accepted level | 95 % interval |"
        " worse, band | worse, accepted level | same, band | same, accepted level |",
        "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for each in found:
        band, level = each.by["band"], each.by["accepted level"]
        words = [f"{100 * of.words.get(word, 0) / each.runs:.0f} %" for word in _SHOWN for of in (band, level)]
        alarms = [f"{100 * band.alarms.count / each.runs:.0f} %", level.alarms.count, _interval(level.alarms)]
        yield _row([each.happening, each.after, f"{100 * each.scatter:g} %", each.noise, each.runs, *alarms, *words])
    yield ""


_SHOWN: Sequence[Word] = ("worse", "same")


ARMS: Mapping[str, str] = {
    NOTHING: "one build",
    REBUILT: "built at another path",
    "comment": "a comment more",
    "unused": "an unused function more",
    "layout": "another random link order",
    ORDER: "a random link order",
    "environment": "a larger environment",
}


def _alarms(case: Case) -> str:
    undecided = case.words.get("unknown", 0)
    arms = ARMS[case.injected]
    failed = [case.failed.count, _interval(case.failed)]
    return _row([case.server, arms, case.how, case.runs, _campaigns(case), *failed, undecided, _rounds(case)])


def bound(cases: Sequence[Case]) -> str:
    """What all real comparisons of a server with itself say together."""
    every, apart = of_real(cases, ALIKE), of_real(cases, [*APART, ORDER])
    return (
        f"Of {every.of} real comparisons of a server with itself, over all servers, {every.count} called a row worse:\n"
        f"the share of false alarms is {_interval(every)} (95 %). In {apart.of} of them the arms were built apart; "
        f"{apart.count} of those did."
    )


def _campaigns(case: Case) -> str:
    return f"{case.runs if case.campaigns is None else case.campaigns:g}"


def _power(found: Calibration) -> Iterator[str]:
    for case in found.cases:
        if case.injected not in ALIKE:
            worse = rate(case.words.get("worse", 0), case.runs, case.campaigns)
            words = [case.words.get("unknown", 0), case.words.get("same", 0)]
            cells = [
                case.server,
                case.injected,
                f"{case.how}: {ARMS[case.arms]}" if case.arms else case.how,
                case.runs,
                _campaigns(case),
                worse.count,
                _interval(worse),
                *words,
            ]
            yield _row([*cells, _rounds(case)])


def _rounds(case: Case) -> str:
    """`8 of 47`: rounds that a run took, and rounds that it had time for."""
    return f"{case.rounds:g} of {case.most_rounds}"


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _interval(of: Rate) -> str:
    return f"{100 * of.low:.1f} to {100 * of.high:.1f} %"
