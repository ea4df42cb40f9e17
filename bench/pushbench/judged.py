"""What every row of a verdict says first: what it is about."""

from __future__ import annotations

from pydantic import Field, NonNegativeInt

from pushbench.model import Document


class JudgedRow(Document):
    """One metric of one server in one stage."""

    server: str
    metric: str
    stage: NonNegativeInt = Field(description="index of the stage")
    name: str = Field(description="of the stage")
    clients: NonNegativeInt = Field(description="of the stage")
