"""The document of a bisection: what is searched, every step, and what was found. It is kept after each step."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, ValidationError

from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.model import Document, departure
from pushbench.measuring.bisecting import Search, Seen
from pushbench.records.record import Instant, Slug

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
    reason: str = Field("", max_length=1000, description="why it was skipped")
    change: float | None = Field(None, description="of the metric, relative; null where it was not measured")
    low: float | None = Field(None, description="of a 95 % interval")
    high: float | None = None
    rounds: NonNegativeInt = Field(0, description="pairs of valid trials")
    record: Slug | None = Field(None, description="id of the record of the comparison")
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
    margin: float = Field(description="from which a commit counts as bad, relative")
    good: str = Field(description="commit without the regression")
    bad: str = Field(description="commit with it")
    commits: NonNegativeInt = Field(description="between both, the bad one included")
    candidates: list[Candidate] = Field(
        max_length=MOST_CANDIDATES, description="those that changed the server, the oldest first"
    )
    effect: float | None = Field(None, description="change of the metric from good to bad; null before it is measured")
    steps: list[Step] = []
    state: Literal["running", "found", "undecided", "no-regression"] = "running"
    culprits: list[Culprit] = Field([], description="the most probable first; several that cannot be told apart")
    confidence: float | None = Field(None, description="that it is one of the culprits")

    def search(self) -> Search:
        """The state of the search. It has begun: good and bad were compared."""
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
    """The same search has the same file, so that the same command goes on with it."""
    key = hashlib.sha256("\0".join([good, bad, server, metric, profile]).encode()).hexdigest()[:12]
    return folder / f"{server.replace('/', '--')}-{key}.json"


def read_bisection(path: Path) -> Bisection | None:
    """The search that was begun; None where there is none. Raises UserError for a file that is none."""
    try:
        return Bisection.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        what = f"not a bisection: {departure(error)}"
        raise UserError(what, where=str(path), hint="`--restart` begins anew") from None


def write_bisection(path: Path, found: Bisection) -> None:
    write_atomically(path, found.model_dump_json(by_alias=True, indent=2).encode() + b"\n")
