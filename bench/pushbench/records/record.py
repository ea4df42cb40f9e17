"""The record: the immutable document of one run, from which everything else is derived.

This module has only the shapes; `store` reads and writes them. Base units everywhere: seconds, bytes, counts, cores.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, Field, StringConstraints, model_validator

from pushbench.foundation.model import Document
from pushbench.records.environment import Commit, Environment, Harness, Slug
from pushbench.records.load_report import Histogram, Kill, Receipts, ReportedError
from pushbench.records.seconds import Resources, Timeline
from pushbench.records.stages import default_name
from pushbench.records.vocabulary import ORIGINAL, Name, Vocabulary

Parameters = dict[str, str | int | float | bool]
"""Parameters of a suite, by their names."""


def _instant(text: str) -> str:
    datetime.fromisoformat(text)
    return text


Instant = Annotated[str, AfterValidator(_instant)]


class Outage(Document):
    """A kill in the steady window of a stage. The target is started again; clients come back by themselves."""

    kill: Kill
    at_seconds: float = Field(ge=1, description="time of the kill, in seconds from the beginning of the steady window")
    down_seconds: float = Field(0.0, ge=0, description="seconds between the kill and the new start")
    within_seconds: float = Field(
        gt=0,
        description="length of the outage's window after the kill, in seconds; exchanges that are due in it are "
        "counted separately",
    )


class StagePlan(Document):
    """One stage of a profile, resolved: `clients` held for `steady_seconds`, measured; the rest is ramp.

    If `parameters` or `closed` differ from the stage before, all clients leave and new ones connect: the ramp then
    begins with the drain.
    """

    clients: int
    closed: bool = Field(False, description="a client's next exchange is due when its previous one has ended")
    name: str = Field(
        default_factory=default_name, description="unique name of the stage; the number of clients when left out"
    )
    ramp_seconds: float
    settle_seconds: float
    steady_seconds: float
    parameters: Parameters = Field(
        default={}, description="parameters with other values in this stage than in the record"
    )
    outage: Outage | None = Field(
        None, description="kill in the steady window, for servers that have its target; null for none"
    )


class Schedule(Document):
    """The load of every trial of the run. The warm-up lies between the first stage's ramp and its settling."""

    warmup_seconds: float
    stages: list[StagePlan] = Field(min_length=1)
    drain_seconds: float


class PlannedTrial(Document):
    """One planned trial; (server, arm, round) is unique in a run."""

    server: str
    arm: Literal["head", "base"] = "head"
    round: int
    order: int = Field(description="position of the trial in the run, from 0")
    seed: int = Field(description="seed for the phases of the clients")
    together: bool = Field(
        False, description="whether the trial runs at the same time as the other arm's trial of the round"
    )


class ReportedVersions(Document):
    """The versions that the server reported on /healthz."""

    server: str
    runtime: str
    framework: str


class Finding(Document):
    """One reason to distrust a trial."""

    code: str = Field(description="stable, machine-readable code: generator_cpu, steal, send_lateness, ...")
    message: str = Field(description="sentence with the measured number and its bound")
    stage: int | None = Field(
        None, description="index of the stage that the finding concerns; null if it concerns no single stage"
    )


class Validity(Document):
    """Whether the trial measured the server, and the reasons if not."""

    valid: bool
    reasons: list[Finding] = Field(description="findings that make the trial invalid")
    warnings: list[Finding]


class OutageResult(Document):
    """The results of a kill; its times are also in `reconnect` and `away` of the stage's histograms. Seconds from the
    start of the load.
    """

    kill: Kill
    kill_seconds: float = Field(description="time of the kill")
    begin_seconds: float = Field(
        description="start of the outage's window; messages that are due in the window are counted only here"
    )
    end_seconds: float
    back_seconds: float | None = Field(
        description="time at which the last client was a member again; null if one never was, or if none was away"
    )
    last_lost_seconds: float | None = Field(
        description="due time of the last message that a member never received; null for none"
    )
    disconnects: int
    attempts: int
    failed: int
    unsent: int = Field(description="number of messages that were due while their senders were away")
    receipts: Receipts


