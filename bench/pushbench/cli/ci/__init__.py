"""`pushbench ci`: the steps of the workflows, which also run on a laptop. One module a command."""

from __future__ import annotations

import typer

from pushbench.cli.ci import (
    admit,
    adopt,
    bench,
    command,
    doctor,
    fetch,
    go_on,
    images,
    night,
    plan,
    publish,
    report,
    tell,
)


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="What the workflows on GitHub do.", no_args_is_help=True)
    for each in (plan, fetch, images, bench, go_on, tell, night, report, publish, admit, adopt, command, doctor):
        each.register(group)
    app.add_typer(group, name="ci")
