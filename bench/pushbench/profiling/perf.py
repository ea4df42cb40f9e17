"""Reads the output of `perf script` for the CPU-clock samples of processes. Pure.

Each sample is a line `pid time: period`, followed by a line `address symbol (file)` for each frame, the innermost
first. A stripped Go binary has no symbols for perf: `go tool addr2line` names its addresses. For a frame of a program,
the address is its offset in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pushbench.profiling.elf import Segment, address_of
from pushbench.profiling.naming import place, unversioned
from pushbench.profiling.profile import DEEPEST, Frame, Profile, Unprofiled, Window, frame, inside

FIELDS = "pid,time,period,ip,sym,dso"
KERNEL = Frame("(kernel)")
KERNEL_ADDRESSES = 1 << 63
MOST_ADDRESSES = 200_000

_SAMPLE = re.compile(r"\s*\d{1,10}\s+(?P<time>\d{1,10}\.\d{1,9}):\s+(?P<period>\d{1,12})\s*:?\s*")
_FRAME = re.compile(r"\s*(?P<address>[0-9a-f]{1,16})\s+(?P<symbol>.*?)\s+\((?P<file>[^()]*)\)\s*")


@dataclass(frozen=True)
class Address:
    """A frame as perf reports it."""

    address: int
    symbol: str
    file: str


@dataclass(frozen=True)
class Sample:
    at: float
    """by the monotonic clock, in seconds"""
    seconds: float
    addresses: Sequence[Address]
    """the innermost frame first"""


def read_samples(content: bytes, windows: Sequence[Window]) -> list[Sample]:
    """The samples inside `windows`. Raises Unprofiled for a line of neither kind."""
    found: list[Sample] = []
    frames: list[Address] | None = None
    for number, line in enumerate(content.decode(errors="replace").split("\n"), start=1):
        if not line.strip():
            continue
        if sample := _SAMPLE.fullmatch(line):
            frames = []
            at = float(sample["time"])
            if inside(at, windows):
                found.append(Sample(at, int(sample["period"]) / 1e9, frames))
        elif (each := _FRAME.fullmatch(line)) and frames is not None:
            if len(frames) < DEEPEST:
                frames.append(Address(int(each["address"], 16), each["symbol"], each["file"]))
        else:
            raise Unprofiled(f"not the output of `perf script`: line {number}")
    return found


Names = Mapping[int, tuple[str, str]]
"""function and `file:line` for addresses in a binary"""


def add_perf(profile: Profile, samples: Sequence[Sample], binary: Path, names: Names, module: str = "") -> None:
    """Add samples. `names` are the names for `lookups` of the binary; files of a Go `module` are the server's own."""
    for sample in samples:
        frames = list(_frames(sample, binary, names, module))
        profile.add(frames[::-1] or [Frame("(unknown)")], sample.seconds)


def lookups(samples: Sequence[Sample], binary: Path) -> list[int]:
    """The addresses of the binary in the samples; a caller's address is one before its return address."""
    found = {
        _place(each, depth) for sample in samples for depth, each in enumerate(sample.addresses) if _is(each, binary)
    }
    if len(found) > MOST_ADDRESSES:
        raise Unprofiled(f"the profile has more than {MOST_ADDRESSES:,} addresses")
    return sorted(found)


def go_names(
    addresses: Sequence[int], code: Sequence[Segment], look_up: Callable[[str], str]
) -> dict[int, tuple[str, str]]:
    """Names from `go tool addr2line`, which prints two lines for each address."""
    lines = look_up("".join(f"0x{address_of(each, code):x}\n" for each in addresses)).splitlines()
    if len(lines) != 2 * len(addresses):
        raise Unprofiled("`go tool addr2line` does not name the functions of the server")
    return dict(zip(addresses, zip(lines[::2], lines[1::2], strict=True), strict=True))


def _frames(sample: Sample, binary: Path, names: Names, module: str) -> Iterator[Frame]:
    """The frames, innermost first; the kernel's frames are merged into one."""
    before: Frame | None = None
    for depth, each in enumerate(sample.addresses):
        named = names.get(_place(each, depth)) if _is(each, binary) else None
        if each.address >= KERNEL_ADDRESSES or "[kernel" in each.file:
            found = KERNEL
        elif named and named[0] not in ("?", ""):
            found = _of_go(*named, module)
        elif each.symbol and each.symbol != "[unknown]":
            found = frame(_symbol(each.symbol))
        else:
            found = frame(f"({PurePosixPath(each.file).name or 'unknown'})")
        if found != before or found.file:
            yield found
        before = found


def _is(each: Address, binary: Path) -> bool:
    return each.address < KERNEL_ADDRESSES and each.file in (str(binary), str(binary.resolve()))


def _place(each: Address, depth: int) -> int:
    return each.address - 1 if depth else each.address


def _of_go(function: str, where: str, module: str) -> Frame:
    file, _, number = where.rpartition(":")
    line = int(number) if number.isdecimal() and len(number) < 10 else None
    if module and file.startswith(f"{module}/"):
        return frame(function, file.removeprefix(f"{module}/"), line, own=True)
    if file.startswith("./"):
        return frame(function, file.removeprefix("./"), line, own=True)
    shown = place(file, Path("/nowhere"))[0] if file.startswith("/") else unversioned(file)
    return frame(function, "" if shown == "?" else shown, line)


def _symbol(symbol: str) -> str:
    """The symbol without the hash that each build adds to a Rust function."""
    return re.sub(r"::h[0-9a-f]{16}$", "", symbol)
