"""What a site is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Thresholds
from pushbench.site.releases import Release

Note = Callable[[str], None]
"""Tells the person who waits what is being done."""


@dataclass(frozen=True)
class Inputs:
    """`records` has full records, `history` is one of small files; either may be empty or not be there."""

    project: Project
    records: Path
    history: Path
    thresholds: Thresholds
    repository: str | None = None
    keep: int | None = None
    """how many full records the site keeps, see `keeping`; None for all"""
    released: Sequence[Release] = ()
    """releases that can be seen from here; those that an earlier site knew need not be among them"""
    capacities: Path | None = None
    """a folder of capacity records, beside those that the site has"""
