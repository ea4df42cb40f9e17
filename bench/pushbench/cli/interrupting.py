"""What commands that measure have in common: progress for whoever waits, and an end on request that loses nothing."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pushbench.cli.options import note
from pushbench.foundation.errors import EXIT_GAVE_WAY

if TYPE_CHECKING:
    from pushbench.measuring.progress import Follower
    from pushbench.records.record import Record

EXIT_INTERRUPTED = 128 + signal.SIGINT


def measure(play: Callable[[Follower], Record], go_on: Callable[[Path], str]) -> Record:
    """What `play` makes. Where it gives way or is ended, say what is safe and how to `go_on` with it, and exit."""
    from pushbench.measuring.common import GaveWay, Interrupted

    try:
        with watching() as watch:
            return play(watch)
    except GaveWay as gave_way:
        done, planned = len(gave_way.record.trials), len(gave_way.record.plan)
        note(f"gave way to {gave_way.reason} after {done} of {planned} trials; go on with `{go_on(gave_way.path)}`")
        raise typer.Exit(EXIT_GAVE_WAY) from None
    except Interrupted as interrupted:
        record = interrupted.record
        note(
            f"interrupted: {len(record.trials)} of {len(record.plan)} trials are safe; "
            f"go on with `{go_on(interrupted.path)}`"
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except KeyboardInterrupt:
        note("interrupted before anything was measured")
        raise typer.Exit(EXIT_INTERRUPTED) from None


@contextlib.contextmanager
def watching() -> Iterator[Follower]:
    """What shows how far it is, until the block is left. Whoever ends the process interrupts the block."""
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    with contextlib.closing(_watch()) as watch:
        yield watch


def _watch() -> Follower:
    from rich.console import Console

    from pushbench.measuring.progress import Lines, Terminal

    return Terminal(Console(stderr=True)) if sys.stderr.isatty() else Lines()
