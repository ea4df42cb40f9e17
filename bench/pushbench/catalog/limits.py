"""Limits and margins as people write them, in a suite's file and in `thresholds.yml`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from pushbench.foundation.model import Document

MetricName = Annotated[
    str, Field(description="name of a metric; `pushbench suites NAME` lists those of a suite", max_length=100)
]


def _quantity(value: Any) -> Any:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    raise ValueError("expected a quantity such as 1%, 500ms or 20000/s")


Quantity = Annotated[str | int | float, BeforeValidator(_quantity)]


class LimitEntry(Document):
    """The worst value of a metric that is still allowed: `max` or `min`, in the metric's unit."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["max"]}, {"required": ["min"]}]})

    max: Quantity | None = Field(default=None, description="largest allowed value, such as 1%, 500ms, 200MB or 0")
    min: Quantity | None = Field(default=None, description="smallest allowed value, such as 9000/s")

    @model_validator(mode="after")
    def _one_side(self) -> Self:
        if (self.max is None) == (self.min is None):
            raise ValueError("expected either max or min")
        return self


class RegressionEntry(Document):
    """The change from which a metric counts as better or worse than its reference."""

    margin: Quantity = Field(description="relative change from which a regression counts, such as 5%")
    floor: Quantity | None = Field(
        default=None, description="absolute change below which a difference never counts, such as 1ms"
    )
    ceiling: Quantity | None = Field(
        default=None, description="largest margin that the floor can cause, as a relative change, such as 50%"
    )
    better: Literal["lower", "higher"] | None = Field(
        default=None, description="direction in which the metric improves; the metric's own direction when left out"
    )

    bias: Quantity | None = Field(
        default=None,
        description="largest relative cost of a change without a meaning, such as 1%; a comparison takes only a "
        "larger difference as evidence",
    )
    noise: Quantity | None = Field(
        default=None, description="standard deviation of head / base between rounds of the same code, such as 3%"
    )


class SuiteEntry(Document):
    """The limits and margins for every server of a suite."""

    limits: dict[MetricName, LimitEntry] = {}
    regressions: dict[MetricName, RegressionEntry] = {}
