"""One conversation: two clients talk to a running server by its declared protocol, and report what they understood."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from pushbench.catalog.declaration import Declaration
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import tail
from pushbench.foundation.model import Document
from pushbench.machine import processes

WITHIN_SECONDS = 3.0
"""for each answer of the server: people wait for it"""
MOST_SECONDS = 60.0
"""for the whole conversation, with the start of k6 on a busy machine"""


class Line(Document):
    """A message, or the beginning or the end of a connection."""

    at_us: int
    client: int
    kind: Literal["sent", "received", "connection"]
    text: str
    meaning: str
    understood: bool


class Fault(Document):
    """What does not fit, and the key of the declaration that requires it; empty for none in particular."""

    at: str
    what: str


class Talked(Document):
    lines: list[Line] | None
    fault: Fault | None
    error: str
    """why there was no conversation at all"""

    @property
    def tally(self) -> str:
        """`6 of 6 received messages understood`."""
        received = [line for line in self.lines or [] if line.kind == "received"]
        return f"{sum(line.understood for line in received)} of {len(received)} received messages understood"


def converse(
    binary: Path,
    folder: Path,
    url: str,
    declaration: Declaration,
    secrets: Mapping[str, str],
    *,
    authorities: Path | None = None,
) -> Talked:
    """Play one conversation by the k6 of `binary`, from the module in `folder`. Raises UserError if no server answers.

    Over TLS, the server must have a certificate of the `authorities`, or of those that the system trusts.
    """
    with tempfile.TemporaryDirectory(prefix="pushbench-") as workspace:
        talk, report, log = (Path(workspace) / name for name in ("talk.json", "report.json", "k6.log"))
        trusted = str(authorities.absolute()) if authorities else ""
        plan = {
            "url": url,
            "authorities": trusted,
            "declaration": declaration.model_dump(),
            "within_seconds": WITHIN_SECONDS,
        }
        talk.write_text(json.dumps(plan))
        program = processes.start(
            [str(binary), "run", "--quiet", "--no-usage-report", "--address", "", "conversation.js"],
            folder=folder,
            environment=processes.clean_environment(secrets, {"PUSH_TALK": str(talk), "PUSH_REPORT": str(report)}),
            cpus=os.sched_getaffinity(0),
            log=log,
        )
        if program.wait(MOST_SECONDS) is None:
            program.stop(0)
        talked = _read(report, tail(log))
    if talked.error:
        hint = "--ca FILE trusts another authority" if talked.error.startswith("TLS: ") else None
        raise UserError(talked.error, where=url, hint=hint)
    return talked


def _read(report: Path, log: str) -> Talked:
    try:
        content: Any = json.loads(report.read_text())
        return Talked.model_validate(content)
    except (OSError, ValueError, ValidationError):
        last = log.strip().splitlines()[-1:] or ["it printed nothing"]
        raise UserError(f"the generator (k6) reported no conversation: {last[0]}") from None
