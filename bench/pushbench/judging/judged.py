"""The fields that every row of a verdict begins with."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeInt

from pushbench.foundation.model import Document
from pushbench.metrics.definitions import Unit, in_sentence

JudgedWord = Literal["better", "same", "worse", "accepted", "unknown", "invalid"]
"""accepted: worse, by no more than thresholds.yml accepts; invalid: better or worse, but possibly only because of the
generator's own lateness or the machine's speed"""


class JudgedRow(Document):
    """One metric of one server in one stage."""

    server: str
    metric: str
    title: str = Field(description="title of the metric")
    unit: Unit = Field(description="unit of the metric's values")
    stage: NonNegativeInt = Field(description="index of the stage")
    name: str = Field(description="name of the stage")
    clients: NonNegativeInt = Field(description="number of clients of the stage")
    detail: str | None = Field(None, description="why the row is invalid; null for other rows")

    @property
    def in_sentence(self) -> str:
        """The metric's title in the form used inside a sentence."""
        return in_sentence(self.title)
