"""Git: the only module that runs it. Without git, or outside a checkout, the answers are empty."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NOT_FOUND = 127
"""a shell's exit code for a command that does not exist"""


@dataclass(frozen=True)
class Answer:
    code: int
    output: str
    """file names that are not UTF-8 survive, as surrogates"""
    error: str

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def text(self) -> str:
        """The output without its final newline; empty if git failed."""
        return self.output.strip() if self.ok else ""


def git(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> Answer:
    """Run `git arguments` in `folder`, with `environment` added to this process's. Never raises: the answer contains a
    failure.
    """
    variables = None if environment is None else {**os.environ, **environment}
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False, env=variables)
    except OSError as error:
        return Answer(NOT_FOUND, "", str(error))
    return Answer(done.returncode, os.fsdecode(done.stdout), os.fsdecode(done.stderr).strip())


def describe(folder: Path) -> str:
    """The newest tag with the number of commits since, such as `v1.2.3-4-g1a2b3c4`, or the commit alone; with `-dirty`
    if files changed. `of unknown version` outside a checkout.
    """
    return git(folder, "describe", "--tags", "--always", "--dirty").text or "of unknown version"
