"""Records on disk: one file a run, replaced as a whole after every trial, and read with every doubt."""

from __future__ import annotations

import json
import secrets
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from pushbench.errors import UserError
from pushbench.files import write_atomically
from pushbench.record import Record

SCHEMA = 1


def new_id(now: datetime | None = None) -> str:
    return f"{(now or datetime.now(UTC)):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def record_path(records: Path, record_id: str) -> Path:
    return records / f"{record_id}.json"


def write_record(records: Path, record: Record) -> Path:
    """Replace the record's file. Raises UserError when it cannot be written; the file then is what it was before."""
    path = record_path(records, record.id)
    try:
        write_atomically(path, record.model_dump_json(by_alias=True).encode() + b"\n")
    except OSError as error:
        done = len(record.trials)
        safe = f"{done - 1} of {len(record.plan)} trials are safe there" if done else "nothing was measured yet"
        raise UserError(
            f"cannot be written: {error.strerror}; {safe}",
            where=str(path),
            hint=f"make room and go on with `./pushbench run --resume {path}`" if done else "make room and try again",
        ) from None
    return path


def read_record(path: Path) -> Record:
    """Raises UserError, in one line, for a file that is missing, cut off, newer or no record at all."""
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UserError("no such record", where=str(path)) from None
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except ValueError as error:
        raise UserError(f"not a record: no whole JSON document ({error})", where=str(path)) from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(schema, int):
        raise UserError("not a record: it names no schema", where=str(path))
    if schema > SCHEMA:
        raise UserError(
            f"the record has schema {schema}, this pushbench reads up to {SCHEMA}",
            where=str(path),
            hint="update pushbench",
        )
    try:
        return Record.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(str(part) for part in first["loc"])
        raise UserError(f"not a record: {location}: {first['msg']}", where=str(path)) from None


def find_record(records: Path, name: str = "latest") -> Path:
    """The file of a record: a path, an id, the unique beginning of one, or `latest`."""
    if Path(name).is_file():
        return Path(name)
    files = sorted(records.glob("*.json"))
    if name == "latest":
        found = files[-1:]
    else:
        found = [file for file in files if file.stem == name] or [file for file in files if file.stem.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(f"{name!r} begins the ids of {len(found)} records", where=str(records), hint="write more of it")
    known = ", ".join(file.stem for file in files[-3:])
    raise UserError(
        "there is no record yet" if not files else f"no record {name!r}",
        where=str(records),
        hint=f"newest: {known}" if files else "`./pushbench run` makes one",
    )
