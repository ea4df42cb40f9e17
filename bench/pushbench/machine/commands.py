"""Programs that print an answer and end by themselves: their output, or why they fail, in one line."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class CommandFailed(Exception):
    """A program failed; the message is its own (one line)."""


class CommandTimedOut(CommandFailed):
    """A program did not end in time."""


def answer(
    command: Sequence[str],
    seconds: float,
    *,
    named: str,
    given: bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """The output of a program, with `given` on its input. Raises CommandFailed, with `named` if it prints nothing."""
    try:
        done = subprocess.run(
            command,
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            timeout=seconds,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise CommandTimedOut(f"`{named}` did not answer within {seconds:g} s") from None
    except OSError as error:
        raise CommandFailed(f"{Path(command[0]).name}: {error.strerror}") from None
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
        raise CommandFailed(lines[-1] if lines else f"`{named}` ended with {done.returncode}")
    return done
