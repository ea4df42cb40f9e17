"""The account of a program on another machine: it is empty."""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.machine.procfs import Stat
from pushbench.machine.resources import Usage


class Unaccounted:
    """Processes on another machine."""

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        return []

    def open_sockets(self) -> int:
        raise LookupError("the sockets of a program on another machine cannot be counted")

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage | None:
        return None
