"""Load reports as text: one of a file, or those in the logs of pods. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import ValidationError

from pushbench.foundation.model import departure
from pushbench.records.load_report import READABLE, SCHEMA, LoadReport

HEAD = '{"schema":'
"""the beginning of a report, which is one line; other lines of a log may be JSON as well"""


def parse_report(text: str) -> LoadReport:
    """Parse a report. Raises ValueError, in one line, if it is broken or newer than this Pushbench."""
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("the load report cannot be read: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"the load report cannot be read: {error}") from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema not in READABLE:
        raise ValueError(
            f"the load report has schema {schema!r}, this Pushbench reads {SCHEMA}: build k6 and bench together"
        )
    try:
        return LoadReport.model_validate(content)
    except ValidationError as error:
        raise ValueError(f"the load report does not fit its schema: {departure(error)}") from None


def reports_in(log: str) -> Iterator[tuple[int, LoadReport]]:
    """Each report in a log, with the number of its line. Raises ValueError, in one line, for a broken one."""
    for number, line in enumerate(log.splitlines(), 1):
        if line.startswith(HEAD):
            yield number, parse_report(line)
