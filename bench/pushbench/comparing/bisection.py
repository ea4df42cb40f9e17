"""The document of a bisection: what it searches for, every step, and what it found. It is saved after each step."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, ValidationError

from pushbench.comparing.bisecting import Search, Seen
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.model import Document, departure
from pushbench.records.environment import Slug
from pushbench.records.record import Instant

MOST_CANDIDATES = 10_000


class Candidate(Document):
    """A commit that changed the server."""

    sha: str = Field(pattern="^[0-9a-f]{40,64}$")
    subject: str = Field(max_length=500)
    author_time: str = Field(max_length=50)


class Step(Document):
    """One comparison with the good commit, or why there was none."""

    sha: str
    word: Literal["worse", "same", "better", "unknown", "skipped"]
    reason: str = Field("", max_length=1000, description="why the commit was skipped; empty for others")
    change: float | None = Field(None, description="relative change of the metric; null if it was not measured")
    low: float | None = Field(None, description="lower bound of a 95 % interval for the change; null without one")
    high: float | None = None
    rounds: NonNegativeInt = Field(0, description="number of pairs of valid trials")
    record: Slug | None = Field(None, description="id of the comparison's record; null without one")
    seconds: NonNegativeFloat


class Culprit(Document):
    """A commit that may be the first bad one."""

    sha: str
    subject: str
    probability: NonNegativeFloat


class Bisection(Document):
    """The search for the first commit that has a regression."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    created: Instant
    server: str = Field(max_length=200)
    suite: Slug
    profile: Slug
    metric: str = Field(max_length=100)
    margin: float = Field(description="relative change from which a commit counts as bad")
    good: str = Field(description="commit without the regression")
    bad: str = Field(description="commit with the regression")
    commits: NonNegativeInt = Field(description="number of commits from good to bad, including the bad one")
    candidates: list[Candidate] = Field(
        max_length=MOST_CANDIDATES, description="commits that changed the server, the oldest first"
    )
    effect: float | None = Field(
        None, description="relative change of the metric from good to bad; null before it is measured"
    )
    steps: list[Step] = []
    state: Literal["running", "found", "undecided", "no-regression"] = "running"
    culprits: list[Culprit] = Field(
        [],
        description="commits that may be the first bad one, the most probable first; several if they cannot be told "
        "apart",
    )
    confidence: float | None = Field(
        None, description="probability that the first bad commit is one of the culprits; null before there are any"
    )

    def search(self) -> Search:
        """The state of a search that has begun: good and bad were compared."""
        assert self.effect is not None
        places = {candidate.sha: place for place, candidate in enumerate(self.candidates)}
        seen = [
            Seen(places[step.sha], step.word, step.change, step.low, step.high)
            for step in self.steps
            if step.word != "skipped" and step.sha in places
        ]
        skipped = {places[step.sha] for step in self.steps if step.word == "skipped" and step.sha in places}
        return Search(len(self.candidates), self.effect, seen, frozenset(skipped))


def bisection_path(folder: Path, *, good: str, bad: str, server: str, metric: str, profile: str) -> Path:
    """The file of a search. The same search has the same file, so the same command continues it."""
    key = hashlib.sha256("\0".join([good, bad, server, metric, profile]).encode()).hexdigest()[:12]
    return folder / f"{server.replace('/', '--')}-{key}.json"


def read_bisection(path: Path) -> Bisection | None:
    """The search that was begun; None if there is none. Raises UserError for a file that is not a bisection."""
    try:
        return Bisection.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        what = f"not a bisection: {departure(error)}"
        raise UserError(what, where=str(path), hint="`--restart` starts over") from None


def write_bisection(path: Path, found: Bisection) -> None:
    write_atomically(path, found.model_dump_json(by_alias=True, indent=2).encode() + b"\n")
