"""The suites of a checkout: `k6/scenarios/*.yml`, each beside the scenario that plays it.

A suite is data and a scenario; nothing here, and nothing above, knows what one suite's clients do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from pushbench.catalog import Name, Server
from pushbench.errors import UserError
from pushbench.model import Document
from pushbench.record import Schedule, StagePlan
from pushbench.yamlfile import load_yaml, unknown

Value = str | int | float | bool
Parameters = dict[str, Value]


class Profile(Document):
    """The size of a suite. Seconds, as in record.Schedule; `parameters` replace the suite's defaults."""

    clients: Annotated[list[PositiveInt], Field(min_length=1, description="clients of each stage")]
    warmup_seconds: NonNegativeFloat
    ramp_seconds: NonNegativeFloat
    settle_seconds: NonNegativeFloat
    steady_seconds: PositiveFloat
    drain_seconds: PositiveFloat
    parameters: Parameters = Field(default={}, description="instead of the suite's")

    @property
    def schedule(self) -> Schedule:
        return Schedule(
            warmup_seconds=self.warmup_seconds,
            stages=[
                StagePlan(
                    clients=clients,
                    ramp_seconds=self.ramp_seconds,
                    settle_seconds=self.settle_seconds,
                    steady_seconds=self.steady_seconds,
                )
                for clients in self.clients
            ],
            drain_seconds=self.drain_seconds,
        )


class SuiteFile(Document):
    """A suite: `k6/scenarios/<suite>.yml`."""

    title: str
    description: str
    protocols: Annotated[list[Name], Field(min_length=1)]
    parameters: Parameters = Field(description="with their defaults")
    choices: dict[str, list[Value]] = Field(default={}, description="of a parameter, where not every value will do")
    minimum: dict[str, float] = Field(default={}, description="of a parameter that is a number")
    profiles: Annotated[dict[Name, Profile], Field(min_length=1)]


@dataclass(frozen=True)
class Load:
    """What every trial of a run offers to its server."""

    suite: str
    profile: str
    scenario: Path
    schedule: Schedule
    parameters: Parameters


@dataclass(frozen=True)
class Suite:
    id: str
    file: Path
    spec: SuiteFile

    @property
    def scenario(self) -> Path:
        return self.file.with_suffix(".js")

    def load(self, profile: str, given: Mapping[str, str]) -> Load:
        """The profile with the suite's, the profile's and the `given` parameters, the last winning.

        Raises UserError for an unknown profile or parameter and for a value that the parameter cannot have.
        """
        if profile not in self.spec.profiles:
            raise unknown(f"profile of {self.id}", profile, list(self.spec.profiles))
        chosen = self.spec.profiles[profile]
        parameters = self.spec.parameters | chosen.parameters
        for name, text in given.items():
            if name not in parameters:
                raise unknown(f"parameter of {self.id}", name, list(parameters))
            parameters[name] = self._allowed(name, _like(parameters[name], name, text))
        return Load(self.id, profile, self.scenario, chosen.schedule, parameters)

    def _allowed(self, name: str, value: Value) -> Value:
        choices, least = self.spec.choices.get(name, []), self.spec.minimum.get(name)
        if choices and value not in choices:
            raise unknown(f"value of {name}", str(value), [str(choice) for choice in choices])
        if least is not None and float(value) < least:
            raise UserError(f"parameter {name}: expected at least {least:g}, found {value}")
        return value

    def check(self, server: Server) -> None:
        """Raises UserError when the suite has no client for the server's protocol."""
        if server.spec.protocol not in self.spec.protocols:
            raise unknown(f"protocol of {self.id}", server.spec.protocol, self.spec.protocols, where=str(server.file))


def read_suites(scenarios: Path) -> list[Suite]:
    return [Suite(file.stem, file, load_yaml(file, SuiteFile)) for file in sorted(scenarios.glob("*.yml"))]


def find_suite(scenarios: Path, name: str) -> Suite:
    suites = {suite.id: suite for suite in read_suites(scenarios)}
    if name not in suites:
        raise unknown("suite", name, list(suites))
    return suites[name]


def _like(default: Value, name: str, text: str) -> Value:
    """`text` as a value of the default's type."""
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
        raise UserError(f"parameter {name}: expected {wanted}, found {text!r}") from None
    return text
