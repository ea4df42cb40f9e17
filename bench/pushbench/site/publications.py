"""Published comparisons, for the page that shows them beside this project's results: `docs/publications.yml`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from pushbench.foundation.model import Document
from pushbench.foundation.yamlfile import load_yaml
from pushbench.metrics.definitions import Unit
from pushbench.site.layout import Data

Figure = str | tuple[float, Unit]
"""the publication's own words, or a number in base units"""
Name = Annotated[str, Field(min_length=1)]


class Column(Document):
    """The metric below the figures of a column."""

    metric: Name
    unit: Unit | None = Field(
        default=None,
        description="unit in which the publication writes the figure; the unit of the metric when left out",
    )


class Row(Document):
    """The server below a row."""

    server: Name
    stage: Name | None = Field(
        default=None, description="stage that the publication names; when left out, the reader chooses"
    )


class Beside(Document):
    """This project's own result of the same kind."""

    suite: Name
    columns: list[Column | None] = Field(
        description="metric of each column; null for a column without a comparable metric"
    )
    rows: list[Row | None] = Field(description="server of each row; null for a row without a comparable server")


class Source(Document):
    """Where a comparison was published, as far as it is known."""

    author: Name
    title: Name | None = None
    year: int | None = Field(default=None, ge=1990, le=2100)
    address: Annotated[str, Field(pattern=r"^https://\S+$")] | None = None


class Publication(Document):
    """One comparison, with its figures as printed."""

    id: str
    title: str
    source: Source
    setting: str = Field(description="what was measured, on which machine, under which load")
    columns: list[str]
    rows: list[Annotated[list[Figure], Field(min_length=1)]]
    minds: list[str] = Field(description="what a reader of the figures should consider")
    beside: Beside | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.id}: expected {len(self.columns)} figures in each row")
        lengths = (len(self.columns), len(self.rows))
        if self.beside and (len(self.beside.columns), len(self.beside.rows)) != lengths:
            raise ValueError(f"{self.id}: expected {lengths[0]} columns and {lengths[1]} rows beside it")
        return self


class Publications(Document):
    publications: list[Publication]


def read_publications(file: Path) -> Data:
    """The data file of the page; empty for a checkout without the file. Raises UserError for a broken file."""
    found = load_yaml(file, Publications) if file.is_file() else Publications(publications=[])
    return found.model_dump(mode="json")
