"""The commit of the sources that a run measured, read from git. Read only."""

from __future__ import annotations

from pathlib import Path

from pushbench.foundation.git import git
from pushbench.records.environment import Commit


def read_commit(root: Path) -> Commit | None:
    """The commit that is checked out at `root`; None outside a git checkout, and before the first commit."""
    written = git(root, "log", "-1", "--format=%H%x00%aI%x00%s").text
    if not written:
        return None
    sha, author_time, subject = written.split("\0", 2)
    return Commit(
        sha=sha,
        ref=git(root, "symbolic-ref", "--quiet", "--short", "HEAD").text or "HEAD",
        subject=subject,
        author_time=author_time,
        dirty=bool(git(root, "status", "--porcelain").text),
    )
