"""The record: the immutable document of one run, from which everything else is derived.

This module has only the shapes; `store` reads and writes them. Base units everywhere: seconds, bytes, counts, cores.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, Field, StringConstraints, model_validator

from pushbench.foundation.model import Document
from pushbench.records.load_report import Histogram, Kill, Receipts, ReportedError
from pushbench.records.seconds import Resources, Timeline
from pushbench.records.stages import default_name
from pushbench.records.vocabulary import ORIGINAL, Name, Vocabulary

METHOD = 2
"""The number of the metrics' definitions, kept in each record's environment; docs/method.md says what 1 was."""
Parameters = dict[str, str | int | float | bool]
"""Of a suite, by their names."""


def _instant(text: str) -> str:
    datetime.fromisoformat(text)
    return text


Instant = Annotated[str, AfterValidator(_instant)]
Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
"""what may be part of a file's path, even in a record from elsewhere"""


class Commit(Document):
    """The source that the run measured."""

    sha: str
    ref: str
    subject: str
    author_time: str = Field(description="ISO 8601 with offset")
    dirty: bool = Field(description="the work tree had changes that the commit does not hold")


class Harness(Document):
    """The versions of the measuring software."""

    pushbench: str
    k6: str
    extension: str
    go: str


class Environment(Document):
    """The machine, kernel, engine and driver of a run, or the server's node with the driver kubernetes. Records with
    different keys must never be compared.
    """

    key: Slug = Field(description="short digest over the other fields, the host name left out")
    cpu_model: str
    cpus: int = Field(description="logical CPUs that the run could use")
    physical_cores: int | None = Field(description="null where the driver is kubernetes, whose nodes do not tell")
    memory_bytes: int
    kernel: str = Field(description="release, shortened to what can change results: 6.18")
    engine: str | None = Field(description="container engine and version, for the docker driver")
    driver: Literal["process", "docker", "kubernetes", "remote"] = Field(
        description="remote: the servers run elsewhere, so nothing of them was started or metered"
    )
    workers: int | None = Field(default=None, description="WORKERS of the servers, where it is not one a CPU")
    generators: int | None = Field(
        default=None, description="k6 processes that share the clients, where there is not one; not kept by method 1"
    )
    services: dict[str, str] | None = Field(
        default=None, description="product and version of each service that moves numbers by them: MariaDB 10.11.19"
    )
    machine: Slug | None = Field(
        default=None, description="name of a machine that is not like the others of its run; null for any other"
    )
    awake: Literal[True] | None = Field(
        default=None, description="idle CPUs polled for work instead of halting; null where they could halt"
    )
    server_cpus: list[int] = Field(description="none of a server that runs elsewhere")
    generator_cpus: list[int]
    method: int | None = Field(default=None, description="number of the metrics' definitions; null: 1")

    @property
    def remote(self) -> bool:
        return self.driver == "remote"

    @property
    def generator_cores(self) -> int:
        """The CPUs of all generators. In a cluster, where `generator_cpus` names none, each has one."""
        return len(self.generator_cpus) or self.generators or 1

    @property
    def method_number(self) -> int:
        """The method; 1 for records from before it was kept."""
        return self.method or 1


class Outage(Document):
    """A kill in the steady window of a stage. The target is started again; clients come back by themselves."""

    kill: Kill
    at_seconds: float = Field(ge=1, description="from the beginning of the steady window")
    down_seconds: float = Field(0.0, ge=0, description="between the kill and the new start")
    within_seconds: float = Field(gt=0, description="after the kill; what is due meanwhile is counted apart")


