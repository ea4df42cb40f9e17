"""`pushbench history`: the trend of a metric, and where its level changed."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.options import DEFAULT_PROFILE, JsonOption, OutOption, ProfileOption, SuiteOption
from pushbench.foundation.errors import UserError

if TYPE_CHECKING:
    from pushbench.foundation.project import Project
    from pushbench.metrics.definitions import Metric
    from pushbench.records.runs import Point, Runs

_EXAMPLES = examples(
    "./pushbench history --add latest",
    "./pushbench history",
    "./pushbench history node-ws cpu_seconds_per_delivery",
    "./pushbench history node-ws cpu_seconds_per_delivery --csv > trend.csv",
    "./pushbench history --add capacity",
    "./pushbench history node-ws capacity",
)


def register(app: typer.Typer) -> None:
    app.command("history", epilog=_EXAMPLES)(history)


def history(
    *,
    server: Annotated[
        str, typer.Argument(help="The server whose trend is shown.", metavar="SERVER", show_default=False)
    ] = "",
    metric: Annotated[
        str,
        typer.Argument(
            help="A metric that `pushbench suites NAME` lists, or `capacity`.",
            metavar="METRIC",
            show_default="CPU per unit of work",
        ),
    ] = "",
    store: Annotated[Path | None, typer.Option("--store", metavar="FOLDER", show_default="history")] = None,
    add: Annotated[
        list[str],
        typer.Option("--add", help="Add a record: an id, a file, `latest` or `capacity`.", metavar="ID"),
    ] = [],  # noqa: B006 - typer only reads it
    suite: SuiteOption = "",
    profile: ProfileOption = DEFAULT_PROFILE,
    stage: Annotated[
        str, typer.Option("--stage", metavar="STAGE", help="The name of a stage.", show_default="the largest")
    ] = "",
    environment: Annotated[
        str, typer.Option("--environment", help="The key of an environment.", metavar="KEY", show_default="the latest")
    ] = "",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, and nothing else, on stdout.")] = False,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep records, and show a metric of a server over commits.

    A series never mixes runs of different environments, profiles or parameters. The metric `capacity` is what
    `pushbench capacity` found; its series have one environment and one way of searching.
    """
    from pushbench.cli import history_capacity
    from pushbench.foundation.project import Project

    project = Project.current(out)
    folder = store or project.history
    for name in add:
        options.note(f"added {project.relative(_add(project, folder, name))}")
    if add and not server:
        return
    if metric == history_capacity.METRIC:
        history_capacity.show_capacity(folder, server, suite, environment, as_csv=as_csv, as_json=as_json)
        return
    only_capacities = not server and not _suites_with_runs(folder, suite, profile)
    if only_capacities and history_capacity.list_capacities(folder, suite, environment):
        return
    for each in [suite] if suite else _suites(project, folder, server, profile):
        runs, keys = _read(project, folder, each, profile, environment)
        if server:
            chosen = _metric(project, each, metric)
            _show(runs, server, chosen, stage, as_csv=as_csv, as_json=as_json)
            _tell_method(folder / (environment or keys[0]) / each / profile, chosen)
        else:
            _list(runs, keys)
    if not server:
        history_capacity.list_capacities(folder, suite, environment)


def _add(project: Project, folder: Path, name: str) -> Path:
    """Add a record of a run or of a search for capacities. Return its new file in the history."""
    from pushbench.cli.documents import read_named
    from pushbench.metrics.kept import entry_of, require_whole
    from pushbench.records import capacity_history
    from pushbench.records import history as histories
    from pushbench.records.record import Record

    found = read_named(project, name)
    if isinstance(found, Record):
        return histories.append(folder, found)
    require_whole(found)
    return capacity_history.append(folder, entry_of(found))


def _read(project: Project, folder: Path, suite: str, profile: str, environment: str) -> tuple[Runs, list[str]]:
    """Return the runs of the environment, by default the one measured last, and the keys of all environments."""
    from pushbench.records import history as histories
    from pushbench.records.runs import read_runs

    keys = histories.environments(folder, suite, profile)
    if not keys:
        raise _no_run(folder, f"no run of {suite} with the profile {profile}", suite)
    if environment and environment not in keys:
        hint = f"known: {', '.join(keys)}"
        raise UserError(f"no run in the environment {environment!r}", where=str(folder), hint=hint)
    return read_runs(folder, environment or keys[0], suite, profile, project.history_cache), keys


def _tell_method(folder: Path, metric: Metric) -> None:
    from pushbench.metrics.definitions import counted_otherwise
    from pushbench.records.history import method_of

    if said := counted_otherwise([metric], method_of(folder)):
        options.note(said)


def _suites_with_runs(folder: Path, suite: str, profile: str) -> list[str]:
    """The suites of the history that have runs with the profile."""
    from pushbench.records import history as histories

    return sorted({of for _, of, kept in histories.folders(folder) if kept == profile and suite in ("", of)})


