"""`pushbench ci`: the steps of the workflows, which also run on a laptop. One module a command."""

from __future__ import annotations

import typer

from pushbench.cli.ci import (
    admit,
    adopt,
    alert,
    bench,
    clean_images,
    command,
    doctor,
    fetch,
    go_on,
    images,
    join,
    night,
    plan,
    publish,
    report,
    tell,
    watch,
)


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="What the workflows on GitHub do.", no_args_is_help=True)
    for each in (
        *(plan, fetch, images, bench, join, go_on, tell, night, report, alert, publish),
        *(admit, adopt, command, watch, clean_images, doctor),
    ):
        each.register(group)
    app.add_typer(group, name="ci")
