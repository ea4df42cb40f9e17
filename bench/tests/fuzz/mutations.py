"""Almost valid inputs: JSON with a changed value, archives with a changed file, flipped bytes.

All choices come from the given random numbers, so an input can be reproduced.
"""

from __future__ import annotations

import copy
import io
import json
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

LONG = 20_000
"""characters of a long text; more would find nothing else and take longer"""
DEEP = 2_000
"""nesting levels, more than the interpreter can follow"""
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 99, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e-320, 1e308, -1e308,
    float("nan"), float("inf"), float("-inf"), "", " ", "0", "pass", "fail", "x" * LONG, "\x00", "\x1b[31m", "\ud800",
    "../../etc/passwd", "<script>alert(1)</script>", "@team #1 [x](javascript:1)", "::error::x", "\u0663", "1e999",
    "a" * 40, "0" * 40, [], {}, [[]], [None], {"": None}, {"schema": 2}, "2026-13-45T99:99:99Z", "node-ws",
)  # fmt: skip
RAW = (b"NaN", b"1e999", b"-1e999", b"9" * 5_000, b"[" * DEEP, b'{"a":' * DEEP, b"\xff\xfe", b"\x00", b"", b"null")
"""content that JSON may hold but Python's encoder does not write"""
NAMES = ("result.json", "1.record.json", "2.verdict.json", "../result.json", "/x.json", "a\x00.json", "x" * 300)
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
Path = tuple[str | int, ...]


def mutate(seed: bytes, random: Random) -> bytes:
    """The seed with one to three mistakes, by its kind: an archive, a JSON document, or bytes."""
    if seed.startswith(b"PK") and random.random() < 0.7:
        return _archive(seed, random)
    if random.random() < 0.8:
        try:
            return _document(json.loads(seed), random)
        except (ValueError, RecursionError):
            pass
    return _flipped(seed, random)


def _document(document: Any, random: Random) -> bytes:
    """The document as JSON with structural changes, and sometimes one that only text can have."""
    document = copy.deepcopy(document)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        document = _changed(document, random)
    content = json.dumps(document).encode()
    return _with_raw(content, random) if random.random() < 0.15 else content


def _changed(document: Any, random: Random) -> Any:
    paths = list(_paths(document))
    if len(paths) < 2:
        return random.choice(VALUES)
    path = random.choice(paths[1:])
    parent = _at(document, path[:-1])
    kind = random.choice(("replace", "replace", "replace", "remove", "add", "copy", "repeat", "negate"))
    match kind:
        case "replace":
            parent[path[-1]] = copy.deepcopy(random.choice(VALUES))
        case "remove":
            del parent[path[-1]]
        case "add" if isinstance(parent, dict):
            parent[random.choice(("new", "schema", "", "outcome", "x" * 300))] = copy.deepcopy(random.choice(VALUES))
        case "repeat" if isinstance(parent, list):
            parent.extend(copy.deepcopy(_at(document, path)) for _ in range(random.choice((1, 3, 50))))
        case "negate" if isinstance(parent[path[-1]], int | float):
            parent[path[-1]] = -parent[path[-1]] - 1
        case _:
            parent[path[-1]] = copy.deepcopy(_at(document, random.choice(paths)))
    return document


def _paths(document: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    children: Iterable[tuple[str | int, Any]] = ()
    if isinstance(document, dict):
        children = document.items()
    elif isinstance(document, list):
        children = enumerate(document)
    for key, child in children:
        yield from _paths(child, (*path, key))


def _at(document: Any, path: Path) -> Any:
    found = document
    for key in path:
        found = found[key]
    return found


def _with_raw(content: bytes, random: Random) -> bytes:
    """The content with raw bytes in place of a value."""
    places = [at for at, byte in enumerate(content) if byte in b":["]
    if not places:
        return random.choice(RAW)
    at = random.choice(places) + 1
    return content[:at] + random.choice(RAW) + (content[at:] if random.random() < 0.3 else _after_value(content[at:]))


def _after_value(rest: bytes) -> bytes:
    ends = [found for found in (rest.find(b","), rest.find(b"}"), rest.find(b"]")) if found >= 0]
    return rest[min(ends) :] if ends else b""


def _archive(seed: bytes, random: Random) -> bytes:
    """The archive repacked with another file, name, order or compression, and sometimes corrupted afterwards."""
    with zipfile.ZipFile(io.BytesIO(seed)) as opened:
        files = [(member.filename, opened.read(member)) for member in opened.infolist()]
    for _ in range(random.choice((1, 1, 2))):
        at = random.randrange(len(files))
        name, content = files[at]
        match random.randrange(6):
            case 0:
                files[at] = (random.choice(NAMES), content)
            case 1:
                files.append((random.choice(NAMES), content))
            case 2:
                files.reverse()
            case _:
                files[at] = (name, mutate(content, random))
    made = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # duplicate names are intended
        with zipfile.ZipFile(made, "w", random.choice(METHODS)) as written:
            for name, content in files:
                written.writestr(name, content)
    packed = made.getvalue()
    return _flipped(packed, random) if random.random() < 0.3 else packed


def _flipped(seed: bytes, random: Random) -> bytes:
    content = bytearray(seed)
    for _ in range(random.choice((1, 2, 8, 64))):
        if not content:
            return random.randbytes(20)
        at = random.randrange(len(content))
        match random.randrange(5):
            case 0:
                content[at] = random.randrange(256)
            case 1:
                content[at] ^= 1 << random.randrange(8)
            case 2:
                del content[at : at + random.choice((1, 4, 100))]
            case 3:
                content[at:at] = random.choice((b"\x00", b"\xff" * 8, b"PK\x03\x04", content[: random.randrange(64)]))
            case _:
                del content[at : None if random.random() < 0.1 else at + 1]
    return bytes(content)
