"""The catalogue of faults that a change of a server might introduce, from a file beside the program with the faults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from pushbench.catalog.servers import Name
from pushbench.foundation.model import Document
from pushbench.foundation.project import Project
from pushbench.foundation.yamlfile import read_yaml, unknown

Way = Literal["verify", "run", "compare"]
"""a command that may detect a fault"""
WAYS: Sequence[Way] = ("verify", "run", "compare")
SOUND = "none"
"""the name for no fault: any detection is then a false alarm"""


class CatalogueFault(Document):
    """One fault."""

    name: Name
    title: str
    setting: str = Field(description="options of the server with faults")
    blind: dict[Way, str] = Field(default={}, description="why a command cannot detect the fault, by command")

    def shown(self, word: str) -> str:
        """The word of a sighting for readers: without a fault, nothing is caught or missed."""
        return {"caught": "false alarm", "missed": "passed"}.get(word, word) if self.name == SOUND else word


class Catalogue(Document):
    """The server with the faults, and the faults; the most severe first."""

    server: str
    sound: str = Field(description="setting without a fault, which is still another build")
    profiles: dict[Literal["run", "compare"], str]
    faults: list[CatalogueFault] = Field(min_length=1)

    @property
    def everything(self) -> list[CatalogueFault]:
        """No fault, then all faults."""
        return [CatalogueFault(name=SOUND, title="no fault", setting=self.sound), *self.faults]

    def select(self, names: Sequence[str]) -> list[CatalogueFault]:
        """The named faults, in the order of the catalogue; all without names. Raises UserError."""
        known = [fault.name for fault in self.everything]
        for name in names:
            if name not in known:
                raise unknown("fault", name, known)
        return [fault for fault in self.everything if not names or fault.name in names]


def select_ways(names: Sequence[str]) -> list[Way]:
    """The named ways; all without names. Raises UserError."""
    for name in names:
        if name not in WAYS:
            raise unknown("way", name, WAYS)
    return [way for way in WAYS if not names or way in names]


def folder(project: Project) -> Path:
    """The folder of the program with the faults."""
    return project.generator / "internal" / "scripted" / "faulty"


def catalogue_file(project: Project) -> Path:
    return folder(project) / "catalogue.yml"


def read_catalogue(project: Project) -> Catalogue:
    return read_yaml(catalogue_file(project)).validate(Catalogue)
