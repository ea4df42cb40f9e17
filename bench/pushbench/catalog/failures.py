"""Failures of a server. A failure is the server's result, kept in the record; the run goes on with the next server."""

from __future__ import annotations

from typing import Literal

from pushbench.records.record import Failure

Step = Literal["build", "verify", "start", "load", "stop"]


class ServerFailed(Exception):
    """A server could not be built, verified, started, loaded or stopped."""

    def __init__(self, step: Step, message: str, log_tail: str = "") -> None:
        super().__init__(f"{step}: {message}")
        self.failure = Failure(step=step, message=message, log_tail=log_tail)
