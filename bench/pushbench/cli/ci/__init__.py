"""`pushbench ci`: the steps of the workflows, which also run on a laptop. One module a command."""

from __future__ import annotations

import typer

from pushbench.cli.ci import adopt, bench, clean_images, gate, images, plan, publish, report


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="What the workflows on GitHub do.", no_args_is_help=True)
    for command in (plan, images, bench, report, publish, gate, adopt, clean_images):
        command.register(group)
    app.add_typer(group, name="ci")
