"""Trials that run at the same time: what they have to know of each other, and how they are begun and ended together.

Both arms of a comparison see the same machine in the same moments, so what disturbs one disturbs the other: what is
left of their difference is the builds' (Bulej et al., Duet Benchmarking, ICPE 2020).
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
    """The trials that run at the same time. One that runs alone has a company of its own."""

    size: int = 1
    programs: list[Accounted] = field(default_factory=list)
    """of all its trials: none of them disturbs another from outside"""

    def __post_init__(self) -> None:
        self._starting = threading.Lock()
        self._ready = threading.Barrier(self.size)
        self._cancelled = threading.Event()

    @contextlib.contextmanager
    def starting(self) -> Iterator[None]:
        """One server starts at a time: a port that is found to be free is taken before another looks for one."""
        with self._starting:
            yield

    def meet(self) -> None:
        """Wait until the servers of all trials are there, or one of the trials has ended without."""
        with contextlib.suppress(threading.BrokenBarrierError):
            self._ready.wait()
        self.require_going_on()

    def leave(self) -> None:
        """This trial has ended: nobody waits for it."""
        self._ready.abort()

    def cancel(self) -> None:
        self._cancelled.set()
        self.leave()

    def require_going_on(self) -> None:
        """Raises Cancelled."""
        if self._cancelled.is_set():
            raise Cancelled


def run_together(trials: Sequence[Callable[[Company], Result]]) -> list[Result]:
    """All at the same time. When one raises, or somebody ends the run, the others end early."""
    company = Company(len(trials))
    with ThreadPoolExecutor(len(trials), thread_name_prefix="trial") as pool:
        running = [pool.submit(trial, company) for trial in trials]
        try:
            return [each.result() for each in running]
        except BaseException:
            company.cancel()
            raise
