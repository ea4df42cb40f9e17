"""The sentences of a verdict. Each names server, metric, stage, value and bound, so that it can stand alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from pushbench.foundation.text import MESSAGE, counted, one_line
from pushbench.judging.changes import Row
from pushbench.judging.judged import JudgedRow
from pushbench.judging.judged_changes import JudgedChange, share_of
from pushbench.judging.judged_history import Begun, JudgedLevel
from pushbench.judging.sequential import Decision
from pushbench.judging.thresholds import Accepted, Bound, Limit, Regression
from pushbench.judging.thresholds_file import LONGEST_ACCEPTANCE
from pushbench.metrics.definitions import Metric, Metrics, Unit
from pushbench.metrics.units import format_quantity
from pushbench.records.record import Accepting, Machine, PlannedTrial, Skipped, Trial
from pushbench.records.stages import places

DIGITS = 7
"""of a commit's name, in a sentence"""
CLOSE = 0.005
"""relative: a value nearer to its bound is shown with the same three digits"""
NOT_METERED = "it runs elsewhere: its CPU and memory are not known, and limits and margins do not apply to them"


def breach(found: JudgedRow, *, value: float, bound: Bound, round_: int | None) -> str:
    """`node-ws: loss 2.1 % at 700 clients, limit 1 %`."""
    at = places([found]) + (f" in round {round_}" if round_ is not None else "")
    limit = format_quantity(bound.value, found.unit)
    if abs(value - bound.value) < CLOSE * bound.value:
        judged = f"just {'above' if bound.side == 'max' else 'below'} the limit of {limit}"
    else:
        judged = f"limit {limit}" if bound.side == "max" else f"limit at least {limit}"
    return f"{found.server}: {found.in_sentence} {format_quantity(value, found.unit)} {at}, {judged}"


def shared(broken: str) -> str:
    """`spring-websocket: connect p99 2.8 s at 260 clients, limit 2 s: the base breaks it, too`."""
    return f"{broken}: the base breaks it, too"


def doubtful(broken: str, detail: str) -> str:
    """`go: delivery p95 512 ms at 700 clients, limit 500 ms: invalid, the generator itself was 20 ms late at p95`."""
    return f"{broken}: invalid, {detail}"


def unmeasured(rows: Sequence[JudgedRow]) -> str:
    """`go: connect p99 has a limit but was not measured at 700 clients`."""
    return f"{rows[0].server}: {rows[0].in_sentence} has a limit but was not measured {places(rows)}"


def missing(trial: PlannedTrial) -> str:
    return f"{trial.server}: the trial of {which_trial(trial)} was planned and is not in the record"


def apart(machine: Machine) -> str:
    """`measured on bench-2, which is not like the other machines of the run: ...`."""
    return (
        f"measured on {machine.name}, which is not like the other machines of the run, so that nothing is compared "
        f"with them: {one_line(machine.apart, MESSAGE)}"
    )


def skipped(server: Skipped) -> str:
    return f"{server.server}: skipped: {one_line(server.reason, MESSAGE)}"


def failure(trial: Trial) -> str:
    assert trial.failure, "only for trials that failed"
    message = one_line(trial.failure.message, MESSAGE)
    return f"{trial.server}: failed in {which_trial(trial)}: {trial.failure.step}: {message}"


def none_valid(server: str, trials: Sequence[Trial]) -> str:
    """`node-ws: no trial is valid: the generator used 92 % of its CPU, above 80 % (generator_cpu)`."""
    found = [finding for trial in trials for finding in trial.validity.reasons]
    messages = {finding.code: one_line(finding.message, MESSAGE) for finding in reversed(found)}
    why = "; ".join(f"{messages[code]} ({code})" for code in sorted(messages))
    return f"{server}: no trial is valid: {why}"


def some_invalid(server: str, valid: int, trials: int) -> str:
    return f"{server}: {valid} of {trials} trials are valid, only those are judged"


def expired(server: str, line: Limit | Accepted) -> str:
    if isinstance(line, Limit):
        what, how = "its own limit for", "renew or remove it"
    else:
        what, how = "the accepted level of", f"write `since: {line.since}` in its place, or remove it"
    return f"{server}: {what} {line.metric} expired on {line.until}: {how} ({line.where})"


def change(found: JudgedChange) -> str:
    """`node-ws: CPU per delivery worse at 500 clients: +10.2 % (95 % interval +8.1 % to +12.4 %), margin 5 %; ...`."""
    about = f"{_changed(found)} {found.word} {places([found])}"
    if found.detail:
        return f"{about}: {_amount(found)}: {found.detail}"
    beyond = f"; {_against_acceptance(found, found.acceptance)}" if found.acceptance else ""
    return f"{about}: {_amount(found)}{beyond}; {found.pairs} rounds"


