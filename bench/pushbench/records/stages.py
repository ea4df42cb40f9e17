"""The names of stages: their number of clients, or their own name. Also what a name says about a stage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol


class Stage(Protocol):
    """A planned stage, a measured stage, or a limit in a stage."""

    @property
    def name(self) -> str: ...

    @property
    def clients(self) -> int: ...


def stage_name(validated: Mapping[str, Any]) -> str:
    """The name of a stage in a document with the fields `clients` and `closed`."""
    return f"closed-{validated.get('clients')}" if validated.get("closed") else default_name(validated)


def default_name(validated: Mapping[str, Any]) -> str:
    """The default name of a stage in a document with the field `clients`."""
    return str(validated["clients"])


def is_named(stage: Stage) -> bool:
    return stage.name != str(stage.clients)


def ranking_order(name: str, clients: float) -> tuple[bool, bool, float, list[str | int]]:
    """A sort key that puts the stage that ranks servers last. That is the largest stage named by its number of clients,
    otherwise the largest that is not closed, otherwise the largest.

    A latency in a closed stage is mostly the inverse of its throughput.
    """
    return name.isdigit(), "closed" not in name.split("-"), clients, by_numbers(name)


def headline(stages: Sequence[Stage]) -> int:
    """The index of the stage that ranks servers. Raises ValueError if there is none."""
    return max(range(len(stages)), key=lambda index: ranking_order(stages[index].name, stages[index].clients))


def by_numbers(name: str) -> list[str | int]:
    """A sort key that puts `open-50` before `open-200`."""
    parts = re.split(r"([0-9]+)", name)  # text and numbers alternate
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def heading(stage: Stage) -> str:
    """`1,000 clients`, `classroom-1000: 1,000 clients`."""
    clients = "1 client" if stage.clients == 1 else f"{stage.clients:,} clients"
    return f"{stage.name}: {clients}" if is_named(stage) else clients


def short(stage: Stage) -> str:
    """`at 1,000`, `classroom-1000`."""
    return stage.name if is_named(stage) else f"at {stage.clients:,}"


def places(stages: Iterable[Stage]) -> str:
    """The stages in a sentence: `at 700, 1,000 clients`, `in classroom-300`."""
    stages = list(stages)
    plain = ", ".join(f"{stage.clients:,}" for stage in stages if not is_named(stage))
    named = ", ".join(stage.name for stage in stages if is_named(stage))
    return ", ".join([*([f"at {plain} clients"] if plain else []), *([f"in {named}"] if named else [])])


def listing(stages: Iterable[Stage]) -> str:
    """`100, 300 clients; classroom-300`."""
    stages = list(stages)
    plain, named = (", ".join(stage.name for stage in stages if is_named(stage) == wanted) for wanted in (False, True))
    return "; ".join([*([f"{plain} clients"] if plain else []), *([named] if named else [])])
