"""The keys of `thresholds.yml`, as people write them. `thresholds_reader` reads them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PositiveInt, StringConstraints, model_validator

from pushbench.catalog.limits import LimitEntry, MetricName, Quantity, RegressionEntry, SuiteEntry
from pushbench.foundation.model import Document

CAPACITY = "capacity"
"""in the place of a metric: the result of `pushbench capacity`, which no run measures"""
LONGEST_ACCEPTANCE = timedelta(days=90)
"""from the day on which a line that accepts a regression is written to the last day on which it may hold"""


def _in_words(value: str) -> str:
    if not any(character.isalpha() for character in value):
        raise ValueError("expected a reason in words")
    return value


Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500), AfterValidator(_in_words)]
"""a reason in words; the placeholder `...` that a comment proposes is not one"""


def _date(value: Any) -> date:
    try:
        return value if type(value) is date else date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError("expected a date such as 2027-06-30") from None


def _stage(value: Any) -> str:
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    raise ValueError("expected a number of clients or the name of a stage")


Day = Annotated[date, BeforeValidator(_date)]
StageName = Annotated[str, BeforeValidator(_stage, json_schema_input_type=PositiveInt | str)]


class ServerLimitEntry(LimitEntry):
    """A limit for one server, instead of its suite's."""

    stages: Annotated[list[StageName], Field(min_length=1)] | None = Field(
        default=None, description="stages for which the limit holds, by number of clients or name; all when left out"
    )
    reason: Reason = Field(description="why this server has its own limit; shown in reports")
    until: Day | None = Field(default=None, description="last day on which the limit holds; every day when left out")


class ServerRegressionEntry(RegressionEntry):
    """A margin for one server, instead of its suite's."""

    reason: Reason = Field(description="why this server has its own margin; shown in reports")


class AcceptedEntry(Document):
    """How much worse a metric of a server may get: a change that a person has looked at. One of `level`, `change` and
    `since`.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["level", "until"]}, {"required": ["change", "until"]}, {"required": ["since"]}]
        }
    )

    level: Quantity | None = Field(default=None, description="worst accepted value, in the metric's unit, such as 45us")
    change: Quantity | None = Field(default=None, description="largest accepted change for the worse, such as 12%")
    since: Day | None = Field(
        default=None, description="day whose runs begin a new level, with which the history compares later runs"
    )
    stages: Annotated[list[StageName], Field(min_length=1)] | None = Field(
        default=None, description="stages for which the line holds, by number of clients or name; all when left out"
    )
    reason: Reason = Field(description="why the change is accepted; shown in reports")
    until: Day | None = Field(
        default=None,
        description="last day on which `level` or `change` holds; required with either, not allowed with `since`",
    )

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        if [self.level, self.change, self.since].count(None) != 2:
            raise ValueError("expected one of level, change and since")
        if (self.since is None) == (self.until is None):
            raise ValueError("expected until beside level or change, and not beside since")
        return self


class ServerEntry(Document):
    """What applies to one server in one suite."""

    limits: dict[MetricName, ServerLimitEntry] = {}
    regressions: dict[MetricName, ServerRegressionEntry] = Field(
        default={}, description="margins of this server, such as those from the results of `pushbench calibrate bias`"
    )
    accepted: dict[MetricName, AcceptedEntry] = Field(default={}, description="accepted regressions, by metric")

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.limits or self.regressions or self.accepted):
            raise ValueError("expected limits, regressions or accepted")
        return self


class ThresholdsFile(Document):
    """A `thresholds.yml`."""

    version: Literal[1]
    suites: dict[str, SuiteEntry] = Field(
        default={}, description="limits and margins of whole suites, by the suite's name"
    )
    servers: dict[str, dict[str, ServerEntry]] = Field(
        default={}, description="lines about single servers, by the server's id, then the suite's name"
    )
