"""What git knows of the sources that a run measured. Read only."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pushbench.record import Commit


def read_commit(root: Path) -> Commit | None:
    """The commit that is checked out at `root`; None outside a git checkout, and before the first commit."""
    written = _git(root, "log", "-1", "--format=%H%x00%aI%x00%s")
    if not written:
        return None
    sha, author_time, subject = written.split("\0", 2)
    return Commit(
        sha=sha,
        ref=_git(root, "symbolic-ref", "--quiet", "--short", "HEAD") or "HEAD",
        subject=subject,
        author_time=author_time,
        dirty=bool(_git(root, "status", "--porcelain")),
    )


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