def without_compilers(found: JudgedChange, base: float, head: float) -> str:
    """`spring-websocket: CPU per delivery leaves out the runtime's compilers, which end when it is warm: 5.1 µs in the
    base and 5.2 µs in the head at 260 clients`."""
    took, now = (format_quantity(each, found.unit) for each in (base, head))
    why = "leaves out the runtime's compilers, which end when it is warm"
    return f"{_changed(found)} {why}: {took} in the base and {now} in the head {places([found])}"


def accepted(found: JudgedChange) -> str:
    """`node-ws: CPU per delivery accepted at 500 clients: +10.2 % (95 % interval ...), margin 5 %; up to 12 % until
    2027-02-20: it checks every field (thresholds.yml:30)`."""
    line = found.acceptance
    assert line, "else it is not accepted"
    until = f"{_most(found, line)} until {line.until}: {one_line(line.reason, MESSAGE)} ({line.where})"
    return f"{_changed(found)} accepted {places([found])}: {_amount(found)}; {until}"


def not_needed(line: Accepting, metrics: Metrics, *, measured: bool) -> str:
    why = "did not get worse" if measured else "was not compared"
    return f"{_accepting(line, metrics)}, which {why}: remove the line"


def not_confirmed(line: Accepting, metrics: Metrics, sha: str) -> str:
    how = f"`/pushbench accept head={sha}`, or on a command line with --accept"
    return f"{_accepting(line, metrics)}: it has no effect until a maintainer confirms it with {how}"


def too_early(line: Accepting, metrics: Metrics) -> str:
    most = f"{LONGEST_ACCEPTANCE.days} days after the run"
    return f"{_accepting(line, metrics)} until {line.until}, which is more than {most}: it has no effect"


def acceptance_expired(line: Accepting, metrics: Metrics) -> str:
    return f"{_accepting(line, metrics)} until {line.until}, which is over: it has no effect"


def undecided(found: JudgedChange) -> str:
    """An undecided change, with the rounds so far and about how many would decide."""
    about = f"{_changed(found)} undecided {places([found])}"
    if not found.pairs:
        return f"{about}: no round measured it in both arms"
    said = f"{about}: {_amount(found)} after {found.pairs} rounds"
    if found.suspected:
        said += f"; it looks {found.suspected}, and that is not certain enough"
    return said + (f"; about {found.rounds_to_decide} rounds would decide" if found.rounds_to_decide else "")


def level(found: JudgedLevel) -> str:
    """`go: CPU per delivery worse at 500 clients: 45 us, accepted level 40 us (band 39 to 41 us of 20 runs), margin
    2 us; in the last 3 runs, since 1a2b3c4 of 2026-11-18; before it 9f8e7d6: look with ..., or accept it with ...`."""
    value, usual, low, high, least = (
        format_quantity(each, found.unit) for each in (found.value, found.level, found.low, found.high, found.margin)
    )
    word: str = found.word
    if found.word == "unknown":
        word = f"looks {found.suspected}, which is not certain yet," if found.suspected else "undecided"
    about = f"{found.server}: {found.in_sentence} {word} {places([found])}"
    why = f": {one_line(found.accepted, MESSAGE)}" if found.accepted and found.word == "accepted" else ""
    why = f": {found.detail}" if found.detail else why
    seen = f"{about}: {value}, accepted level {usual} (band {low} to {high} of {found.runs} runs), margin {least}"
    return f"{seen}{why}{_begun(found, found.begun)}"


def _begun(found: JudgedLevel, begun: Begun | None) -> str:
    """The commit to compare with, and what to do."""
    if begun is None or "worse" not in (found.word, found.suspected):
        return ""
    runs = "this run" if begun.runs == 1 else f"the last {begun.runs} runs"
    if not (begun.commit and begun.before):
        return f"; in {runs}, since {begun.created[:10]}"
    good, bad, day = begun.before[:DIGITS], begun.commit[:DIGITS], begun.created[:10]
    if good == bad:
        return f"; in {runs}, since {day}; the run before is of the same commit {good}: look at the machine"
    where = f"; in {runs}, since {bad} of {day}; the run before it is of {good}"
    if found.word == "unknown":
        return f"{where}: `./pushbench compare --base {good} --servers {found.server}` can tell"
    look = f"`./pushbench bisect --good {good} --bad {bad} --server {found.server} --metric {found.metric}`"
    return f"{where}: look with {look}, or accept it with `since: {day}` in thresholds.yml"


def cannot_tell(server: str, rows: Sequence[JudgedLevel]) -> str:
    """`go: its history cannot tell whether these changed by the margin: CPU per delivery, p95`."""
    metrics = ", ".join(dict.fromkeys(each.in_sentence for each in rows))
    return f"{server}: its runs scatter too much to tell whether a metric changed by its margin: {metrics}"


def few_runs(server: str, unknown: Sequence[JudgedLevel], needed: int) -> str:
    metrics = ", ".join(dict.fromkeys(each.in_sentence for each in unknown))
    fewest = counted(min(each.runs for each in unknown), "run")
    return f"{server}: not judged against the history, which has {fewest} where {needed} are needed: {metrics}"


def no_past(server: str, why: str) -> str:
    return f"{server}: not judged against the history: {why}"


