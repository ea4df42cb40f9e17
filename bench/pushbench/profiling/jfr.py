"""Reads the CPU-time samples of a JVM from the output of `jfr print --json`, event by event, as it is large. Pure.

https://openjdk.org/jeps/509
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pushbench.profiling.profile import Frame, Profile, Unprofiled, Window, frame, inside

EVENT = "jdk.CPUTimeSample"
MOST_TEXT = 1 << 30
"""bytes of JSON: a stack of 60 frames takes 40 kB"""
MOST_EVENT = 4 << 20
CHUNK = 1 << 20
SOURCES = "src/main/java"

Text = Annotated[str, Field(max_length=10_000)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class _Type(_Part):
    name: Text = ""


class _Method(_Part):
    type: _Type | None = None
    name: Text = ""


class _Frame(_Part):
    method: _Method | None = None
    lineNumber: Annotated[int, Field(ge=-10, le=1 << 31)] = 0  # noqa: N815 - as the format names it


class _StackTrace(_Part):
    frames: Annotated[list[_Frame], Field(max_length=4096)] = []


class _Values(_Part):
    startTime: Text  # noqa: N815
    stackTrace: _StackTrace | None = None  # noqa: N815
    samplingPeriod: Text  # noqa: N815


class _Event(_Part):
    type: Text
    values: _Values


def add_jfr(profile: Profile, text: IO[str], folder: Path, windows: Sequence[Window], epoch: float) -> None:
    """Add the samples inside `windows`. `epoch` is the wall clock minus the monotonic clock, in seconds. A sample
    counts the CPU time since the previous one, which exceeds the requested period if the kernel's clock ticks slowly.

    Raises Unprofiled for anything but the output of `jfr print --json`.
    """
    known: dict[tuple[str, str], Frame] = {}
    for raw in _events(text):
        try:
            event = _Event.model_validate(raw)
            at = datetime.fromisoformat(_microseconds(event.values.startTime)).timestamp() - epoch
            lasting = _seconds(event.values.samplingPeriod)
        except (ValidationError, ValueError) as error:
            raise Unprofiled(f"not the output of `jfr print`: {str(error).splitlines()[0]}") from None
        if event.type == EVENT and event.values.stackTrace and inside(at, windows):
            frames = [_frame(each, folder, known) for each in event.values.stackTrace.frames]
            profile.add(frames[::-1], lasting)


def _events(text: IO[str]) -> Iterator[object]:
    """The objects of the array `events`, one at a time."""
    decoder, buffer, read = json.JSONDecoder(), "", 0
    begun = False
    while chunk := text.read(CHUNK):
        read += len(chunk)
        buffer += chunk
        if read > MOST_TEXT or len(buffer) > MOST_EVENT + CHUNK:
            raise Unprofiled("the output of `jfr print` is too large for a profile")
        if not begun:
            begin = re.search(r'"events"\s*:\s*\[', buffer)
            if not begin:
                continue
            begun, buffer = True, buffer[begin.end() :]
        position = 0
        while True:
            next_object = _next_object(buffer, position)
            if next_object is None:
                break
            try:
                found, position = decoder.raw_decode(buffer, next_object)
            except (json.JSONDecodeError, RecursionError):
                break
            yield found
        buffer = buffer[position:]
    if not begun:
        raise Unprofiled("not the output of `jfr print`: it has no events")
    if _next_object(buffer, 0) is not None:
        raise Unprofiled("not the output of `jfr print`: it ends in the middle of an event")


def _next_object(buffer: str, position: int) -> int | None:
    found = re.compile(r"[\s,]*(?=\{)").match(buffer, position)
    return found.end() if found else None


def _frame(raw: _Frame, folder: Path, known: dict[tuple[str, str], Frame]) -> Frame:
    method = raw.method or _Method()
    owner = _without_numbers(method.type.name if method.type else "").replace("/", ".")
    name = _without_numbers(method.name)
    key = (owner, name)
    if key not in known:
        outer = owner.partition("$")[0].replace(".", "/") + ".java"
        source = f"{SOURCES}/{outer}"
        own = bool(owner) and ".." not in outer and (folder / source).is_file()
        short = owner.rpartition(".")[2] if own else owner
        known[key] = frame(f"{short}.{name}" if owner else name, source if own else "", own=own)
    found = known[key]
    line = raw.lineNumber if raw.lineNumber > 0 and found.own else None
    return Frame(found.function, found.file, line, found.own)


def _without_numbers(name: str) -> str:
    """The name of a lambda or a hidden class without the numbers that differ between two starts."""
    return re.sub(r"(\$\$Lambda|lambda\$\w*?\$|\$\$[A-Za-z]+\$\$|/0x)[0-9a-fx/]+", r"\1", name).removesuffix("/0x")


def _microseconds(time: str) -> str:
    """An ISO time without the digits beyond microseconds, which Python cannot parse."""
    return re.sub(r"(\.\d{6})\d+", r"\1", time)


def _seconds(duration: str) -> float:
    """The seconds of an ISO duration such as `PT0.001S`."""
    found = re.fullmatch(r"PT(?:(\d{1,4})M)?(\d{1,6}(?:\.\d{1,9})?)S", duration)
    if not found:
        raise ValueError(f"not a duration: {duration[:40]!r}")
    return 60 * int(found[1] or 0) + float(found[2])
