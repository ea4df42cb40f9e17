"""Messages of a step to GitHub Actions: outputs, the step summary, and log lines that are not commands."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

LARGEST_SUMMARY = 1 << 20
"""bytes per step; a larger summary is dropped as a whole"""


def set_outputs(values: Mapping[str, str]) -> None:
    """Set outputs for later steps and jobs; does nothing outside Actions."""
    file = os.environ.get("GITHUB_OUTPUT")
    if file:
        with Path(file).open("a") as output:
            for name, value in values.items():
                end = f"end-{secrets.token_hex(16)}"  # the value cannot contain it, as it is random
                output.write(f"{name}<<{end}\n{value}\n{end}\n")


def add_summary(text: str) -> None:
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if file:
        content = text.encode()[: LARGEST_SUMMARY // 2].decode(errors="ignore")
        with Path(file).open("a") as output:
            output.write(content + "\n")


@contextlib.contextmanager
def inert_log() -> Iterator[None]:
    """Disable workflow commands in the printed log meanwhile, because servers and clients choose some of its text."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        yield
        return
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)
    try:
        yield
    finally:
        print(f"::{token}::", flush=True)


def annotate(level: str, message: str) -> None:
    """Print a line at the top of the run's page, visible without opening logs; does nothing outside Actions."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        print(f"::{level}::{escaped}", flush=True)
