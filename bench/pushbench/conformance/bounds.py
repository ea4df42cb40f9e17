"""How much a server of any suite may print, and how far its memory may grow, while a rule keeps it busy."""

from __future__ import annotations

from pushbench.conformance.rule import Mismatch
from pushbench.machine.resources import Usage

LOG_BOUND = 4096
"""Bytes of output for other reasons. A line for each of 2,000 messages is at least 20,000. The buffer of a program's
standard output may still hold 8,192 of them."""
MIB = 1 << 20
MEMORY_BOUND = 64 * MIB
"""Growth of a server's memory while its slow readers fall behind: 1 MiB for each is allowed; the rest is for heaps that
accumulate garbage before they collect it."""
FURTHER_HEAP = 16 * MIB
"""The same for each further process, which has its own heap and handles a part of the messages."""


def too_much(before: int, after: int) -> str | None:
    """The amount printed between two sizes of the kept output; None if it is within the bound."""
    if after < before:  # a container's log is kept up to a maximum size
        return "so much that the oldest part was dropped"
    return f"{after - before:,} bytes" if after - before > LOG_BOUND else None


def within_bound(before: Usage, after: Usage) -> None:
    """Raises Mismatch if the memory has grown by more than slow readers may cause."""
    bound = MEMORY_BOUND + (after.processes - 1) * FURTHER_HEAP
    grown = after.memory_bytes - before.memory_bytes
    if grown > bound:
        raise Mismatch(f"memory to grow by at most {bound // MIB} MiB", f"{grown // MIB} MiB")