PartName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=30)]
"""names of a system's containers, as in its compose file"""


class StageResult(Document):
    """The results of one stage. A metric that could not be measured is null, never 0."""

    clients: int
    name: str = Field(default_factory=default_name, description="name of the stage, as in the schedule")
    parameters: Parameters = Field(default={}, description="parameters of the stage, as in the schedule")
    begin_seconds: float = Field(description="beginning of the steady window, in seconds from the start of the load")
    end_seconds: float
    metrics: dict[str, float | None]
    parts: dict[PartName, dict[str, float | None]] = Field(
        default={},
        description="CPU and memory of each part of a system, by the part's name; `metrics` has the values of all "
        "parts together",
        max_length=16,
    )
    receipts: Receipts = Field(validation_alias=AliasChoices("receipts", "deliveries"))
    beside: dict[Name, Receipts] = Field(
        default={}, description="receipts of the exchanges beside the first, by the exchange's name", max_length=5
    )
    outage: OutageResult | None = Field(
        default=None,
        description="results of the kill, whose window the receipts and latencies above exclude; null if nothing was "
        "killed",
    )
    arrived: int | None = Field(
        default=None,
        description="receipts that arrived inside the steady window, without duplicates; null in records of method 1",
    )
    histograms: dict[Slug, Histogram] = Field(
        description="latencies of the suite by name, and `lateness` and `connect`", max_length=50
    )

    @model_validator(mode="before")
    @classmethod
    def _corrupt_ratio(cls, found: Any) -> Any:
        """The ratio of corrupt receipts. Older records counted the same receipts, and called them `deliveries`."""
        metrics, receipts = (found.get(key) if isinstance(found, dict) else None for key in ("metrics", "deliveries"))
        if not isinstance(metrics, dict) or not isinstance(receipts, dict) or "corrupt_ratio" in metrics:
            return found
        corrupt, expected = receipts.get("corrupt"), receipts.get("expected")
        known = all(type(count) is int and count >= 0 for count in (corrupt, expected))
        ratio = corrupt / expected if known and expected else None
        return {**found, "metrics": {**metrics, "corrupt_ratio": ratio}}


class Failure(Document):
    """Why there was nothing to measure, or why the trial ended early. It is the server's result, not an error of
    Pushbench.
    """

    step: Literal["build", "verify", "start", "load", "stop"]
    message: str
    log_tail: str = Field("", description="last lines that the server printed")


class Trial(PlannedTrial):
    """One fresh start of one server driven once through all stages."""

    started: str = Field(description="start time of the trial, ISO 8601 in UTC")
    seconds: float
    build: str = Field(
        description="digest of the sources (process driver), of the image (docker driver), or of address and protocol "
        "(server that runs elsewhere)"
    )
    reported: ReportedVersions | None
    failure: Failure | None
    validity: Validity
    repeated: list[Finding] = Field(
        default=[], description="how the machine disturbed a first trial that this one replaces; empty for other trials"
    )
    stages: list[StageResult]
    timeline: Timeline | None
    resources: Resources | None
    errors: list[ReportedError]

    @property
    def died(self) -> bool:
        """Whether the server ended under load: the stages go up to and include the one in which it ended."""
        return self.failure is not None and self.failure.step == "load"


class Skipped(Document):
    """A requested server that this machine could not build."""

    server: str
    reason: str


class Elsewhere(Document):
    """Where a server runs that Pushbench does not start. The files are those named on the command line."""

    url: str
    protocol: str | None = Field(None, description="value of --protocol; null for a server of the catalog")
    ca: str | None = Field(None, description="value of --ca; null without it")
    owner_agreed: bool = Field(False, description="whether --owner-agreed lifted the ceiling of the load")


class Cluster(Document):
    """Where in Kubernetes the trials ran, as given on the command line."""

    context: str | None = Field(
        None, description="digest of --context, or its name in older records; null for the current context"
    )
    namespace_prefix: str | None = Field(None, description="value of --namespace-prefix; null for the default prefix")


