"""`pushbench suites`: the workloads and their sizes."""

from __future__ import annotations

import typer

from pushbench.cli.options import JsonOption, print_json


def register(app: typer.Typer) -> None:
    app.command("suites")(suites)


def suites(*, as_json: JsonOption = False) -> None:
    """List the suites with their profiles and parameters."""
    from pushbench.plan import trial_seconds
    from pushbench.project import Project
    from pushbench.stages import listing
    from pushbench.suites import read_suites
    from pushbench.units import format_elapsed

    found = read_suites(Project.current().scenarios)
    if as_json:
        print_json([{"id": suite.id, **suite.spec.model_dump()} for suite in found])
        return
    for suite in found:
        print(f"{suite.id}: {suite.spec.description}")
        print(f"  protocols   {', '.join(suite.spec.protocols)}")
        print(f"  parameters  {', '.join(f'{name}={value}' for name, value in suite.spec.parameters.items())}")
        for name, profile in suite.spec.profiles.items():
            schedule = suite.load(name, {}).schedule
            stages, long = listing(schedule.stages), format_elapsed(trial_seconds(schedule))
            print(f"  {name:<10}  {stages}; {profile.steady_seconds:g} s each, {long} a trial")
