"""The keys of `thresholds.yml`, as people write them. `thresholds_reader` reads them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PositiveInt, StringConstraints, model_validator

from pushbench.catalog.limits import LimitEntry, MetricName, Quantity, RegressionEntry, SuiteEntry
from pushbench.foundation.model import Document

CAPACITY = "capacity"
"""in the place of a metric: what `pushbench capacity` finds, which no run measures"""
LONGEST_ACCEPTANCE = timedelta(days=90)
"""from the day on which a line that accepts a regression is written to the last day on which it may hold"""


def _in_words(value: str) -> str:
    if not any(character.isalpha() for character in value):
        raise ValueError("expected a reason in words")
    return value


Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500), AfterValidator(_in_words)]
"""what a comment proposes for it, `...`, is none"""


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
        default=None,
        description="names of the stages that it holds for, a number of clients or a word; all when left out",
    )
    reason: Reason = Field(description="why this server is judged otherwise; shown in reports")
    until: Day | None = Field(default=None, description="the last day on which it holds")


class ServerRegressionEntry(RegressionEntry):
    """A margin for one server, instead of its suite's."""

    reason: Reason = Field(description="why this server is judged otherwise; shown in reports")


class AcceptedEntry(Document):
    """How much worse a metric of a server may get: a change that somebody has looked at. One of `level`, `change` and
    `since`.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["level", "until"]}, {"required": ["change", "until"]}, {"required": ["since"]}]
        }
    )

    level: Quantity | None = Field(default=None, description="the worst value, in the metric's unit, such as 45us")
    change: Quantity | None = Field(
        default=None, description="the most by which it may get worse than before, such as 12%"
    )
    since: Day | None = Field(
        default=None, description="the day whose runs begin the level that the history holds later ones against"
    )
    stages: Annotated[list[StageName], Field(min_length=1)] | None = Field(
        default=None, description="names of the stages that it holds for; all when left out"
    )
    reason: Reason = Field(description="why the change is accepted; shown in reports")
    until: Day | None = Field(default=None, description="the last day on which a level or change holds; needed there")

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        if [self.level, self.change, self.since].count(None) != 2:
            raise ValueError("expected one of level, change and since")
        if (self.since is None) == (self.until is None):
            raise ValueError("expected until beside level or change, and not beside since")
        return self


class ServerEntry(Document):
    """What holds for one server in one suite."""

    limits: dict[MetricName, ServerLimitEntry] = {}
    regressions: dict[MetricName, ServerRegressionEntry] = Field(
        default={}, description="margins, such as one that rests on what `pushbench calibrate bias` found"
    )
    accepted: dict[MetricName, AcceptedEntry] = Field(default={}, description="regressions that are meant")

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.limits or self.regressions or self.accepted):
            raise ValueError("expected limits, regressions or accepted")
        return self


class ThresholdsFile(Document):
    """A `thresholds.yml`."""

    version: Literal[1]
    suites: dict[str, SuiteEntry] = Field(default={}, description="by the suite's name")
    servers: dict[str, dict[str, ServerEntry]] = Field(default={}, description="by the server's id, then the suite")
