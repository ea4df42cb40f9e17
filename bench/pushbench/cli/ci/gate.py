"""`pushbench ci gate`: what the jobs of a workflow amount to."""

from __future__ import annotations

import os

import typer

from pushbench.errors import EXIT_FAIL, EXIT_PASS

_EXAMPLE = 'Example: `NEEDS=\'{"plan": ..., "bench": ...}\' pushbench ci gate`.'


def register(group: typer.Typer) -> None:
    group.command("gate", epilog=_EXAMPLE)(gate)


def gate() -> None:
    """Say whether the jobs of the workflow amount to a pass; NEEDS is `toJSON(needs)`.

    Exit code: 0 when everything planned was measured and passes, or nothing was to be measured; else 1.
    """
    from pushbench.ci import actions
    from pushbench.ci.gate import decide, read_needs

    answer = decide(read_needs(os.environ.get("NEEDS", "")))
    actions.annotate("notice" if answer.passes else "error", answer.sentence)
    print(answer.sentence)
    raise typer.Exit(EXIT_PASS if answer.passes else EXIT_FAIL)
