"""Tables of values for clients: a CSV file beside a `protocol.yml`, with a row for each client."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from pushbench.foundation.errors import UserError

MOST_BYTES = 1 << 20
"""of a file, which is part of the plan of each load: 10,000 rows of 100 characters"""

_COLUMN = re.compile(r"[a-z][a-z0-9_-]{0,49}")


def read_rows(path: Path) -> dict[str, list[str]]:
    """The values of each column, by its name in the first line. Raises UserError, with file and line."""
    lines = csv.reader(_text(path).splitlines(), strict=True)
    try:
        names, *rows = [(lines.line_num, row) for row in lines if row] or [(1, [])]
    except csv.Error as error:
        raise UserError(f"not CSV: {error}", where=f"{path}:{lines.line_num}") from None
    for name in names[1]:
        if not _COLUMN.fullmatch(name):
            what = f"expected column names such as user or first-name in the first line, found {name[:50]!r}"
            raise UserError(what, where=f"{path}:{names[0]}")
    if not rows or len(set(names[1])) < len(names[1]):
        raise UserError("expected distinct column names in the first line, and at least one row", where=str(path))
    for number, row in rows:
        if len(row) != len(names[1]):
            raise UserError(f"expected {len(names[1])} values, found {len(row)}", where=f"{path}:{number}")
        if not all(value and value.isprintable() for value in row):
            raise UserError("a value that is empty, or not one line of text", where=f"{path}:{number}")
    return {name: [row[place] for _, row in rows] for place, name in enumerate(names[1])}


def _text(path: Path) -> str:
    """The content of a file. A link is refused: it could lead to any file of the machine."""
    if path.is_symlink():
        raise UserError("is a link; expected a file", where=str(path))
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise UserError("no such file", where=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", where=str(path)) from None
    if len(content) > MOST_BYTES:
        raise UserError(f"larger than {MOST_BYTES:,} bytes", where=str(path))
    return text
