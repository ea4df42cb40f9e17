"""Calls a function for each suite of a command's servers, one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from pushbench.cli.options import note
from pushbench.foundation.errors import UserError

if TYPE_CHECKING:
    from pushbench.catalog.suites import Suite
    from pushbench.foundation.project import Project

T = TypeVar("T")


def each_suite(
    project: Project, suite: str, names: Sequence[str], do: Callable[[Suite, list[str]], T], *, alone: bool = False
) -> list[T]:
    """Return the results of `do` for each suite and the ids of its servers.

    A suite without a server that can run here is left out with a note. Raises UserError if no suite is left, or if
    there are several and the command takes one `alone`.
    """
    from pushbench.catalog.suites import find_suite
    from pushbench.measuring.preparation import NothingToRun, by_suite

    chosen = by_suite(project, suite, names)
    if alone and len(chosen) > 1:
        raise UserError(f"servers of {len(chosen)} suites: {', '.join(chosen)}", hint="choose one with --suite")
    found: list[T] = []
    for index, (name, ids) in enumerate(chosen.items()):
        try:
            found.append(do(find_suite(project.scenarios, name), ids))
        except NothingToRun as error:
            if not found and index == len(chosen) - 1:
                raise
            note(f"{name}: left out: {error}")
    return found
