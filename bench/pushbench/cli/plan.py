"""`pushbench plan`: the trials of a run, without measuring anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.options import (
    DEFAULT_PROFILE,
    DriverOption,
    JsonOption,
    NamesArgument,
    ParameterOption,
    ProfileOption,
    RoundsOption,
    SeedOption,
    ServersOption,
    SuiteOption,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from pushbench.catalog.suites import Load, Suite
    from pushbench.records.record import PlannedTrial

_EXAMPLES = examples(
    "./pushbench plan",
    "./pushbench plan node-ws fastapi --profile full --rounds 3",
)


def register(app: typer.Typer) -> None:
    app.command("plan", epilog=_EXAMPLES)(plan)


def plan(
    named: NamesArgument = None,
    *,
    suite: SuiteOption = "",
    profile: ProfileOption = DEFAULT_PROFILE,
    servers: ServersOption = "",
    rounds: RoundsOption = 1,
    parameter: ParameterOption = [],  # noqa: B006 - typer only reads it
    seed: SeedOption = 1,
    driver: DriverOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Show the trials of a run, in order, and how long they take."""
    from pushbench.cli.suites_of import each_suite
    from pushbench.drivers.choice import DriverChoice
    from pushbench.foundation.project import Project
    from pushbench.measuring.plan import make_plan
    from pushbench.measuring.preparation import select_servers
    from pushbench.metrics.units import format_elapsed
    from pushbench.records.stages import listing

    project = Project.current()
    given = options.parameters(parameter)

    def of_suite(found: Suite, ids: list[str]) -> Planned:
        load = found.load(profile, given)
        chosen = select_servers(project, found, ids, options.note, DriverChoice(driver))
        return Planned(load, make_plan([each.id for each in chosen.servers], rounds=rounds, seed=seed))

    planned = each_suite(project, suite, options.chosen(named, servers), of_suite)
    if as_json:
        documents = [each.document() for each in planned]
        options.print_json(documents[0] if len(documents) == 1 else documents)
        return
    for each in planned:
        load = each.load
        options.print_wrapped(
            f"{load.suite}, {load.profile}: {listing(load.schedule.stages)}; {_said(load.parameters)}"
        )
        rows = [[str(trial.order + 1), str(trial.round), trial.server] for trial in each.trials]
        options.print_table(["trial", "round", "server"], rows)
    seconds = sum(each.seconds for each in planned)
    options.print_wrapped(f"about {format_elapsed(seconds)}, without builds and verification")


@dataclass(frozen=True)
class Planned:
    """The trials of one suite."""

    load: Load
    trials: Sequence[PlannedTrial]

    @property
    def seconds(self) -> float:
        from pushbench.measuring.plan import trial_seconds

        return trial_seconds(self.load.schedule) * len(self.trials)

    def document(self) -> dict[str, Any]:
        return {
            "suite": self.load.suite,
            "profile": self.load.profile,
            "parameters": self.load.parameters,
            "schedule": self.load.schedule.model_dump(),
            "trials": [each.model_dump() for each in self.trials],
            "seconds": self.seconds,
        }


def _said(parameters: dict[str, str | int | float | bool]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())
