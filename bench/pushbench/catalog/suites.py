"""The suites of a checkout: `k6/scenarios/*.yml`, each beside the scenario that plays it.

A suite consists of data and a scenario; neither this module nor any higher room depends on what its clients do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    StringConstraints,
    model_validator,
)

from pushbench.catalog.limits import SuiteEntry
from pushbench.catalog.protocol_file import Transport
from pushbench.catalog.protocols import read_protocol
from pushbench.catalog.servers import Name, Server
from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.foundation.yamlfile import load_yaml, unknown
from pushbench.records.capacity import CLIENTS, Search
from pushbench.records.record import Outage, Parameters, Schedule, StagePlan
from pushbench.records.stages import stage_name
from pushbench.records.vocabulary import Vocabulary

Value = str | int | float | bool
StageName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")]
"""Begins with a letter, because a number is the name of a stage with that many clients."""


class Stage(Document):
    """A stage with its own name, and optionally its own parameters."""

    clients: PositiveInt
    closed: bool = Field(
        False,
        description="a client's next exchange is due when its previous one has ended, whatever the parameters say",
    )
    name: StageName = Field(
        default_factory=stage_name,
        description="name of the stage; when left out, the number of clients, after `closed-` for a closed stage",
    )
    parameters: Parameters = Field(default={}, description="parameters of this stage that replace those of the load")
    outage: Outage | None = Field(None, description="what is killed in the steady window; nothing when left out")

    @model_validator(mode="after")
    def _says_closed(self) -> Self:
        """Require `closed` in the name of a closed stage: its latencies omit exchanges that a slow server prevented, so
        readers must not compare them with others.
        """
        if self.closed and "closed" not in self.name.split("-"):
            raise ValueError(f"the name of a closed stage says so, such as {self.name}-closed")
        return self


def _stage(value: Any) -> Any:
    if type(value) is int:
        return {"clients": value}
    if isinstance(value, dict | Stage):
        return value
    raise ValueError("expected a number of clients, or a mapping of name, clients and parameters")


StageEntry = Annotated[Stage, BeforeValidator(_stage, json_schema_input_type=PositiveInt | Stage)]


class Profile(Document):
    """The size of a suite. Seconds, as in record.Schedule; `parameters` replace the suite's defaults."""

    stages: Annotated[list[StageEntry], Field(min_length=1, description="stages: numbers of clients, or mappings")]
    warmup_seconds: NonNegativeFloat
    ramp_seconds: NonNegativeFloat
    settle_seconds: NonNegativeFloat
    steady_seconds: PositiveFloat
    drain_seconds: PositiveFloat
    repeats_disturbed: bool = Field(True, description="whether a trial that the machine disturbed is repeated once")
    judges_times: bool = Field(True, description="whether limits and margins on times apply")
    parameters: Parameters = Field(default={}, description="parameters of this profile that replace those of the suite")

    @model_validator(mode="after")
    def _outages_fit(self) -> Self:
        for stage in self.stages:
            if outage := stage.outage:
                end = outage.at_seconds + outage.within_seconds
                if end > self.steady_seconds or outage.down_seconds >= outage.within_seconds:
                    raise ValueError(
                        f"the outage of stage {stage.name} ends after {end:g} s, {outage.down_seconds:g} s of them "
                        f"down: expected an end within the steady window of {self.steady_seconds:g} s, and "
                        "down_seconds below within_seconds"
                    )
        return self

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        name, times = Counter(stage.name for stage in self.stages).most_common(1)[0]
        if times > 1:
            raise ValueError(f"{times} stages have the name {name}")
        return self

    def schedule(self, parameters: Parameters) -> Schedule:
        """The schedule of a load with these parameters. If a stage's parameters differ from those of the stage before,
        its ramp includes the drain.
        """
        stages: list[StagePlan] = []
        before: tuple[bool, Parameters] = (False, {})
        for stage in self.stages:
            own = {name: value for name, value in stage.parameters.items() if value != parameters[name]}
            drain = self.drain_seconds if stages and (stage.closed, own) != before else 0.0
            stages.append(
                StagePlan(
                    clients=stage.clients,
                    closed=stage.closed,
                    name=stage.name,
                    ramp_seconds=drain + self.ramp_seconds,
                    settle_seconds=self.settle_seconds,
                    steady_seconds=self.steady_seconds,
                    parameters=own,
                    outage=stage.outage,
                )
            )
            before = (stage.closed, own)
        return Schedule(warmup_seconds=self.warmup_seconds, stages=stages, drain_seconds=self.drain_seconds)


