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
        "These comparisons have a known answer: a server against itself, or against itself with a fault that a wrapper",
        "injects. A *real* comparison was measured. A *resampled* comparison is drawn at random: first a campaign that",
        "ran to its end, then blocks of neighbouring rounds from that campaign. A difference between two builds or two",
        "sittings stays in all draws from a campaign. The interval therefore counts campaigns as cases, not draws. A",
        "campaign is weighted by its number of rounds, and several campaigns of unequal length count as fewer. A",
        "*scaled* comparison multiplies the head's CPU per delivery in such a draw; its row names the other difference",
        "between the arms. Rounds are the median number of rounds after which the comparison was over, and the number",
        "that fits into ten minutes.",
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
        "Each run is counted by the word for the metric in which the fault shows.",
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
        "Here the answer is known by construction. Each server has eight rows, with several kinds of noise as wide as",
        "in the campaigns. *Cost* is what the head of the first server needs for a unit of work, in multiples of the",
        "base; the other servers and rows do not change. An *alarm* is a run in which an unchanged row is called",
        "worse. A lasting bias is the difference between two builds of the same code: its standard deviation is 3 % of",
        "the cost. No number of rounds removes it, so a bias beyond the margin is called worse. A bias that the margin",
        "allows for has a standard deviation of 1 %, and `bias` in thresholds.yml is twice that. Rounds are the median",
        "number of rounds until the changed row was decided, or until all rows were decided if none changed. *In 264",
        "rounds* means that all servers together have time for 264 rounds: an hour of rounds of 13.6 s. *x 2* means",
        "that each round is twice as noisy.",
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
        f"These runs are simulated, too: {SERVERS} servers with {len(ROWS)} rows each, after {BEFORE} runs in which",
        "nothing happened. Then the cost of the first server, whose margin is 5 %, changes as shown under *happens*.",
        "*After* is the number of runs since then, including the judged one. *Scatter* is the variation of the cost",
        "between runs. *Accepted level* is the current rule ([history.md](history.md)). *Band* is the usual rule,",
        "which Pushbench used before: a change is worse if it is outside the band around the newest level. An *alarm*",
        "is a run in which an unchanged row is worse. *Worse* and *same* are the words for the changed row; in the",
        "other runs, its word is unknown or better.",
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
    """The combined result of all real comparisons of a server with itself."""
    every, apart = of_real(cases, ALIKE), of_real(cases, [*APART, ORDER])
    return (
        f"Of {every.of} real comparisons of a server with itself, over all servers, {every.count} called a row worse:\n"
        f"the share of false alarms is {_interval(every)} (95 %). In {apart.of} of them, the arms were built "
        f"separately; {apart.count} of these did."
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
    """`8 of 47`: the rounds that a run took, and the rounds that fit into its time."""
    return f"{case.rounds:g} of {case.most_rounds}"


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _interval(of: Rate) -> str:
    return f"{100 * of.low:.1f} to {100 * of.high:.1f} %"
