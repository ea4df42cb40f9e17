"""Causes: why an alert issue is open, each with a key that stays the same from night to night. Pure.

A key consists of names only. Sentences of a verdict contain numbers, so no key comes from a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal[
    "limit", "history", "change", "build", "rule", "failure", "invalid", "undecided", "step", "job", "results", "run",
    "machine", "workflow", "capacity",
]  # fmt: skip
OF_SERVERS: frozenset[Kind] = frozenset({"limit", "history", "change", "build", "rule", "failure"})
MOST_NAME = 100
MARK = "<!-- pushbench alert"
_MARKED = re.compile(r"([a-z]+) ([A-Za-z0-9._/-]{1,100}) ([A-Za-z0-9._/-]{1,100})", re.ASCII)
NOTHING = "-"


@dataclass(frozen=True, order=True)
class Cause:
    """`subject` is a server, a suite, a command, a job or a file; `detail` a metric, a step or a conclusion."""

    kind: Kind
    subject: str
    detail: str = NOTHING

    @classmethod
    def of(cls, kind: Kind, subject: str, detail: str = NOTHING) -> Cause:
        """A cause whose names are made safe for a mark."""
        return cls(kind, _name(subject), _name(detail))

    @property
    def title(self) -> str:
        what = {
            "limit": f"{self.subject} breaks the limit of {self.detail}",
            "capacity": f"{self.subject} carries less than before, or nothing",
            "history": f"{self.subject} is worse than its history in {self.detail}",
            "change": f"{self.subject} differs from itself in {self.detail}",
            "build": f"{self.subject} does not build",
            "rule": f"{self.subject} breaks a rule of the protocol",
            "failure": f"{self.subject} fails" + ("" if self.detail == NOTHING else f" at: {self.detail}"),
            "invalid": f"no valid measurement of {self.subject}",
            "undecided": f"no decision on {self.subject}",
            "step": f"the command {self.subject} does not finish",
            "job": f"the job {self.subject} fails at: {self.detail}",
            "results": "the results of a run cannot be used",
            "run": f"a run of main ends with {self.detail}",
            "machine": "the benchmark machine takes no jobs",
            "workflow": f"the workflow {self.subject} is switched off",
        }
        return what[self.kind]


MACHINE = Cause("machine", "runner", "gone")


def marked(causes: Iterable[Cause]) -> str:
    """The hidden first lines of an issue's body."""
    lines = [f"{each.kind} {each.subject} {each.detail}" for each in sorted(causes)]
    return "\n".join([MARK, *lines, "-->"])


def causes_of(body: str) -> frozenset[Cause]:
    """The causes in the mark at the beginning of a body; none unless Pushbench could have written the mark."""
    first, _, rest = body.replace("\r\n", "\n").partition("\n")
    inside, end, _ = rest.partition("\n-->")
    if first != MARK or not end:
        return frozenset()
    found = [_MARKED.fullmatch(line) for line in inside.split("\n")]
    return frozenset(
        Cause(kind, match[2], match[3]) for match in found if match for kind in get_args(Kind) if kind == match[1]
    )


def _name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._/-]", "_", text)[:MOST_NAME] or NOTHING
