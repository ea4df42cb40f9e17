"""Capacity records on disk: one file each, replaced as a whole after every start, and validated on read."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

from pydantic import ValidationError

from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.model import departure
from pushbench.records.capacity import CapacityRecord

LARGEST_BYTES = 64 << 20
"""a hundred times the usual size"""
NEWEST = "capacity"
"""the name of the newest capacity record, like `latest` for runs; no id is a word"""


def write_capacity(folder: Path, record: CapacityRecord) -> Path:
    """Replace the record's file. Raises OSError; the old file then remains."""
    path = folder / f"{record.id}.json"
    write_atomically(path, record.model_dump_json(by_alias=True).encode() + b"\n")
    return path


def read_capacity(path: Path) -> CapacityRecord:
    """Raises UserError, in one line, for a file that is missing, too large, truncated, newer or not such a record."""
    try:
        content = _content(path)
    except FileNotFoundError:
        raise UserError("no such record", where=str(path)) from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UserError(f"not a capacity record: incomplete or damaged ({error})", where=str(path)) from None
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=str(path)) from None
    return parse_capacity(content, str(path))


def parse_capacity(content: bytes, where: str) -> CapacityRecord:
    """The record in the content of a file. Raises UserError as `read_capacity` does."""
    if len(content) > LARGEST_BYTES:
        raise UserError(f"not a capacity record: more than {LARGEST_BYTES >> 20} MiB", where=where)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UserError(f"not a capacity record: not a complete JSON document ({error})", where=where) from None
    schema = found.get("schema") if isinstance(found, dict) else None
    if type(schema) is int and schema > 1:
        what = f"the capacity record has schema {schema}, this pushbench reads up to 1"
        raise UserError(what, where=where, hint="update pushbench")
    try:
        return CapacityRecord.model_validate(found)
    except ValidationError as error:
        raise UserError(f"not a capacity record: {departure(error)}", where=where) from None


def find_capacity(folder: Path, name: str) -> Path | None:
    """The file of a capacity record: by its id, the unique beginning of an id, or `capacity`, the newest.

    None if no record has that name. Raises UserError if several have it, or if there are no records.
    """
    ids = sorted(path.stem for path in folder.glob("*.json"))
    if name == NEWEST and not ids:
        raise UserError("there is no capacity record yet", where=str(folder), hint="`./pushbench capacity` makes one")
    found = ids[-1:] if name == NEWEST else [each for each in ids if each.startswith(name)]
    if len(found) > 1 and name not in found:
        raise UserError(
            f"{len(found)} capacity records have ids that begin with {name!r}",
            where=str(folder),
            hint="give more of the id",
        )
    return folder / f"{name if name in found else found[0]}.json" if found else None


def is_capacity(path: Path) -> bool:
    """Whether a file looks like a capacity record rather than the record of a run; False if it cannot be read."""
    try:
        found = json.loads(_content(path))
    except (OSError, ValueError, RecursionError, zlib.error, EOFError):
        return False
    return isinstance(found, dict) and "search" in found and "trials" not in found


def _content(path: Path) -> bytes:
    """The content of a file that may be compressed, up to one byte more than a record may have."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return file.read(LARGEST_BYTES + 1)
