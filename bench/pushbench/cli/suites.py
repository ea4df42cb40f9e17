"""`pushbench suites`: the workloads and their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli.examples import examples
from pushbench.cli.options import JsonOption, print_json, print_table, print_wrapped

if TYPE_CHECKING:
    from pushbench.catalog.suites import Suite


_EXAMPLES = examples(
    "./pushbench suites",
    "./pushbench suites token-stream",
    "./pushbench suites --json",
)


def register(app: typer.Typer) -> None:
    app.command("suites", epilog=_EXAMPLES)(suites)


def suites(
    name: Annotated[
        str, typer.Argument(help="A suite, to show with its metrics.", metavar="NAME", show_default="all, briefly")
    ] = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """List the suites, their profiles and parameters.

    With a NAME, also lists the metrics of that suite.
    """
    from pushbench.catalog.suites import find_suite, read_suites
    from pushbench.foundation.project import Project

    scenarios = Project.current().scenarios
    found = [find_suite(scenarios, name)] if name else read_suites(scenarios)
    if as_json:
        documents = [{"id": suite.id, **suite.spec.model_dump()} for suite in found]
        print_json({**documents[0], "metrics": _metrics(found[0])} if name else documents)
        return
    for suite in found:
        _print(suite)
    if name:
        rows = [[each["name"], each["title"], each["unit"], each["better"]] for each in _metrics(found[0])]
        print()
        print_table(["metric", "title", "unit", "better"], rows)
        print()
        print_table(["a change of", "counts from"], _margins(found[0]))


def _metrics(suite: Suite) -> list[dict[str, str]]:
    from pushbench.metrics.definitions import metrics_of

    return [
        {"name": each.name, "title": each.title, "unit": each.unit.value, "better": each.better.value}
        for each in metrics_of(suite.spec.words).values()
    ]


def _margins(suite: Suite) -> list[list[str]]:
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.foundation.project import Project
    from pushbench.judging.sentences import margin

    found = thresholds_of(Project.current()).suite(suite.id).regressions
    return [[each.metric, margin(each)] for each in found]


def _print(suite: Suite) -> None:
    from pushbench.measuring.plan import trial_seconds
    from pushbench.metrics.units import format_elapsed
    from pushbench.records.stages import listing

    print_wrapped(f"{suite.id}: {suite.spec.description}")
    print_wrapped(", ".join(suite.spec.protocols), "  protocols   ")
    print_wrapped(", ".join(f"{name}={value}" for name, value in suite.spec.parameters.items()), "  parameters  ")
    for name, profile in suite.spec.profiles.items():
        schedule = suite.load(name, {}).schedule
        stages, long = listing(schedule.stages), format_elapsed(trial_seconds(schedule))
        print_wrapped(f"{stages}; {profile.steady_seconds:g} s each, {long} a trial", f"  {name:<10}  ")
