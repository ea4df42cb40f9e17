"""The resource use of a program over restarts, as if it had never been restarted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pushbench.machine.procfs import Stat
from pushbench.machine.resources import Accounted, Usage


class Lives:
    """The accounts of a program over its lives. Counters add up; levels are those of the current life."""

    def __init__(self, first: Accounted) -> None:
        self._present = first
        self._cpu = self._user = self._system = 0.0

    def end(self) -> None:
        """Read the use of the current life, just before it is ended."""
        if last := self._present.usage():
            self._cpu += last.cpu_seconds
            self._user += last.user_seconds or 0.0
            self._system += last.system_seconds or 0.0

    def begin(self, next_life: Accounted) -> None:
        self._present = next_life

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        return self._present.members(everyone)

    def open_sockets(self) -> int:
        return self._present.open_sockets()

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage | None:
        """The use over all lives; None between two lives."""
        now = self._present.usage(everyone, by_thread=by_thread)
        return now and replace(
            now,
            cpu_seconds=now.cpu_seconds + self._cpu,
            user_seconds=None if now.user_seconds is None else now.user_seconds + self._user,
            system_seconds=None if now.system_seconds is None else now.system_seconds + self._system,
        )
