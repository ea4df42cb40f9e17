"""The ceiling of loads on servers that run elsewhere, which only the consent of their owners lifts. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from pushbench.catalog.servers import Server
from pushbench.catalog.suites import Load, Offered
from pushbench.foundation.errors import UserError
from pushbench.records.record import Elsewhere

MOST_CLIENTS = 100
MOST_DELIVERIES = 1_000
"""a second: a small server carries that beside its own users"""


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


def require_consent(load: Load, offered: Offered | None, elsewhere: Mapping[str, Elsewhere] | None) -> None:
    """Raises UserError if the load is above the ceiling and nobody says that the owner agreed. A load whose rate is not
    known is above it."""
    if not elsewhere or all(each.owner_agreed for each in elsewhere.values()):
        return
    stages = load.schedule.stages
    clients = max(stage.clients for stage in stages)
    deliveries = inf
    if offered:
        deliveries = max(
            offered.deliveries_per_second(stage.clients, {**load.parameters, **stage.parameters}) for stage in stages
        )
    if clients > MOST_CLIENTS or deliveries > MOST_DELIVERIES:
        rate = f"{deliveries:,.0f} deliveries/s" if offered else "an unknown rate"
        ceiling = f"{MOST_CLIENTS} clients and {MOST_DELIVERIES:,} deliveries/s"
        raise UserError(
            f"{next(iter(elsewhere))} runs elsewhere, and the load of {clients:,} clients and {rate} is above the "
            f"ceiling of {ceiling}",
            hint="ask the owner of the server, and add --owner-agreed if the owner agrees, or take --profile smoke",
        )