class OneSided(Skipped):
    """A server that cannot be compared."""

    failed: Literal["base", "head"] | None = Field(
        None, description="arm that did not build or conform; null if the base does not have the server"
    )


class Accepting(Document):
    """A line of the head's thresholds.yml that accepts a regression, and that the base does not have."""

    server: str = Field(max_length=200)
    metric: str = Field(max_length=100)
    stages: Annotated[list[str], Field(max_length=100)] | None = Field(
        description="names of the stages that the line covers; null for all"
    )
    level: float | None = Field(description="worst accepted value, in base units; null if the line has `change`")
    change: float | None = Field(
        description="largest accepted change for the worse, where 0.12 is 12 %; null if the line has `level`"
    )
    reason: str = Field(max_length=500)
    until: date
    where: str = Field(description="file and line number", max_length=100)
    confirmed: bool = Field(True, description="false for a line of an untrusted contributor, which has no effect")


class Comparison(Document):
    """The comparison of a run: the head's servers with those of another commit, driven by the head's harness."""

    base: Commit
    most_rounds: int = Field(description="maximum number of rounds, over which the looks at the results are spread")
    identical: list[str] = Field(
        description="servers whose builds are the same in both arms, so there is nothing to measure"
    )
    one_sided: list[OneSided] = Field(description="servers that only one arm has or can run, with the reason")
    injected: str | None = Field(
        None,
        description="fault that was injected into the head to measure the judge itself, `none` for no fault; null for "
        "other comparisons",
    )
    accepting: list[Accepting] = Field(
        default=[],
        description="lines of the head's thresholds.yml that accept a regression and that the base's does not have",
        max_length=100,
    )
    fixed: bool = Field(False, description="whether all rounds were played, regardless of what was decided")


class Machine(Document):
    """One of several machines that share the servers of a run."""

    name: Slug
    servers: list[str] = Field(description="servers whose trials all ran on this machine", max_length=1000)
    apart: str = Field(
        "",
        description="why the results of this machine are not compared with the others; empty if they are",
        max_length=500,
    )


class Record(Document):
    """One run on one machine, or of several alike that share its servers: servers x arms x rounds."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    id: Slug = Field(description="unique id that sorts by time, such as 20261121T101500Z-1a2b3c")
    created: Instant = Field(description="time of creation, ISO 8601 in UTC")
    commit: Commit | None = Field(description="commit of the measured sources; null outside a git checkout")
    harness: Harness
    environment: Environment
    suite: Slug
    words: Vocabulary = Field(default=ORIGINAL, description="terms of the suite")
    profile: Slug
    parameters: Parameters
    schedule: Schedule
    repeats_disturbed: bool = Field(True, description="whether a trial that the machine disturbed is repeated once")
    judges_times: bool = Field(True, description="whether limits and margins on times apply")
    thresholds_digest: str | None
    live: bool = Field(
        False, description="whether metrics were streamed during the run, which costs the generator some CPU"
    )
    watched: bool = Field(
        False, description="whether the load was drawn in a terminal during the run, on the generator's CPUs"
    )
    skipped: list[Skipped] = []
    machines: list[Machine] = Field(
        [], description="machines that share the servers; empty for one machine", max_length=20
    )
    comparison: Comparison | None = Field(None, description="comparison with a base; null for a run of one arm")
    elsewhere: dict[str, Elsewhere] | None = Field(None, description="servers that run elsewhere, by id; null for none")
    cluster: Cluster | None = Field(
        None, description="Kubernetes cluster of the trials; null for other drivers, and in older records"
    )
    plan: list[PlannedTrial]
    trials: list[Trial]

    @property
    def complete(self) -> bool:
        return len(self.trials) == len(self.plan)

    @property
    def servers(self) -> list[str]:
        """The ids of all servers of the run, in alphabetical order."""
        return sorted({*(each.server for each in self.plan), *(each.server for each in self.trials)})
