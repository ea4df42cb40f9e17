"""The doctor's finding about one step: ok, missing or unknown, and how to fix it.

Texts come partly from GitHub's answers, so each one is made safe for a terminal here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field

from pushbench.foundation.errors import EXIT_FAIL, EXIT_PASS, EXIT_UNDECIDED
from pushbench.foundation.model import Document
from pushbench.foundation.text import MESSAGE, one_line

State = Literal["ok", "missing", "unknown"]
EXIT_CODES: dict[State, int] = {"ok": EXIT_PASS, "missing": EXIT_FAIL, "unknown": EXIT_UNDECIDED}


class Fix(Document):
    """One way to set what is missing."""

    do: str = Field(description="what to do, as a sentence")
    command: list[str] = Field(
        default=[], description="words of a command, not yet quoted for a shell; empty without a command"
    )
    page: str = Field(default="", description="address of the page with the setting; empty without one")


class Finding(Document):
    """The result of one check."""

    check: str = Field(description="id of the check in docs/github.md")
    state: State
    said: str = Field(description="what was found, or what is missing")
    fixes: list[Fix] = Field(default=[], description="ways to set what is missing; empty if the state is ok")


class Diagnosis(Document):
    """All findings about a repository, in the order of the steps in docs/github.md."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    repository: str = Field(description="repository, as owner/name")
    state: State = Field(description="missing if any finding is missing, else unknown if any is unknown, else ok")
    findings: list[Finding]

    @classmethod
    def of(cls, repository: str, findings: list[Finding]) -> Self:
        states = {finding.state for finding in findings}
        state: State = "missing" if "missing" in states else "unknown" if "unknown" in states else "ok"
        return cls(repository=repository, state=state, findings=findings)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.state]


@dataclass(frozen=True)
class Said:
    """The answer of a check, without the check's id."""

    state: State
    said: str
    fixes: tuple[Fix, ...] = ()

    def of(self, check: str) -> Finding:
        return Finding(check=check, state=self.state, said=one_line(self.said, MESSAGE), fixes=list(self.fixes))


def ok(said: str) -> Said:
    return Said("ok", said)


def missing(said: str, *fixes: Fix) -> Said:
    return Said("missing", said, fixes)


def unknown(said: str, *fixes: Fix) -> Said:
    return Said("unknown", said, fixes)


def fix(do: str, *command: str, page: str = "") -> Fix:
    """A fix; `command` has the words of a command."""
    return Fix(do=one_line(do, MESSAGE), command=[one_line(word) for word in command], page=one_line(page))
