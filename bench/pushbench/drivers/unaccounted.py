"""The accounts of a program on another machine."""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.machine.procfs import Stat
from pushbench.machine.resources import Usage


class Unaccounted:
    """Processes of another machine."""

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        return []

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage | None:
        return None
