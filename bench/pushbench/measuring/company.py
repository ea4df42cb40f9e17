"""Trials that run at the same time: what they share, and how they begin and end together.

Both arms of a comparison see the same machine at the same moments, so a disturbance affects both. The remaining
difference is due to the builds (Bulej et al., Duet Benchmarking, ICPE 2020).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from pushbench.machine.resources import Accounted

Result = TypeVar("Result")


class Cancelled(Exception):
    """Another trial of the company failed in a way that ends the run."""


@dataclass
class Company:
    """The trials that run at the same time. A trial that runs alone has a company of its own."""

    size: int = 1
    programs: list[Accounted] = field(default_factory=list)
    """the programs of all its trials: none of them is a disturbance from outside"""

    def __post_init__(self) -> None:
        self._starting = threading.Lock()
        self._ready = threading.Barrier(self.size)
        self._cancelled = threading.Event()

    @contextlib.contextmanager
    def starting(self) -> Iterator[None]:
        """Start one server at a time: a port found to be free is taken before another server looks for one."""
        with self._starting:
            yield

    def meet(self) -> None:
        """Wait until the servers of all trials are running, or one of the trials has ended without a server."""
        with contextlib.suppress(threading.BrokenBarrierError):
            self._ready.wait()
        self.require_going_on()

    def leave(self) -> None:
        """End this trial's part: no other trial waits for it."""
        self._ready.abort()

    def cancel(self) -> None:
        self._cancelled.set()
        self.leave()

    def require_going_on(self) -> None:
        """Raises Cancelled."""
        if self._cancelled.is_set():
            raise Cancelled


def run_together(trials: Sequence[Callable[[Company], Result]]) -> list[Result]:
    """Run all trials at the same time. When one raises, or the user ends the run, the others end early."""
    company = Company(len(trials))
    with ThreadPoolExecutor(len(trials), thread_name_prefix="trial") as pool:
        running = [pool.submit(trial, company) for trial in trials]
        try:
            return [each.result() for each in running]
        except BaseException:
            company.cancel()
            raise
