"""What measuring commands have in common: progress, and interruption without loss."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pushbench.cli.options import note
from pushbench.foundation.errors import EXIT_GAVE_WAY

if TYPE_CHECKING:
    from pushbench.judging.thresholds import Thresholds
    from pushbench.records.record import Record
    from pushbench.watching.progress import Follower

EXIT_INTERRUPTED = 128 + signal.SIGINT


def measure(
    play: Callable[[Follower], Record], go_on: Callable[[Path], str], drawn: Thresholds | None = None
) -> Record:
    """Return the record of `play`. If it gives way or is interrupted, print what is kept and how to `go_on`, and exit.

    With `drawn`, draw the load with these limits on the terminal, which has to be `drawable`.
    """
    from pushbench.measuring.common import GaveWay, Interrupted

    try:
        with watching(drawn) as watch:
            return play(watch)
    except GaveWay as gave_way:
        done, planned = len(gave_way.record.trials), len(gave_way.record.plan)
        note(f"gave way to {gave_way.reason} after {done} of {planned} trials; continue with `{go_on(gave_way.path)}`")
        raise typer.Exit(EXIT_GAVE_WAY) from None
    except Interrupted as interrupted:
        record = interrupted.record
        note(
            f"interrupted: {len(record.trials)} of {len(record.plan)} trials are kept; "
            f"continue with `{go_on(interrupted.path)}`"
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except KeyboardInterrupt:
        note("interrupted before anything was measured")
        raise typer.Exit(EXIT_INTERRUPTED) from None


@contextlib.contextmanager
def watching(drawn: Thresholds | None = None) -> Iterator[Follower]:
    """Yield what shows progress, until the block is left. A signal to terminate interrupts the block."""
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    with contextlib.closing(_watch(drawn)) as watch:
        yield watch


def _watch(drawn: Thresholds | None) -> Follower:
    from rich.console import Console

    from pushbench.watching.drawing import Drawn
    from pushbench.watching.progress import Lines, Terminal

    if drawn is not None:
        return Drawn(Console(stderr=True), drawn)
    return Terminal(Console(stderr=True)) if sys.stderr.isatty() else Lines()


def drawable() -> bool:
    """Return whether the terminal can show a drawing; if not, print why."""
    if reason := _undrawable():
        note(f"--watch: {reason}; showing the usual progress instead")
    return reason is None


def _undrawable() -> str | None:
    if not sys.stderr.isatty():
        return "stderr is not a terminal"
    if os.environ.get("NO_COLOR"):
        return "NO_COLOR is set"
    terminal = os.environ.get("TERM", "")
    return f"TERM is {terminal or 'not set'}" if terminal in ("", "dumb", "unknown") else None
