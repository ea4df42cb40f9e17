"""The table of all servers, one for each suite, from compact records of one environment: Markdown. Pure.

With runs of an earlier day, each server's value and place of that day stand beside its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from pushbench.foundation.errors import UserError
from pushbench.foundation.text import counted, joined
from pushbench.metrics.definitions import in_sentence
from pushbench.metrics.units import format_number
from pushbench.records.capacity_history import CapacityEntry, KeptCapacity
from pushbench.records.compact import CompactRun, Kept
from pushbench.records.environment import Environment
from pushbench.reporting.markdown import escape, wrapped
from pushbench.reporting.ranking import basis
from pushbench.reporting.standings import Standing, Standings, agreement, require_one_load, standings

BEGIN = "<!-- all servers: written by `./pushbench findings`, do not edit -->"
END = "<!-- all servers: end -->"
MILLISECONDS, MICROSECONDS, MEGABYTES = 1e3, 1e6, 1e-6
"""per base unit: each column has one unit, so its values compare at a glance"""
COMMIT = 12
"""characters of a commit's hash"""


def replaced(document: str, tables: str, where: str) -> str:
    """The document with these tables between its markers. Raises UserError unless it has each marker exactly once."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in rest or END in after or END in before:
        raise UserError(f"expected the lines {BEGIN!r} and {END!r} once each", where=where)
    return f"{before}{BEGIN}\n\n{tables.strip()}\n\n{END}{after}"


def render_all_servers(kept: Kept) -> str:
    """The tables of all suites. Raises UserError for runs of a suite that have different loads."""
    first = [*(run.environment for run in kept.runs), *(each.environment for each in kept.capacities)][0]
    return "\n\n".join([_machine(first), *(_suite(kept, suite) for suite in kept.suites)]) + "\n"


def _suite(kept: Kept, suite: str) -> str:
    own = standings([run for run in kept.runs if run.suite == suite])
    earlier = _earlier(own, standings([run for run in kept.earlier if run.suite == suite]))
    searches = _used([each.entry for each in kept.capacities if each.entry.suite == suite])
    carried = {server: found for search in searches for server, found in search.servers.items()}
    before = _values_of(earlier) if earlier else None

    def cells(name: str) -> tuple[list[str], list[str]]:
        """The cells of the columns that not every table has: the earlier day, and what is carried."""
        then = [] if before is None else [before.get(name, "")]
        return then, [_capacity(carried.get(name))] if searches else []

    places = own.places
    shown = {each.name: each for each in (*own.placed, *own.unplaced)}
    only_searched = sorted(carried.keys() - shown.keys())
    lines = [_title(suite, own.runs), "", *_head(own.runs, earlier, searches)]
    lines += [_row(places.get(name, ""), name, shown.get(name), *cells(name)) for name in (*shown, *only_searched)]
    lines += ["", *_below(own, earlier, searches)]
    return "\n".join(lines).rstrip()


def _earlier(own: Standings, earlier: Standings) -> Standings | None:
    """The earlier standings; None if one of both has no places. Raises UserError for different loads."""
    require_one_load([*own.runs[-1:], *earlier.runs[-1:]])
    return earlier if own.groups and earlier.groups else None


def _values_of(earlier: Standings) -> dict[str, str]:
    """The value and the place of each server: `1.02 (3=)`."""
    places = earlier.places
    return {each.name: f"{_median(each.headline, MILLISECONDS)} ({places[each.name]})" for each in earlier.placed}


def _used(searches: Sequence[CapacityEntry]) -> list[CapacityEntry]:
    """The searches that contain the newest capacity of a server, under the conditions of the newest search of all."""
    alike = [each for each in searches if each.asked == searches[-1].asked]
    newest = {server: each.record for each in alike for server in each.servers}
    return [each for each in alike if each.record in newest.values()]


def _title(suite: str, runs: Sequence[CompactRun]) -> str:
    """The heading of a suite. A stage is named if its name adds to its clients: a closed one has no rate of its own."""
    if not runs:
        return f"**{suite}**"
    newest = runs[-1]
    named = "" if newest.stage == str(newest.clients) else f" in stage `{newest.stage}`"
    return f"**{suite}**: profile `{newest.profile}`, {newest.clients:,} clients{named}"


def _head(runs: Sequence[CompactRun], earlier: Standings | None, searches: Sequence[CapacityEntry]) -> list[str]:
    headline, cost = (runs[-1].headline, runs[-1].cost) if runs else ("Latency", "CPU")
    columns = ["", "server", f"{in_sentence(headline)}, ms", "starts"]
    columns += [f"{_day(earlier)} (place)"] if earlier else []
    columns += [f"{cost}, µs", "memory, peak, MB"]
    columns += [f"{searches[-1].searched.replace('_', ' ')} carried"] if searches else []
    return [
        f"| {' | '.join([*columns, 'versions'])} |".replace("|  |", "| |"),
        f"|---:|---|{'---:|' * (len(columns) - 2)}---|",
    ]


def _row(place: str, name: str, server: Standing | None, then: Sequence[str], carries: Sequence[str]) -> str:
    """The row of a server; `server` is None if it was only searched."""
    numbers = server.headline if server and not server.newest.problem else ()
    versions = (server.newest.runtime, server.newest.framework) if server else ()
    shown = [
        place,
        escape(name),
        _median(numbers, MILLISECONDS),
        _spread(numbers),
        *then,
        _median(server.cost if server and numbers else (), MICROSECONDS),
        _median(server.memory if server and numbers else (), MEGABYTES),
        *carries,
        escape(", ".join(filter(None, versions))),
    ]
    return f"| {' | '.join(shown)} |"


def _median(values: Sequence[float], factor: float) -> str:
    return format_number(median(values) * factor) if values else ""


def _spread(values: Sequence[float]) -> str:
    """`4: 1.02 to 1.15`, `1`."""
    if len(values) < 2:
        return str(len(values) or "")
    low, high = (format_number(each * MILLISECONDS) for each in (min(values), max(values)))
    return f"{len(values)}: {low} to {high}"


def _capacity(found: KeptCapacity | None) -> str:
    if found is None:
        return ""
    if found.carried is None:
        return "none found"
    if found.at_least:
        return f"at least {found.carried:,}"
    interval = f" [{found.low:,} to {found.high:,}]" if found.low is not None and found.high is not None else ""
    return f"{found.carried:,}{interval}"


def _below(own: Standings, earlier: Standings | None, searches: Sequence[CapacityEntry]) -> Iterator[str]:
    for each in own.unplaced:
        said = f"- `{escape(each.name)}` has no place: {escape(each.newest.problem or 'not measured')}"
        yield from wrapped(said, indent="  ")
    if own.unplaced:
        yield ""
    said = basis([each.subject for each in own.placed])
    compared = _compared(own, earlier) if earlier else ""
    yield from wrapped(" ".join(filter(None, [said, compared, _sources(own, earlier, searches)])))


def _compared(own: Standings, earlier: Standings) -> str:
    """How many pairs of servers both days order alike, and which they do not."""
    found = agreement(own, earlier)
    pairs = found.alike + len(found.reversed)
    where = f"different places both here and on {_day(earlier)}"
    if not pairs:
        return f"No two servers have {where}."
    later: dict[str, list[str]] = {}
    for better, worse in found.reversed:
        later.setdefault(worse, []).append(f"`{escape(better)}`")
    swapped = [f"only here, `{escape(worse)}` comes after {joined(names)}" for worse, names in later.items()]
    same = f"{found.alike} of {counted(pairs, 'pair')} of servers with {where} have the same order"
    return f"{'; '.join([same, *swapped])}."


def _sources(own: Standings, earlier: Standings | None, searches: Sequence[CapacityEntry]) -> str:
    """The records behind a table, by commit."""
    servers = [*own.placed, *own.unplaced, *(earlier.placed if earlier else [])]
    used = {(run.record, run.commit) for each in servers for run in each.records}
    commits: dict[str, list[str]] = {}
    for record, commit in sorted(used):
        commits.setdefault(commit, []).append(record)
    for entry in searches:
        commits.setdefault(entry.commit or "", []).append(f"{entry.record} (capacity)")
    sources = "; ".join(f"{', '.join(records)} of commit {commit[:COMMIT]}" for commit, records in commits.items())
    return f"Records {sources}."


def _day(measured: Standings) -> str:
    """The day of the newest run: `2026-11-28`."""
    return measured.runs[-1].created.partition("T")[0]


def _machine(environment: Environment) -> str:
    server, whole = len(environment.server_cpus), environment.cpus
    gigabytes = environment.memory_bytes / 1e9
    own = "the server has 1 of them" if server == 1 else f"the server has {server} of them"
    engine = f", {environment.engine}" if environment.engine else ""
    awake = ", idle CPUs kept awake" if environment.awake else ""
    return "\n".join(
        wrapped(
            f"All servers on one machine: {environment.cpu_model}, {whole} CPUs, {own}; {gigabytes:.0f} GB of memory, "
            f"kernel {environment.kernel}, driver `{environment.driver}`{engine}{awake}, method "
            f"{environment.method_number} ([method.md](method.md#methods-1-and-2)), environment {environment.key}. "
            "Servers within noise of each other share a place."
        )
    )
