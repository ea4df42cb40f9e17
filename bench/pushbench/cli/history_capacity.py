"""The capacities in `pushbench history`: the servers that have some, and the series of one server."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pushbench.cli import options
from pushbench.foundation.errors import UserError
from pushbench.foundation.text import counted, inert, one_line
from pushbench.records import capacity_history as capacities
from pushbench.records.capacity import CLIENTS
from pushbench.records.capacity_history import CapacityEntry, KeptCapacity, Series

METRIC = "capacity"
"""the word given in place of a metric"""
SHOWN = 10
"""number of searches in the table, the newest ones"""
COLUMNS = ["record", "created", "commit", "subject", "carried", "low", "high", "at_least", "end", "binds"]

Kept = tuple[CapacityEntry, KeptCapacity]


def list_capacities(store: Path, suite: str, environment: str) -> bool:
    """Print the servers that have capacities, by suite. Return whether there are any."""
    found = [key for key in capacities.folders(store) if suite in ("", key[1]) and environment in ("", key[0])]
    newest = {of: key for key, of in reversed(found)}  # the environment searched last wins
    for of, key in sorted(newest.items()):
        series = _series(store, key, of)
        print(f"capacity of {of}, {_what(series)}")
        rows = [[server, str(len(own)), _number(own[-1][1])] for server in series.servers if (own := series.of(server))]
        options.print_table(["server", "searches", "newest"], rows)
        _tell_left_out(series, of)
        if others := [other for other, suite_ in found if suite_ == of and other != key]:
            options.note(f"these are of the environment {key}; other environments: {', '.join(others)}")
    return bool(newest)


def show_capacity(store: Path, server: str, suite: str, environment: str, *, as_csv: bool, as_json: bool) -> None:
    """Print the series of a server. Raises UserError if the history has none."""
    chosen = _chosen(store, server, suite, environment)
    series = _series(store, *chosen)
    found = series.of(server)
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([COLUMNS, *([_cell(row[name]) for name in COLUMNS] for row in map(_row, found))])
    elif as_json:
        _print_json(found, series, server, *chosen)
    else:
        _draw(found, series, server, chosen[1])
        _tell_left_out(series, chosen[1])


def _chosen(store: Path, server: str, suite: str, environment: str) -> tuple[str, str]:
    """Return the environment and the suite of the server's last search."""
    every = capacities.folders(store)
    known: set[str] = set()
    for key, of in every:
        if suite not in ("", of) or environment not in ("", key):
            continue
        series = _series(store, key, of)
        if server in series.servers:
            return key, of
        known.update(series.servers)
    if not every:
        hint = "`./pushbench history --add capacity` keeps the newest search"
        raise UserError("the history has no capacities", where=str(store), hint=hint)
    what = f"the history has no capacity of {server}" if server else "name a server"
    raise UserError(what, where=str(store), hint=f"known: {', '.join(sorted(known))}" if known else None)


def _series(store: Path, environment: str, suite: str) -> Series:
    """Return the series with the limits, parameters and way of searching of the last search."""
    entries = capacities.read_entries(store, environment, suite)
    return capacities.series_of(entries, entries[-1].asked)


def _draw(found: Sequence[Kept], series: Series, server: str, suite: str) -> None:
    from pushbench.cli.conclusion import width
    from pushbench.reporting import chart
    from pushbench.statistics import trend

    values = [value for value in series.numbers(server) if value]
    print(f"{server}: capacity of {suite}, {_what(series)}, {_searches(len(found))}")
    if len(values) > 1:
        changes, band = trend.changes(values), trend.band(values)
        print("\n".join(chart.draw(values, changes, band.level if band else None, _whole, width())))
        if band:
            low, high = _whole(band.low), _whole(band.high)
            print(f"level {_whole(band.level)}, band {low} to {high}, from the last {counted(band.runs, 'number')}")
        else:
            print(f"no band: the current level has fewer than {trend.SHORTEST_LEVEL} numbers")
    rows = [
        [entry.created[:10], (entry.commit or "")[:12], _number(kept), one_line(kept.reason, 60)]
        for entry, kept in found[-SHOWN:]
    ]
    options.print_table(["day", "commit", "carried", "ended by"], rows)


def _print_json(found: Sequence[Kept], series: Series, server: str, environment: str, suite: str) -> None:
    from dataclasses import asdict

    from pushbench.statistics import trend

    band = trend.band(series.numbers(server))
    options.print_json(
        {
            "server": server,
            "metric": METRIC,
            "suite": suite,
            "environment": environment,
            "searched": series.entries[-1].searched,
            "asked": series.entries[-1].asked,
            "points": [_row(each) for each in found],
            "band": asdict(band) if band else None,
        }
    )


def _row(found: Kept) -> dict[str, object]:
    entry, kept = found
    own = json.loads(kept.model_dump_json())
    return {name: own[name] if name in own else getattr(entry, name) for name in [*COLUMNS, "starts", "reason"]}


def _cell(value: object) -> object:
    """Return the value for CSV, in which no text can become a formula."""
    if isinstance(value, str):
        return inert(value)
    return "" if value is None else value


def _number(kept: KeptCapacity) -> str:
    """Format a capacity as `5,260 [5,230 to 5,710]`, `at least 9,940` or `-`."""
    if kept.carried is None:
        return "-"
    if kept.at_least:
        return f"at least {kept.carried:,}"
    return f"{kept.carried:,}" + (f" [{kept.low:,} to {kept.high:,}]" if kept.low is not None and kept.high else "")


def _what(series: Series) -> str:
    searched = series.entries[-1].searched
    return "clients" if searched == CLIENTS else searched.replace("_", " ")


def _searches(number: int) -> str:
    return f"{number} search" + ("" if number == 1 else "es")


def _tell_left_out(series: Series, suite: str) -> None:
    if series.asked_otherwise:
        options.note(
            f"left out: {_searches(series.asked_otherwise)} of {suite} with other limits, parameters or another way "
            "of searching"
        )


def _whole(value: float) -> str:
    return f"{value:,.0f}"