class StagePlan(Document):
    """One stage of a profile, resolved: `clients` held for `steady_seconds`, measured; the rest is ramp.

    If `parameters` or `closed` differ from the stage before, all clients leave and new ones connect: the ramp then
    begins with the drain.
    """

    clients: int
    closed: bool = Field(False, description="a client's next exchange is due when its last one has ended")
    name: str = Field(default_factory=default_name, description="unique; the number of clients when left out")
    ramp_seconds: float
    settle_seconds: float
    steady_seconds: float
    parameters: Parameters = Field(default={}, description="those that are others in this stage than in the record")
    outage: Outage | None = Field(None, description="what is killed meanwhile, of servers that have it")


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
    order: int = Field(description="position in the run, from 0")
    seed: int = Field(description="for the clients' phases")
    together: bool = Field(False, description="with the other arm's trial of the round, at the same time")


class ReportedVersions(Document):
    """The versions that the server reported on /healthz."""

    server: str
    runtime: str
    framework: str


class Finding(Document):
    """One reason to distrust a trial."""

    code: str = Field(description="stable and machine-readable: generator_cpu, steal, send_lateness, ...")
    message: str = Field(description="a sentence with the number and the bound")
    stage: int | None = Field(None, description="index of the stage, when it concerns one")


class Validity(Document):
    """Whether the trial measured the server, and the reasons if not."""

    valid: bool
    reasons: list[Finding] = Field(description="each makes the trial invalid")
    warnings: list[Finding]


class OutageResult(Document):
    """The results of a kill; its times are also in `reconnect` and `away` of the stage's histograms. Seconds from the
    start of the load.
    """

    kill: Kill
    kill_seconds: float = Field(description="when something was killed")
    begin_seconds: float = Field(description="what was due from then to the end is counted here alone")
    end_seconds: float
    back_seconds: float | None = Field(
        description="when the last client was a member again; null where one never was, or none was away"
    )
    last_lost_seconds: float | None = Field(description="when the last message was due that a member never got")
    disconnects: int
    attempts: int
    failed: int
    unsent: int = Field(description="messages that were due while their senders were away")
    receipts: Receipts


PartName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=30)]
"""of a system's containers, as its compose file calls them"""


