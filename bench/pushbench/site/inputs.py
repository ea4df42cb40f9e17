"""The inputs of a site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Thresholds
from pushbench.site.releases import Release

Note = Callable[[str], None]
"""Shows progress to the user."""


@dataclass(frozen=True)
class Inputs:
    """`records` has full records, `history` is a history of small files; either may be empty or missing."""

    project: Project
    records: Path
    history: Path
    thresholds: Thresholds
    repository: str | None = None
    keep: int | None = None
    """the number of full records that the site keeps, see `keeping`; None for all"""
    released: Sequence[Release] = ()
    """releases known to this checkout; releases that an earlier site listed may be missing"""
    capacities: Path | None = None
    """a folder of capacity records, in addition to those of the site"""
