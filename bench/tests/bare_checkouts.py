"""Checkouts with the generator and limits of this checkout and no servers, to run whole commands as a user does."""

from __future__ import annotations

import os
from pathlib import Path

from pushbench.foundation.project import Project

CHECKOUT = Project.at(Path(__file__).parents[2])


def make_bare_checkout(root: Path) -> Path:
    """A checkout that uses the k6 of this checkout, which is built only once."""
    bare = Project.at(root)
    built = CHECKOUT.cache / "k6"
    built.mkdir(parents=True, exist_ok=True)
    bare.cache.mkdir(parents=True)
    bare.generator.symlink_to(CHECKOUT.generator)
    (bare.cache / "k6").symlink_to(built)
    bare.thresholds.symlink_to(CHECKOUT.thresholds)
    return root


def environment_of(checkout: Path, **more: str) -> dict[str, str]:
    """The environment of a command there: it runs the code of this checkout, and waits for no other test."""
    own = {"PUSHBENCH_ROOT": str(checkout), "PUSHBENCH_LOCK": str(checkout / "lock"), "NO_COLOR": "1"}
    return {**os.environ, "PYTHONPATH": str(CHECKOUT.root / "bench"), **own, **more}
