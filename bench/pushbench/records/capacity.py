"""The capacity record: the searches for the most that servers carry, probe by probe. What it amounts to is derived.

Only the shapes are here; `capacity_store` reads and writes them. Base units, as in the record of a run.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, FiniteFloat, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from pushbench.foundation.model import Document
from pushbench.records.load_report import ReportedError
from pushbench.records.record import (
    Commit,
    Environment,
    Failure,
    Finding,
    Harness,
    Instant,
    Parameters,
    ReportedVersions,
    Skipped,
    Slug,
)
from pushbench.records.vocabulary import Name, Vocabulary

CLIENTS = "clients"
MOST_LOAD = 10_000_000
MetricName = Annotated[str, Field(max_length=100)]
Load = Annotated[int, Field(ge=1, le=MOST_LOAD)]


class Search(Document):
    """What is searched in a suite, and how long a probe takes. Seconds unless a name says otherwise."""

    searched: Name = Field(CLIENTS, description="`clients`, or the parameter that is the rate of all clients together")
    first: Load = Field(description="the load that is asked first, in clients or exchanges per second")
    step: Load = Field(1, description="every load is a multiple of it, such as the clients of a whole group")
    most: Load = Field(description="the largest load that is asked")
    clients_each: PositiveFloat = Field(1.0, description="clients for one exchange per second, of a rate")
    closed: bool = Field(False, description="a client's next exchange is due when its last one has ended")
    parameters: Parameters = Field(default={}, description="instead of the suite's")
    clients_per_second: PositiveFloat = Field(description="that connect in the ramp, at first")
    ramp_seconds: PositiveFloat = Field(1.0, description="the shortest ramp")
    warmup_seconds: NonNegativeFloat = Field(description="before the first probe of a start")
    settle_seconds: NonNegativeFloat
    steady_seconds: PositiveFloat = Field(description="what is measured of a probe")
    hold_seconds: PositiveFloat = Field(description="the same, where the load that was found is held")
    drain_seconds: PositiveFloat

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if not self.step <= self.first <= self.most:
            raise ValueError("expected step <= first <= most")
        if self.closed and self.searched != CLIENTS:
            raise ValueError("a closed load has no rate: search for clients")
        return self

    def clients(self, load: int) -> int:
        """How many play a load."""
        return load if self.searched == CLIENTS else max(1, round(load * self.clients_each))


class AskedLimit(Document):
    """A limit of the suite that every probe was held against."""

    metric: MetricName
    side: Literal["max", "min"]
    value: FiniteFloat = Field(description="in the metric's base unit")


class Broken(AskedLimit):
    """A limit that a probe broke."""

    found: FiniteFloat


class Probe(Document):
    """One load that was asked of a running server."""

    load: Load
    clients: PositiveInt
    hold: bool = Field(description="held for longer, to confirm it")
    ramp_seconds: NonNegativeFloat
    answer: Literal["carried", "broken", "generator", "disturbed", "connecting"] = Field(
        description="carried: within all limits; broken: not; generator: it ended first; disturbed: not carried, while "
        "others took of the machine; connecting: only limits on connecting were broken, and slower ramps follow"
    )
    broken: list[Broken] = Field(default=[], max_length=100)
    findings: list[Finding] = Field(default=[], max_length=100, description="reasons to distrust the probe")
    failure: Failure | None = Field(None, description="the server ended under the load")
    metrics: dict[MetricName, FiniteFloat | None] = Field(description="of the steady window", max_length=300)
    errors: list[ReportedError] = Field(default=[], max_length=10, description="what clients saw, the most frequent")
    seconds: NonNegativeFloat


class Start(Document):
    """The search on one fresh start of a server."""

    number: PositiveInt
    seed: NonNegativeInt
    started: Instant
    seconds: NonNegativeFloat
    carried: int = Field(ge=0, le=MOST_LOAD, description="the most that was carried; 0 where the least was not")
    refused: Load | None = Field(description="the least above it that was not; null where all was carried")
    end: Literal["limit", "generator", "disturbed", "most", "time"] = Field(
        description="what the search ended at: a limit of the suite, the generator, a disturbed machine, the largest "
        "load that is asked, or the time"
    )
    confirmed: bool = Field(description="the first was held, the second refused twice")
    probes: list[Probe] = Field(max_length=1000)

    @model_validator(mode="after")
    def _is_of_its_probes(self) -> Self:
        """What is derived from a start looks for the probes of both loads."""
        if self.refused is not None and self.refused <= self.carried:
            raise ValueError("refused less than it carried")
        answers = {(each.load, each.answer == "carried") for each in self.probes}
        if self.carried and (self.carried, True) not in answers:
            raise ValueError("no probe carried the load that was carried")
        if self.refused and (self.refused, False) not in answers:
            raise ValueError("no probe refused the load that was refused")
        return self


class ServerCapacity(Document):
    """The searches on one server."""

    server: str = Field(max_length=200)
    build: str = Field(max_length=200, description="as in a trial")
    reported: ReportedVersions | None
    verified: bool
    failure: Failure | None = Field(description="why there is nothing to search, or why it ended early")
    starts: list[Start] = Field(max_length=100)


class CapacityRecord(Document):
    """One `pushbench capacity` on one machine."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    id: Slug
    created: Instant
    commit: Commit | None = Field(description="null outside a git checkout")
    harness: Harness
    environment: Environment
    suite: Slug
    words: Vocabulary
    parameters: Parameters = Field(description="of every probe, but for the one that is searched")
    search: Search
    most_by: Literal["suite", "generator"] = Field(
        "suite", description="whose is the largest load: the suite's, or all that the generator has files and ports for"
    )
    limits: list[AskedLimit] = Field(min_length=1, max_length=300)
    thresholds_digest: str | None
    rules: PositiveInt = Field(1, description="number of those by which a load was searched and answered")
    wanted_starts: PositiveInt
    skipped: list[Skipped] = Field(default=[], max_length=1000)
    servers: list[ServerCapacity] = Field(max_length=1000)
