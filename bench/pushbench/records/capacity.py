"""The capacity record: the searches for the most that servers carry, probe by probe. Results are derived from it.

Only the shapes are here; `capacity_store` reads and writes them. Base units, as in the record of a run.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, FiniteFloat, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from pushbench.foundation.model import Document
from pushbench.records.environment import Commit, Environment, Harness, Slug
from pushbench.records.load_report import ReportedError
from pushbench.records.record import Failure, Finding, Instant, Parameters, ReportedVersions, Skipped
from pushbench.records.vocabulary import Name, Vocabulary

CLIENTS = "clients"
MOST_LOAD = 10_000_000
MetricName = Annotated[str, Field(max_length=100)]
Load = Annotated[int, Field(ge=1, le=MOST_LOAD)]


class Search(Document):
    """What to search for in a suite, and how long a probe takes. Seconds unless a name says otherwise."""

    searched: Name = Field(
        CLIENTS, description="`clients`, or the name of the parameter that is the rate of all clients together"
    )
    first: Load = Field(description="load of the first probe, in clients or exchanges per second")
    step: Load = Field(1, description="number of which every load is a multiple, such as the clients of one group")
    most: Load = Field(description="largest load that is probed")
    clients_each: PositiveFloat = Field(
        1.0, description="number of clients for one exchange per second, if a rate is searched"
    )
    closed: bool = Field(False, description="a client's next exchange is due when its previous one has ended")
    parameters: Parameters = Field(default={}, description="parameters of the search that replace those of the suite")
    clients_per_second: PositiveFloat = Field(
        description="rate at which clients connect in a ramp; a later ramp may be slower"
    )
    ramp_seconds: PositiveFloat = Field(1.0, description="length of the shortest ramp")
    warmup_seconds: NonNegativeFloat = Field(description="length of the warm-up before the first probe of a start")
    settle_seconds: NonNegativeFloat
    steady_seconds: PositiveFloat = Field(description="length of the measured window of a probe")
    hold_seconds: PositiveFloat = Field(
        description="length of the measured window when the load that was found is held"
    )
    drain_seconds: PositiveFloat

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if not self.step <= self.first <= self.most:
            raise ValueError("expected step <= first <= most")
        if self.closed and self.searched != CLIENTS:
            raise ValueError("a closed load has no rate: search for clients")
        return self

    def clients(self, load: int) -> int:
        """How many clients play a load."""
        return load if self.searched == CLIENTS else max(1, round(load * self.clients_each))


class AskedLimit(Document):
    """A limit of the suite that every probe was judged by."""

    metric: MetricName
    side: Literal["max", "min"]
    value: FiniteFloat = Field(description="bound in the metric's base unit")


class Broken(AskedLimit):
    """A limit that a probe broke."""

    found: FiniteFloat


class Probe(Document):
    """One load that was played on a running server."""

    load: Load
    clients: PositiveInt
    joined: PositiveInt | None = Field(
        None, description="number of these clients that connected in the ramp; null if all of them did"
    )
    hold: bool = Field(description="whether the load was held for longer, to confirm it")
    ramp_seconds: NonNegativeFloat
    answer: Literal["carried", "broken", "generator", "disturbed", "connecting", "unsettled"] = Field(
        description="carried: within all limits; broken: not within all limits; generator: the generator reached its "
        "own limits first; disturbed: not carried, while other work disturbed the machine; connecting: not carried "
        "with clients that connect fast, and a limit on connecting was broken; a slower ramp may keep the limits; "
        "unsettled: within all limits, but less arrived than was due, and the window is too short to say whether the "
        "queue keeps growing"
    )
    broken: list[Broken] = Field(default=[], max_length=100)
    findings: list[Finding] = Field(default=[], max_length=100, description="reasons to distrust the probe")
    failure: Failure | None = Field(None, description="how the server ended under the load; null if it did not end")
    metrics: dict[MetricName, FiniteFloat | None] = Field(
        description="metrics of the steady window; null for a metric that was not measured", max_length=300
    )
    errors: list[ReportedError] = Field(default=[], max_length=10, description="most frequent errors that clients saw")
    seconds: NonNegativeFloat


class Start(Document):
    """The search on one fresh start of a server."""

    number: PositiveInt
    seed: NonNegativeInt
    started: Instant
    seconds: NonNegativeFloat
    carried: int = Field(
        ge=0, le=MOST_LOAD, description="largest load that was carried; 0 if the smallest load was not carried"
    )
    refused: Load | None = Field(
        description="smallest load above `carried` that was not carried; null if all loads were carried"
    )
    end: Literal["limit", "generator", "disturbed", "most", "time"] = Field(
        description="what ended the search: a limit of the suite, the generator, a disturbed machine, the largest "
        "load (`most`), or the time"
    )
    confirmed: bool = Field(description="whether the carried load was held, and the refused load was refused twice")
    probes: list[Probe] = Field(max_length=1000)

    @model_validator(mode="after")
    def _is_of_its_probes(self) -> Self:
        """Require the probes of both loads, because derived results need them."""
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
    build: str = Field(max_length=200, description="digest of the build, as in a trial")
    reported: ReportedVersions | None
    verified: bool
    failure: Failure | None = Field(
        description="why there is nothing to search, or why the search ended early; null for neither"
    )
    starts: list[Start] = Field(max_length=100)


class CapacityRecord(Document):
    """One `pushbench capacity` on one machine."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    id: Slug
    created: Instant
    commit: Commit | None = Field(description="commit of the sources; null outside a git checkout")
    harness: Harness
    environment: Environment
    suite: Slug
    words: Vocabulary
    parameters: Parameters = Field(description="parameters of every probe, except the one that is searched")
    search: Search
    most_by: Literal["suite", "generator"] = Field(
        "suite",
        description="what sets the largest load: the suite, or the number of files and ports that the generator has",
    )
    limits: list[AskedLimit] = Field(min_length=1, max_length=300)
    thresholds_digest: str | None
    rules: PositiveInt = Field(1, description="number of the rules by which loads were chosen and probes were answered")
    wanted_starts: PositiveInt
    skipped: list[Skipped] = Field(default=[], max_length=1000)
    servers: list[ServerCapacity] = Field(max_length=1000)
