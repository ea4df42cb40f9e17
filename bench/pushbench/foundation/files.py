"""Atomic writes, lock files, and the ends of logs."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
"""errors of a full disk or quota"""
LOG_TAIL_BYTES = 4096  # about fifty lines: a stack trace and what led to it, and no more in every record


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` with `content` atomically: readers, and a machine after a crash, find the old or the new file.

    Raises OSError with the name of a file; the old one then remains.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException as error:
        aside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)  # a failed write names no file, and users do not know the temporary one
        raise
    _sync_folder(path.parent)


@contextlib.contextmanager
def locked(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file `path`; if another process holds it, call `on_wait` once and wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def tail(path: Path, limit: int = LOG_TAIL_BYTES) -> str:
    """The last whole lines of a file, at most `limit` bytes; empty if there is no file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - limit))
            end = file.read(limit)
    except OSError:
        return ""
    text = end.decode(errors="replace")
    return text if size <= limit else text.partition("\n")[2] or text


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
