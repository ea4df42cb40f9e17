"""Records on disk: one file per run, replaced as a whole after every trial, and validated on read.

A finished record may be kept compressed, as `<id>.json.gz`; readers of records read both.
"""

from __future__ import annotations

import gzip
import io
import json
import secrets
import zlib
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from pushbench.foundation.errors import UserError
from pushbench.foundation.files import NO_ROOM, write_atomically
from pushbench.foundation.model import departure
from pushbench.records.record import Record

SCHEMA = 1
SUFFIXES = (".json", ".json.gz")
LARGEST_BYTES = 256 << 20
"""of a compressed record, a hundred times the usual size: a file of a few kilobytes may expand to any size"""


def new_id() -> str:
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def record_path(records: Path, record_id: str) -> Path:
    return records / f"{record_id}.json"


def record_files(records: Path) -> dict[str, Path]:
    """The files of a folder's records by their ids, the oldest first."""
    found = {
        path.name.removesuffix(suffix): path for suffix in reversed(SUFFIXES) for path in records.glob(f"*{suffix}")
    }
    return dict(sorted(found.items()))


def as_bytes(record: Record) -> bytes:
    return record.model_dump_json(by_alias=True).encode() + b"\n"


def packed(content: bytes) -> bytes:
    """The compressed record, without time and name, so that the same content gives the same bytes."""
    buffer = io.BytesIO()
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def write_record(records: Path, record: Record) -> Path:
    """Replace the record's file. Raises UserError if that fails; the old file then remains."""
    path = record_path(records, record.id)
    try:
        write_atomically(path, as_bytes(record))
    except OSError as error:
        done = len(record.trials)
        safe = f"{done - 1} of {len(record.plan)} trials are kept there" if done else "nothing was measured yet"
        remedy = "make room" if error.errno in NO_ROOM else "make it writable"
        again = f"continue with `./pushbench run --resume {path}`" if done else "try again"
        raise UserError(
            f"cannot be written: {error.strerror}; {safe}", where=str(path), hint=f"{remedy} and {again}"
        ) from None
    return path


def read_record(path: Path) -> Record:
    """Read a record. Raises UserError, in one line, for a file that is missing, truncated, newer or not a record."""
    try:
        found = json.loads(_unpacked(path) if path.suffix == ".gz" else path.read_bytes())
    except FileNotFoundError:
        raise UserError("no such record", where=str(path)) from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UserError(f"not a record: incomplete or damaged ({error})", where=str(path)) from None
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except ValueError as error:
        raise UserError(f"not a record: not a complete JSON document ({error})", where=str(path)) from None
    schema = found.get("schema") if isinstance(found, dict) else None
    if not isinstance(schema, int):
        raise UserError("not a record: it has no schema number", where=str(path))
    if schema > SCHEMA:
        raise UserError(
            f"the record has schema {schema}, this pushbench reads up to {SCHEMA}",
            where=str(path),
            hint="update pushbench",
        )
    try:
        return Record.model_validate(found)
    except ValidationError as error:
        raise UserError(f"not a record: {departure(error)}", where=str(path)) from None


def find_record(records: Path, name: str = "latest") -> Path:
    """The file of a record: a path, an id, the unique beginning of one, or `latest`."""
    if Path(name).is_file():
        return Path(name)
    files = record_files(records)
    if name == "latest":
        found = list(files)[-1:]
    else:
        found = [name] if name in files else [each for each in files if each.startswith(name)]
    if len(found) == 1:
        return files[found[0]]
    if found:
        what = f"{len(found)} records have ids that begin with {name!r}"
        raise UserError(what, where=str(records), hint="give more of the id")
    known = ", ".join(list(files)[-3:])
    raise UserError(
        "there is no record yet" if not files else f"no record {name!r}",
        where=str(records),
        hint=f"newest: {known}" if files else "`./pushbench run` makes one",
    )


def read_found(records: Path, name: str = "latest") -> Record:
    """The record of that name. If the newest cannot be read, the UserError names the newest readable one."""
    path = find_record(records, name)
    try:
        return read_record(path)
    except UserError as error:
        if name != "latest":
            raise
        readable = next((found for found in reversed(list(record_files(records))) if _is_whole(records, found)), "")
        hint = f"the newest readable record is {readable}: give that id" if readable else "no other record can be read"
        raise UserError(error.what, where=error.where, hint=error.hint or hint) from None


def _is_whole(records: Path, record_id: str) -> bool:
    try:
        read_record(record_files(records)[record_id])
    except UserError:
        return False
    return True


def _unpacked(path: Path) -> bytes:
    with gzip.open(path) as file:
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise UserError(f"not a record: more than {LARGEST_BYTES >> 20} MiB", where=str(path))
    return content
