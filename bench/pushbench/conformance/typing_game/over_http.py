"""Shared by the rules about requests."""

from __future__ import annotations

from pushbench.conformance.http1 import Answer
from pushbench.conformance.rule import Mismatch


def require(status: int, answer: Answer, what: str) -> None:
    if answer.status != status:
        raise Mismatch(f"status {status} for {what}", answer)
