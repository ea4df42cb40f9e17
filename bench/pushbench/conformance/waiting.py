"""Waits for a server's end, and signals that a rule only waits, so that the next server may use the CPU."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_hearer = ContextVar[Callable[[], None]]("hearer", default=lambda: None)


def only_waits() -> None:
    """All that remains is the server's exit, which takes seconds if a client does not answer its close."""
    _hearer.get()()


async def begins_to_end(ends: Collection[asyncio.Task[Any]], ending: asyncio.Task[Any], replicas: int) -> None:
    """Wait until the server lets its first client go, or has ended. With several replicas, wait until all clients are
    let go, because each replica gets SIGTERM at a different time and accepts clients until then.
    """
    if replicas > 1:
        await asyncio.wait(ends)
    else:
        await asyncio.wait({*ends, ending}, return_when=asyncio.FIRST_COMPLETED)


@contextmanager
def hearing(hearer: Callable[[], None]) -> Iterator[None]:
    """Have `hearer` called when a rule that is checked in the block only waits."""
    token = _hearer.set(hearer)
    try:
        yield
    finally:
        _hearer.reset(token)
