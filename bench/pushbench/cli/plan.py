"""`pushbench plan`: what a run would do, without doing it."""

from __future__ import annotations

import typer

from pushbench.cli import options
from pushbench.cli.options import (
    DEFAULT_PROFILE,
    DEFAULT_SUITE,
    DriverOption,
    JsonOption,
    ParameterOption,
    ProfileOption,
    RoundsOption,
    SeedOption,
    ServersOption,
    SuiteOption,
)

_EXAMPLES = "Examples: `pushbench plan`; `pushbench plan --profile full --servers node-ws,fastapi --rounds 3`."


def register(app: typer.Typer) -> None:
    app.command("plan", epilog=_EXAMPLES)(plan)


def plan(
    *,
    suite: SuiteOption = DEFAULT_SUITE,
    profile: ProfileOption = DEFAULT_PROFILE,
    servers: ServersOption = "",
    rounds: RoundsOption = 1,
    parameter: ParameterOption = [],  # noqa: B006 - typer reads it, nobody changes it
    seed: SeedOption = 1,
    driver: DriverOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Show the trials of a run, in their order, and how long they take."""
    from pushbench.driver_choice import DriverChoice
    from pushbench.plan import make_plan, trial_seconds
    from pushbench.preparation import select_servers
    from pushbench.project import Project
    from pushbench.stages import listing
    from pushbench.suites import find_suite
    from pushbench.units import format_elapsed

    project = Project.current()
    found = find_suite(project.scenarios, suite)
    load = found.load(profile, options.parameters(parameter))
    chosen = select_servers(project, found, options.names(servers), options.note, DriverChoice(driver))
    trials = make_plan([each.id for each in chosen.servers], rounds=rounds, seed=seed)
    seconds = trial_seconds(load.schedule) * len(trials)
    if as_json:
        options.print_json(
            {
                "suite": load.suite,
                "profile": load.profile,
                "parameters": load.parameters,
                "schedule": load.schedule.model_dump(),
                "trials": [each.model_dump() for each in trials],
                "seconds": seconds,
            }
        )
        return
    print(f"{load.suite}, {load.profile}: {listing(load.schedule.stages)}; {_said(load.parameters)}")
    options.print_table(
        ["trial", "round", "server"], [[str(each.order + 1), str(each.round), each.server] for each in trials]
    )
    print(f"about {format_elapsed(seconds)}, builds and verification left out")


def _said(parameters: dict[str, str | int | float | bool]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())
