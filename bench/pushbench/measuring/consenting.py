"""The ceiling of loads on servers that run elsewhere, which only the consent of their owners lifts. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pushbench.catalog.servers import Server
from pushbench.catalog.suites import Load
from pushbench.foundation.errors import UserError
from pushbench.records.record import Elsewhere, Parameters, StagePlan

MOST_CLIENTS = 100
MOST_DELIVERIES = 1_000
"""a second: a small server carries that beside its own users"""
MESSAGES = {"steady": 1.0, "stroke": 3.0, "simultaneous": 1.0, "sparse": 1.0, "position": 1 / 3}
"""of a client that writes, a second in the mean, by the pattern: k6/internal/schedule/pattern.go"""
ONE_WRITER = "sparse"


def elsewhere_of(servers: Sequence[Server], *, owner_agreed: bool) -> dict[str, Elsewhere] | None:
    """Where those servers run that Pushbench does not start; None if it starts all."""
    found = {
        server.id: Elsewhere(
            url=server.spec.url,
            protocol=str(server.declared) if server.declared else None,
            ca=str(server.trusted) if server.trusted else None,
            owner_agreed=owner_agreed,
        )
        for server in servers
        if server.spec.url
    }
    return found or None


def require_consent(load: Load, elsewhere: Mapping[str, Elsewhere] | None) -> None:
    """Raises UserError if the load is above the ceiling and nobody says that the owner agreed."""
    if not elsewhere or all(each.owner_agreed for each in elsewhere.values()):
        return
    clients = max(stage.clients for stage in load.schedule.stages)
    deliveries = max(_deliveries(stage, load.parameters) for stage in load.schedule.stages)
    if clients > MOST_CLIENTS or deliveries > MOST_DELIVERIES:
        name = next(iter(elsewhere))
        what = f"{clients:,} clients and {deliveries:,.0f} deliveries/s"
        ceiling = f"{MOST_CLIENTS} clients and {MOST_DELIVERIES:,} deliveries/s"
        raise UserError(
            f"{name} runs elsewhere, and the load of {what} is above the ceiling of {ceiling}",
            hint="ask the owner of the server, and add --owner-agreed if the owner agrees, or take --profile smoke",
        )


def _deliveries(stage: StagePlan, parameters: Parameters) -> float:
    """The deliveries a second in the mean."""
    own = {**parameters, **stage.parameters}
    board, pattern = int(own.get("board_size", 1)), str(own.get("pattern", ""))
    writers = stage.clients / board if pattern == ONE_WRITER else stage.clients
    return writers * MESSAGES.get(pattern, 1.0) * min(board, stage.clients)
