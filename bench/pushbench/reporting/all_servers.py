"""The table of all servers, one for each suite, from compact records of one environment: Markdown. Pure.

Places are those of the ranking (`statistics/ties`). Trials of several runs are combined if a server has the same build
in them; of two builds, the newer one counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from pushbench.foundation.errors import UserError
from pushbench.metrics.definitions import in_sentence
from pushbench.metrics.units import format_number
from pushbench.records.capacity_history import CapacityEntry, KeptCapacity
from pushbench.records.compact import CompactRun, CompactServer, Kept
from pushbench.records.environment import Environment
from pushbench.reporting.markdown import escape, wrapped
from pushbench.reporting.ranking import basis
from pushbench.statistics import ties

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


@dataclass(frozen=True)
class _Server:
    """A server's trials in all runs that have its newest build."""

    name: str
    newest: CompactServer
    headline: Sequence[float]
    cost: Sequence[float]
    memory: Sequence[float]
    late: float
    records: Sequence[CompactRun]

    @property
    def subject(self) -> ties.Subject:
        return ties.Subject(self.name, self.headline, self.late)


def _suite(kept: Kept, suite: str) -> str:
    runs = [run for run in kept.runs if run.suite == suite]
    _require_one_load(runs)
    servers = [_server(name, runs) for name in sorted({name for run in runs for name in run.servers})]
    searches = _used([each.entry for each in kept.capacities if each.entry.suite == suite])
    carried = {server: found for search in searches for server, found in search.servers.items()}
    placed = {each.name: each for each in servers if each.headline and not each.newest.problem}
    lines = [_title(suite, runs), "", *_head(runs, searches)]
    groups = ties.groups([each.subject for each in placed.values()])

    def carries(name: str) -> list[str]:
        """The cell of the column `carries`; no cell if no server has a search."""
        return [_capacity(carried.pop(name, None))] if searches else []

    place = 1
    for group in groups:
        shared = "=" if len(group) > 1 else ""
        lines += [_row(f"{place}{shared}", placed[each.name], carries(each.name)) for each in group]
        place += len(group)
    unplaced = [each for each in servers if each.name not in placed]
    lines += [_row("", each, carries(each.name)) for each in unplaced]
    lines += [f"|  | {escape(name)} | | | | | {_capacity(found)} | |" for name, found in sorted(carried.items())]
    lines += ["", *_below(list(placed.values()), unplaced, searches)]
    return "\n".join(lines).rstrip()


def _require_one_load(runs: Sequence[CompactRun]) -> None:
    for run in runs[1:]:
        first = runs[0]
        if (run.profile, run.stage, run.parameters) != (first.profile, first.stage, first.parameters):
            what = f"{run.record} has another profile, stage or parameters than {first.record}: no ranking has both"
            raise UserError(what, hint="remove the file of one of them")


def _server(name: str, runs: Sequence[CompactRun]) -> _Server:
    having = [run for run in runs if name in run.servers]
    newest = having[-1].servers[name]
    alike = [run for run in having if run.servers[name].build == newest.build]
    found = [run.servers[name] for run in alike]
    return _Server(
        name=name,
        newest=newest,
        headline=[value for each in found if not each.problem for value in each.headline],
        cost=[value for each in found if not each.problem for value in each.cost],
        memory=[value for each in found if not each.problem for value in each.memory],
        late=max(each.late for each in found),
        records=alike,
    )


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


def _head(runs: Sequence[CompactRun], searches: Sequence[CapacityEntry]) -> list[str]:
    headline, cost = (runs[-1].headline, runs[-1].cost) if runs else ("Latency", "CPU")
    columns = ["", "server", f"{in_sentence(headline)}, ms", "starts", f"{cost}, µs", "memory, peak, MB"]
    columns += [f"{searches[-1].searched.replace('_', ' ')} carried"] if searches else []
    return [
        f"| {' | '.join([*columns, 'versions'])} |".replace("|  |", "| |"),
        f"|---:|---|{'---:|' * (len(columns) - 2)}---|",
    ]


def _row(place: str, server: _Server, carries: Sequence[str]) -> str:
    numbers = server.headline if not server.newest.problem else ()
    cells = [
        place,
        escape(server.name),
        _median(numbers, MILLISECONDS),
        _spread(numbers),
        _median(server.cost if numbers else (), MICROSECONDS),
        _median(server.memory if numbers else (), MEGABYTES),
        *carries,
        escape(", ".join(filter(None, (server.newest.runtime, server.newest.framework)))),
    ]
    return f"| {' | '.join(cells)} |"


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


def _below(placed: Sequence[_Server], unplaced: Sequence[_Server], searches: Sequence[CapacityEntry]) -> Iterator[str]:
    for each in unplaced:
        said = f"- `{escape(each.name)}` has no place: {escape(each.newest.problem or 'not measured')}"
        yield from wrapped(said, indent="  ")
    if unplaced:
        yield ""
    said = basis([each.subject for each in placed])
    used = {(run.record, run.commit): run for each in (*placed, *unplaced) for run in each.records}
    commits: dict[str, list[str]] = {}
    for record, commit in sorted(used):
        commits.setdefault(commit, []).append(record)
    for entry in searches:
        commits.setdefault(entry.commit or "", []).append(f"{entry.record} (capacity)")
    sources = "; ".join(f"{', '.join(records)} of commit {commit[:COMMIT]}" for commit, records in commits.items())
    yield from wrapped(" ".join(filter(None, [said, f"Records {sources}."])))


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
