"""Shows arguments in help as `SERVER...`, without the Python types that typer adds."""

from __future__ import annotations

from functools import cache
from typing import Any

import typer.main
from typer.core import TyperArgument


class NamedArgument(TyperArgument):
    """An argument that help shows by its name."""

    def get_help_record(self, ctx: Any) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        several = "" if self.nargs == 1 else "..."
        return record and (f"{self.display_name_raw}{several}", record[1])


@cache  # the result never changes, and typer takes 50 ms to build it
def command_of(app: typer.Typer) -> Any:
    """Return the command line that typer builds from `app`, with a NamedArgument for each argument."""
    command = typer.main.get_command(app)
    _name_arguments(command)
    return command


def _name_arguments(command: Any) -> None:
    for parameter in command.params:
        if isinstance(parameter, TyperArgument):
            parameter.__class__ = NamedArgument
    for child in getattr(command, "commands", {}).values():
        _name_arguments(child)