def _suites(project: Project, folder: Path, server: str, profile: str) -> list[str]:
    """The suite of a server of the checkout, or all suites of the history. Raises UserError for an empty history."""
    from pushbench.catalog.servers import read_catalog

    own = [each.spec.suite for each in read_catalog(project.servers) if each.id == server]
    found = own or _suites_with_runs(folder, "", profile)
    if not found:
        raise _no_run(folder, f"no run with the profile {profile}")
    return found


def _no_run(folder: Path, what: str, suite: str = "") -> UserError:
    """Return the error for a profile without runs in the history; it names the profiles with runs."""
    from pushbench.records import history as histories

    kept = sorted({profile for _, of, profile in histories.folders(folder) if suite in ("", of)})
    there = f"known: {', '.join(f'--profile {profile}' for profile in kept)}"
    return UserError(
        what, where=str(folder), hint=there if kept else "`./pushbench history --add latest` keeps the newest run"
    )


def _list(runs: Runs, keys: list[str]) -> None:
    rows = []
    for server in runs.servers:
        having = [runs.heads[number] for number in runs.having(server)]
        stages = ", ".join(runs.stages(server))
        rows.append([server, str(len(having)), having[0].created[:10], having[-1].created[:10], stages])
    options.print_table(["server", "runs", "first", "last", "stages"], rows)
    if len(keys) > 1:
        options.note(f"these are of the environment {keys[0]}; other environments: {', '.join(keys[1:])}")


def _metric(project: Project, suite: str, name: str) -> Metric:
    """The metric. Raises UserError if the suite does not have it."""
    from pushbench.catalog.suites import find_suite
    from pushbench.foundation.yamlfile import unknown
    from pushbench.metrics.definitions import cost, metrics_of

    words = find_suite(project.scenarios, suite).spec.words
    metrics = metrics_of(words)
    if name and name not in metrics:
        raise unknown("metric", name, list(metrics))
    return metrics[name or cost(words)]


def _show(runs: Runs, server: str, metric: Metric, stage: str, *, as_csv: bool, as_json: bool) -> None:
    from pushbench.foundation.yamlfile import unknown

    if server not in runs.servers:
        raise unknown("server in the history", server, runs.servers)
    stages = runs.stages(server)
    if stage and stage not in stages:
        raise unknown(f"stage of {server}", stage, stages)
    chosen = stage or (stages[-1] if stages else "")
    points = runs.series(server, chosen, metric.name)
    if as_csv:
        _csv(points)
    elif as_json:
        _json(points, server, metric.name, chosen)
    else:
        _draw(points, server, metric, chosen)


def _csv(points: list[Point]) -> None:
    from pushbench.foundation.text import inert

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["record", "created", "commit", "subject", "value"])
    for each in points:
        writer.writerow([each.record, each.created, each.commit or "", inert(each.subject), each.value])


def _json(points: list[Point], server: str, metric: str, stage: str) -> None:
    from dataclasses import asdict

    from pushbench.statistics import trend

    measured = [each for each in points if each.value]
    values = [each.value for each in measured if each.value]
    found, band = trend.changes(values), trend.band(values)
    options.print_json(
        {
            "server": server,
            "metric": metric,
            "stage": stage,
            "points": [asdict(each) for each in points],
            "changes": [
                {**asdict(each), "record": measured[each.index].record, "commit": measured[each.index].commit}
                for each in found
            ],
            "band": asdict(band) if band else None,
        }
    )


def _draw(points: list[Point], server: str, metric: Metric, stage: str) -> None:
    from pushbench.cli.conclusion import width
    from pushbench.foundation.text import counted, one_line
    from pushbench.metrics.units import format_quantity
    from pushbench.reporting import chart
    from pushbench.statistics import trend

    measured = [each for each in points if each.value]
    values = [each.value for each in measured if each.value]
    left_out = len(points) - len(values)
    print(f"{server}: {metric.title}, stage {stage}, {counted(len(values), 'run')}")
    if not values:
        print("no run measured it, or it was always 0")
        return
    unit = metric.unit
    found, band = trend.changes(values), trend.band(values)
    level = band.level if band else None
    print("\n".join(chart.draw(values, found, level, lambda each: format_quantity(each, unit), width())))
    print(f"{measured[0].created[:10]} to {measured[-1].created[:10]}")
    for change in found:
        before, at = measured[change.index - 1], measured[change.index]
        moved = f"{format_quantity(change.before, unit)} to {format_quantity(change.after, unit)}"
        commits = f"{(before.commit or '?')[:7]}..{(at.commit or '?')[:7]}"
        print(f"changed by {change.ratio - 1:+.1%} ({moved}) in {commits}, {at.created[:10]}: {one_line(at.subject)}")
    if band:
        low, high = format_quantity(band.low, unit), format_quantity(band.high, unit)
        level_and_band = f"level {format_quantity(band.level, unit)}, band {low} to {high}"
        print(f"{level_and_band}, from the last {counted(band.runs, 'run')}")
    else:
        print(f"no band: the current level has fewer than {trend.SHORTEST_LEVEL} runs")
    if left_out:
        print(f"left out (no valid trial, or 0): {counted(left_out, 'run')}")
