"""An explanation: why one arm of a comparison takes more CPU, by function. The document, and where it is stored.

It is stored beside the records and is not part of one: a profiler disturbs its target, so no verdict uses it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, ValidationError

from pushbench.foundation.files import write_atomically
from pushbench.foundation.model import Document
from pushbench.profiling.profile import titled
from pushbench.records.environment import Commit, Slug
from pushbench.records.record import Instant

LARGEST_BYTES = 4 << 20
SHOWN = 5
"""functions on a terminal and in a comment"""


class Side(Document):
    """One function in the profile of one arm."""

    seconds_per_work: NonNegativeFloat = Field(description="CPU seconds of the function itself per unit of work")
    share: NonNegativeFloat = Field(description="fraction of the arm's CPU")
    samples: NonNegativeInt


class ExplainedFunction(Document):
    """One function in both arms."""

    function: str = Field(max_length=300)
    file: str = Field(max_length=300, description="path relative to the server's folder; empty if unknown")
    line: NonNegativeInt | None = Field(description="line with the most samples, or the line where the function begins")
    caller: str | None = Field(
        max_length=700, description="the server's own function through which third-party code gained most"
    )
    base: Side
    head: Side
    change_per_work: float = Field(description="CPU seconds per unit of work, head minus base")
    chance_per_work: NonNegativeFloat = Field(description="half of a 95 % interval of the change, from sample counts")

    @property
    def title(self) -> str:
        return titled(self.function, self.file, self.line)

    @property
    def gained(self) -> bool:
        """Whether its CPU grew by more than chance explains."""
        return self.change_per_work > self.chance_per_work


class ProfiledArm(Document):
    """The trial that was profiled."""

    build: str
    work: NonNegativeInt = Field(description="units of work while samples were taken")
    cpu_seconds: NonNegativeFloat = Field(
        description="CPU seconds of the server while samples were taken, as the kernel accounts them"
    )
    samples: NonNegativeInt


class Explanation(Document):
    """Which functions of a server take more CPU in the head of a comparison than in its base."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    record: Slug = Field(description="id of the comparison's record")
    suite: Slug
    server: str = Field(max_length=200)
    created: Instant
    unit: str = Field(max_length=100, description="unit of work, such as delivery")
    base_commit: Commit
    head_commit: Commit | None
    profiler: str = Field(max_length=200)
    base: ProfiledArm
    head: ProfiledArm
    functions: list[ExplainedFunction] = Field(max_length=200, description="functions, largest gain first")
    flame_graph: str = Field(max_length=300, description="file name of the SVG beside this document")
    notes: list[str] = Field(max_length=20)

    @property
    def gained(self) -> list[ExplainedFunction]:
        """The functions that gained more than chance explains, the largest gain first."""
        return [each for each in self.functions if each.gained]


class Explanations(Document):
    """The explanations of a record, shortened for a comment."""

    explanations: list[Explanation] = Field(max_length=20)


def shortened(found: Explanation) -> Explanation:
    """The explanation with only the functions that are shown."""
    return found.model_copy(update={"functions": found.functions[:SHOWN]})


def explanation_path(folder: Path, record: str, server: str) -> Path:
    """`folder` is the project's `explanations`."""
    return folder / record / f"{server.replace('/', '--')}.json"


def write_explanation(folder: Path, found: Explanation, flame_graph: str) -> Path:
    path = explanation_path(folder, found.record, found.server)
    write_atomically(path.with_name(found.flame_graph), flame_graph.encode())
    write_atomically(path, found.model_dump_json(by_alias=True, indent=2).encode() + b"\n")
    return path


def read_explanations(folder: Path, record: str) -> list[Explanation]:
    """The explanations of a record, by server. A file with other content is skipped: explanations can be made again."""
    found = []
    for path in sorted((folder / record).glob("*.json")):
        try:
            if path.stat().st_size <= LARGEST_BYTES:
                found.append(Explanation.model_validate_json(path.read_bytes()))
        except (OSError, ValidationError):
            continue
    return [each for each in found if each.record == record]