class Offered(Document):
    """What clients send, known before a load begins: for the ceiling of loads on servers that run elsewhere."""

    by: str = Field(description="name of the parameter that sets how often clients send")
    messages_per_second: dict[str, PositiveFloat] = Field(
        description="upper bound of the mean rate of one client, for each value of that parameter"
    )
    group: str = Field(description="name of the parameter with the number of members that a message goes to")

    def deliveries_per_second(self, clients: int, parameters: Parameters) -> float:
        """The deliveries to all clients, at most and in the mean."""
        each = self.messages_per_second[str(parameters[self.by])]
        return clients * each * min(clients, int(parameters[self.group]))


class Stored(Document):
    """Where each answered exchange must be stored after a load."""

    service: str = Field(description="service that stores the exchanges, such as mysql")
    ask: str = Field(
        description="query for the service's client program that returns one number: how many exchanges are stored"
    )


class SuiteFile(SuiteEntry):
    """A suite: `k6/scenarios/<suite>.yml`. Its limits and margins hold unless thresholds.yml has others."""

    title: str
    description: str
    protocols: Annotated[list[Name], Field(min_length=1)]
    declared_protocols: Transport | None = Field(
        default=None,
        description="transport of the protocols that servers of the suite may declare: messages to the members of "
        "groups (websocket), streams of tokens (sse), or requests with one response (http)",
    )
    undeclared_parameters: list[str] = Field(
        default=[], description="numeric parameters that only the suite's own protocols follow if they are not 0"
    )
    offered: Offered | None = Field(
        None, description="how much clients send, for suites whose servers may declare protocols"
    )
    parameters: Parameters = Field(description="parameters of the suite, with their default values")
    choices: dict[str, list[Value]] = Field(
        default={}, description="allowed values, by parameter; parameters that are not listed take any value"
    )
    minimum: dict[str, float] = Field(
        default={}, description="smallest allowed values of numeric parameters, by parameter"
    )
    connections: dict[Name, PositiveInt] = Field(
        default={}, description="number of connections of each client, by protocol, for protocols with more than one"
    )
    stored: Stored | None = Field(
        None, description="service whose stored exchanges are compared with each load; none when left out"
    )
    words: Vocabulary = Field(description="terms that users of the suite see")
    profiles: Annotated[dict[Name, Profile], Field(min_length=1)]
    capacity: Search | None = Field(
        None, description="what `pushbench capacity` searches for; when left out, the suite has no capacity"
    )

    @model_validator(mode="after")
    def _capacity_has_parameters(self) -> Self:
        if self.capacity:
            rate = [] if self.capacity.searched == CLIENTS else [self.capacity.searched]
            for name in (*self.capacity.parameters, *rate):
                if name not in self.parameters:
                    raise ValueError(f"capacity: {name} is not a parameter of the suite")
        return self

    @model_validator(mode="after")
    def _undeclared_are_known(self) -> Self:
        for name in self.undeclared_parameters:
            if name not in self.parameters:
                raise ValueError(f"undeclared_parameters: {name} is not a parameter of the suite")
        return self

    @model_validator(mode="after")
    def _offered_is_known(self) -> Self:
        if self.offered:
            for name in (self.offered.by, self.offered.group):
                if name not in self.parameters:
                    raise ValueError(f"offered: {name} is not a parameter of the suite")
            values = self.choices.get(self.offered.by, [])
            if {str(each) for each in values} != self.offered.messages_per_second.keys():
                raise ValueError(f"offered: expected a rate for each of the choices of {self.offered.by}")
        return self

    @model_validator(mode="after")
    def _outages_have_words(self) -> Self:
        stages = [stage for profile in self.profiles.values() for stage in profile.stages]
        if any(stage.outage for stage in stages) and not self.words.recovers:
            raise ValueError("a stage has an outage, but `words` lacks `recovers: true`")
        return self


@dataclass(frozen=True)
class Load:
    """The load of every trial of a run."""

    suite: str
    profile: str
    scenario: Path
    schedule: Schedule
    parameters: Parameters
    words: Vocabulary
    repeats_disturbed: bool = True
    """A trial that the machine disturbed is measured again, once."""
    judges_times: bool = True
    """Limits and margins on times are judged."""
    connections: int = 1
    """of a client, at most"""
    stored: Stored | None = None

    @property
    def most_connections(self) -> int:
        """The number of connections of the largest stage."""
        return self.connections * max(stage.clients for stage in self.schedule.stages)