def no_pair(server: str) -> str:
    return f"{server}: no round has a valid trial in both arms"


def one_sided(server: Skipped) -> str:
    return f"{server.server}: not compared: {one_line(server.reason, MESSAGE)}"


def identical(server: str) -> str:
    return f"{server}: not measured: its build is that of the base"


def after_look(server: str, found: Mapping[Row, Decision], metrics: Metrics) -> str:
    """`node-ws: same: loss, delivery p95; undecided: CPU per delivery`."""
    words: dict[str, list[str]] = {}
    for row, decision in found.items():
        suspected = f"looks {decision.suspected}" if decision.suspected else "undecided"
        word = suspected if decision.word == "unknown" else decision.word
        words.setdefault(word, []).append(metrics[row.metric].in_sentence)
    return f"{server}: " + "; ".join(f"{word}: {', '.join(dict.fromkeys(metrics))}" for word, metrics in words.items())


def older_method(method: int, metrics: Sequence[Metric]) -> str:
    """`measured by method 1: limits and margins do not ask for connect p99 (docs/method.md)`."""
    asked = ", ".join(metric.in_sentence for metric in metrics)
    return f"measured by method {method}: limits and margins do not ask for {asked} (docs/method.md)"


def times_not_asked(profile: str) -> str:
    return f"profile {profile} is too short to judge times: limits and margins do not apply to them"


def margin(of: Regression) -> str:
    """`15 %; 1 ms below 6.67 ms; 50 % below 2 ms`: the change at which a metric counts, by its level."""
    parts = [format_quantity(of.margin, Unit.RATIO)]
    if of.floor:
        below = f" below {format_quantity(of.floor / of.margin, of.of.unit)}" if of.margin else ""
        parts.append(f"{format_quantity(of.floor, of.of.unit)}{below}")
        if isfinite(of.ceiling):
            least = format_quantity(of.floor / of.ceiling, of.of.unit)
            parts.append(f"{format_quantity(of.ceiling, Unit.RATIO)} below {least}")
    return "; ".join(parts)


def signed(found: JudgedChange, value: float | None) -> str:
    """A change for readers: `+5.2 %`, or in the metric's unit if it has no ratio."""
    if value is None:
        return "?"
    unit = Unit.RATIO if found.scale == "ratio" else found.unit
    size = format_quantity(abs(value), unit)
    nothing = size.split(" ")[0] == "0"
    return size if nothing else ("+" if value > 0 else "-") + size


def interval(found: JudgedChange) -> str:
    """`-1.4 to +2.8 %`; empty if there is no interval."""
    if found.low is None:
        return ""
    low, high = signed(found, found.low), signed(found, found.high)
    unit = high.rpartition(" ")[2]
    return f"{low.removesuffix(f' {unit}')} to {high}"


def _changed(found: JudgedChange) -> str:
    return f"{found.server}: {found.in_sentence}"


def _accepting(line: Accepting, metrics: Metrics) -> str:
    named = metrics.get(line.metric)
    return f"{line.where} accepts {named.in_sentence if named else line.metric} of {line.server}"


def _against_acceptance(found: JudgedChange, line: Accepting) -> str:
    """`accepted up to 12 %, found 19 %`."""
    if line.change is None:
        return f"accepted {_most(found, line)}, found {format_quantity(found.head, found.unit)}"
    share = share_of(found)
    seen = (
        "a change from nothing, which only a level can accept" if share is None else format_quantity(share, Unit.RATIO)
    )
    return f"accepted {_most(found, line)}, found {seen}"


def _most(found: JudgedChange, line: Accepting) -> str:
    if line.change is not None:
        return f"up to {format_quantity(line.change, Unit.RATIO)}"
    down = found.change is not None and found.change < 0
    return f"{'down' if down else 'up'} to {format_quantity(line.level, found.unit)}"


def _amount(found: JudgedChange) -> str:
    allowed = signed(found, found.margin).removeprefix("+")
    bounds = f" (95 % interval {interval(found)})" if found.low is not None else ""
    return f"{signed(found, found.change)}{bounds}, margin {allowed}{_made_by(found)}"


def _made_by(found: JudgedChange) -> str:
    """` (the floor of 0.50 ms)`, if that makes the margin; ` (bias 0.8 %)`, if a bias is known."""
    parts = [floor_of(found)] if found.floor is not None else []
    parts += [f"bias {signed(found, found.bias).removeprefix('+')}"] if found.bias else []
    return f" ({'; '.join(parts)})" if parts else ""


def floor_of(found: JudgedChange) -> str:
    """`the floor of 0.50 ms`, `as much as the floor of 1 ms may be`."""
    floor = f"the floor of {format_quantity(found.floor, found.unit)}"
    return floor if found.ceiling is None else f"as much as {floor} may be"


def which_trial(trial: PlannedTrial | Trial) -> str:
    return f"round {trial.round}" + ("" if trial.arm == "head" else f" of the {trial.arm}")
