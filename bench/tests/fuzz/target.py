"""The target of a fuzz campaign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A reader of hostile bytes."""

    name: str
    seeds: Sequence[bytes]
    """valid inputs, which are mutated"""
    read: Callable[[bytes], bool]
    """Returns whether the input would count as a pass. UserError is the only exception that it may raise."""