class StageResult(Document):
    """The results of one stage. A metric that could not be measured is null, never 0."""

    clients: int
    name: str = Field(default_factory=default_name, description="of the stage, as in the schedule")
    parameters: Parameters = Field(default={}, description="of the stage, as in the schedule")
    begin_seconds: float = Field(description="of the steady window, from the start of the load")
    end_seconds: float
    metrics: dict[str, float | None]
    parts: dict[PartName, dict[str, float | None]] = Field(
        default={},
        description="CPU and memory of each part of a server that is a system, as `metrics` have them of all together",
        max_length=16,
    )
    receipts: Receipts = Field(validation_alias=AliasChoices("receipts", "deliveries"))
    beside: dict[Name, Receipts] = Field(default={}, description="of the exchanges beside the first", max_length=5)
    outage: OutageResult | None = Field(
        default=None, description="null where nothing was killed; receipts and latencies above leave its window out"
    )
    arrived: int | None = Field(
        default=None, description="first receipts inside the steady window; null in records of method 1"
    )
    histograms: dict[Slug, Histogram] = Field(
        description="the suite's latencies by their names, and `lateness` and `connect`", max_length=50
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
    log_tail: str = Field("", description="the last lines that the server printed")


class Trial(PlannedTrial):
    """One fresh start of one server driven once through all stages."""

    started: str = Field(description="ISO 8601, UTC")
    seconds: float
    build: str = Field(
        description="source digest (process driver), image digest (docker driver), or digest of address and protocol"
    )
    reported: ReportedVersions | None
    failure: Failure | None
    validity: Validity
    repeated: list[Finding] = Field(
        default=[],
        description="how the machine was disturbed in a first trial that this one replaces; else empty",
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
    """Where a server runs that Pushbench does not start. The files are those that the command line named."""

    url: str
    protocol: str | None = Field(None, description="--protocol; null for a server of the catalog")
    ca: str | None = Field(None, description="--ca")
    owner_agreed: bool = Field(False, description="--owner-agreed: the ceiling was lifted")


class Cluster(Document):
    """Where in Kubernetes the trials ran, as the command line said it."""

    context: str | None = Field(
        None, description="the digest of --context, in older records its name; null for the one that was current"
    )
    namespace_prefix: str | None = Field(None, description="--namespace-prefix; null for the usual one")


class OneSided(Skipped):
    """A server that cannot be compared."""

    failed: Literal["base", "head"] | None = Field(
        None, description="the arm that did not build or conform; null where the base does not have the server"
    )


class Accepting(Document):
    """A line of the head's thresholds.yml that accepts a regression, and that the base does not have."""

    server: str = Field(max_length=200)
    metric: str = Field(max_length=100)
    stages: Annotated[list[str], Field(max_length=100)] | None = Field(description="by name; null for all")
    level: float | None = Field(description="the worst value that it accepts, in base units; null where it has change")
    change: float | None = Field(description="the most by which it may get worse, as a share; null where it has level")
    reason: str = Field(max_length=500)
    until: date
    where: str = Field(description="file and line", max_length=100)
    confirmed: bool = Field(True, description="false for a line of strangers, which has no effect")


class Comparison(Document):
    """The comparison of a run: the head's servers with those of another commit, driven by the head's harness."""

    base: Commit
    most_rounds: int = Field(description="after so many nothing more is asked; the looks are spread over them")
    identical: list[str] = Field(description="servers whose builds are the same in both arms: nothing to measure")
    one_sided: list[OneSided] = Field(description="servers that only one arm has, or can run, and why")
    injected: str | None = Field(
        None, description="the fault that the head was given, `none` for none, where the judge itself was measured"
    )
    accepting: list[Accepting] = Field(
        default=[],
        description="regressions that the head's thresholds.yml accepts and the base's does not",
        max_length=100,
    )
    fixed: bool = Field(False, description="all rounds were played, whatever was decided")


class Machine(Document):
    """One of several machines that share the servers of a run."""

    name: Slug
    servers: list[str] = Field(description="all trials of these were on it", max_length=1000)
    apart: str = Field(
        "", description="why nothing of it is compared with the others; empty where it is", max_length=500
    )


class Record(Document):
    """One run on one machine, or of several alike that share its servers: servers x arms x rounds."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    id: Slug = Field(description="sortable by time and unique: 20261121T101500Z-1a2b3c")
    created: Instant = Field(description="ISO 8601, UTC")
    commit: Commit | None = Field(description="null outside a git checkout")
    harness: Harness
    environment: Environment
    suite: Slug
    words: Vocabulary = Field(default=ORIGINAL, description="the suite's words")
    profile: Slug
    parameters: Parameters
    schedule: Schedule
    repeats_disturbed: bool = Field(True, description="a trial that the machine disturbed is measured again, once")
    judges_times: bool = Field(True, description="limits and margins on times are asked")
    thresholds_digest: str | None
    live: bool = Field(False, description="metrics were streamed meanwhile, which costs the generator some CPU")
    watched: bool = Field(False, description="the load was drawn in a terminal meanwhile, on the generator's CPUs")
    skipped: list[Skipped] = []
    machines: list[Machine] = Field([], description="that share the servers; empty for one machine", max_length=20)
    comparison: Comparison | None = Field(None, description="null for a run of one arm")
    elsewhere: dict[str, Elsewhere] | None = Field(None, description="servers that run elsewhere, by id; null for none")
    cluster: Cluster | None = Field(None, description="of the driver kubernetes; null for others, and in older records")
    plan: list[PlannedTrial]
    trials: list[Trial]

    @property
    def complete(self) -> bool:
        return len(self.trials) == len(self.plan)

    @property
    def servers(self) -> list[str]:
        """The ids of all servers of the run, in alphabetical order."""
        return sorted({*(each.server for each in self.plan), *(each.server for each in self.trials)})
