"""Tells that a rule only waits from here on, so that the next server may have the CPU meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_hearer = ContextVar[Callable[[], None]]("hearer", default=lambda: None)


def only_waits() -> None:
    """Nothing is left of the server but its exit, which takes seconds where a client does not answer its close."""
    _hearer.get()()


@contextmanager
def hearing(hearer: Callable[[], None]) -> Iterator[None]:
    """Have `hearer` called where a rule that is checked in the block only waits."""
    token = _hearer.set(hearer)
    try:
        yield
    finally:
        _hearer.reset(token)
