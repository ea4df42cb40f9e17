"""How stages are called: by their number of clients, or by a name of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol


class Stage(Protocol):
    """A planned stage, a measured one, or a limit in one."""

    @property
    def name(self) -> str: ...

    @property
    def clients(self) -> int: ...


def stage_name(validated: Mapping[str, Any]) -> str:
    """Of a document with the fields `clients` and `closed`."""
    return f"closed-{validated.get('clients')}" if validated.get("closed") else default_name(validated)


def default_name(validated: Mapping[str, Any]) -> str:
    """Of a document with the field `clients`."""
    return str(validated["clients"])


def is_named(stage: Stage) -> bool:
    return stage.name != str(stage.clients)


def heading(stage: Stage) -> str:
    """`1,000 clients`, `classroom-1000: 1,000 clients`."""
    clients = "1 client" if stage.clients == 1 else f"{stage.clients:,} clients"
    return f"{stage.name}: {clients}" if is_named(stage) else clients


def short(stage: Stage) -> str:
    """`at 1,000`, `classroom-1000`."""
    return stage.name if is_named(stage) else f"at {stage.clients:,}"


def places(stages: Iterable[Stage]) -> str:
    """Where in a sentence: `at 700, 1,000 clients`, `in classroom-300`."""
    stages = list(stages)
    plain = ", ".join(f"{stage.clients:,}" for stage in stages if not is_named(stage))
    named = ", ".join(stage.name for stage in stages if is_named(stage))
    return ", ".join([*([f"at {plain} clients"] if plain else []), *([f"in {named}"] if named else [])])


def listing(stages: Iterable[Stage]) -> str:
    """`100, 300 clients; classroom-300`."""
    stages = list(stages)
    plain, named = (", ".join(stage.name for stage in stages if is_named(stage) == wanted) for wanted in (False, True))
    return "; ".join([*([f"{plain} clients"] if plain else []), *([named] if named else [])])