@dataclass(frozen=True)
class Suite:
    id: str
    file: Path
    spec: SuiteFile

    @property
    def scenario(self) -> Path:
        return self.file.with_suffix(".js")

    @property
    def stages(self) -> list[str]:
        """The names of the stages of all profiles."""
        return list(dict.fromkeys(stage.name for profile in self.spec.profiles.values() for stage in profile.stages))

    def load(self, profile: str, given: Mapping[str, str]) -> Load:
        """The profile with the parameters of the suite, those of the profile and the `given` ones, the last winning.

        A stage keeps its own parameters.
        Raises UserError for an unknown profile or parameter and for an invalid value.
        """
        if profile not in self.spec.profiles:
            raise unknown(f"profile of {self.id}", profile, list(self.spec.profiles))
        chosen = self.spec.profiles[profile]
        parameters = self.spec.parameters | chosen.parameters
        for name, text in given.items():
            parameters[name] = self._value(parameters, name, text)
        for stage in chosen.stages:
            for name, value in stage.parameters.items():
                self._value(parameters, name, str(value), where=f"{self.file}: stage {stage.name}")
        return Load(
            suite=self.id,
            profile=profile,
            scenario=self.scenario,
            schedule=chosen.schedule(parameters),
            parameters=parameters,
            words=self.spec.words,
            repeats_disturbed=chosen.repeats_disturbed,
            judges_times=chosen.judges_times,
            connections=max(self.spec.connections.values(), default=1),
            stored=self.spec.stored,
        )

    def _value(self, known: Parameters, name: str, text: str, where: str | None = None) -> Value:
        if name not in known:
            raise unknown(f"parameter of {self.id}", name, list(known), where=where)
        return self._allowed(name, _like(known[name], name, text, where), where)

    def _allowed(self, name: str, value: Value, where: str | None) -> Value:
        choices, least = self.spec.choices.get(name, []), self.spec.minimum.get(name)
        if choices and value not in choices:
            raise unknown(f"value of {name}", str(value), [str(choice) for choice in choices], where=where)
        if least is not None and float(value) < least:
            raise UserError(f"parameter {name}: expected at least {least:g}, found {value}", where=where)
        return value

    def check(self, server: Server) -> None:
        """Raises UserError if the suite has no client for the server's protocol, or if its declaration is wrong."""
        if server.protocol_file:
            if not self.spec.declared_protocols:
                raise UserError(f"the suite {self.id} has no declared protocols", where=str(server.file))
            declared = read_protocol(server.protocol_file)
            if declared.transport != self.spec.declared_protocols:
                what = f"the suite {self.id} plays protocols over {self.spec.declared_protocols}"
                raise declared.error(declared.transport, f"{what}: choose another `suite` in server.yml")
            declared.environment()
        elif server.spec.protocol not in self.spec.protocols:
            raise unknown(f"protocol of {self.id}", server.spec.protocol, self.spec.protocols, where=str(server.file))


def read_suites(scenarios: Path) -> list[Suite]:
    return [Suite(file.stem, file, load_yaml(file, SuiteFile)) for file in sorted(scenarios.glob("*.yml"))]


def declaring_suite(scenarios: Path, transport: Transport, wanted: str = "") -> Suite:
    """The suite whose servers declare protocols over a transport; the `wanted` one if there are several.

    Raises UserError.
    """
    known = [suite for suite in read_suites(scenarios) if suite.spec.declared_protocols == transport]
    if wanted:
        known = [suite for suite in known if suite.id == find_suite(scenarios, wanted).id]
    if len(known) == 1:
        return known[0]
    none = f"the suite {wanted} has no declared protocols over {transport}"
    what = none if wanted else "the protocol does not determine the suite"
    raise UserError(what, hint="add --suite: `./pushbench suites`")


def find_suite(scenarios: Path, name: str) -> Suite:
    suites = {suite.id: suite for suite in read_suites(scenarios)}
    if name not in suites:
        raise unknown("suite", name, list(suites))
    return suites[name]


def _like(default: Value, name: str, text: str, where: str | None) -> Value:
    """`text` converted to the type of the default."""
    try:
        match default:
            case bool():
                return {"true": True, "false": False}[text.lower()]
            case int():
                return int(text)
            case float():
                return float(text)
    except (ValueError, KeyError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[type(default)]
        raise UserError(f"parameter {name}: expected {wanted}, found {text!r}", where=where) from None
    return text
