"""The ceiling on loads of servers that run elsewhere. Only the consent of their owners lifts it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from pushbench.catalog.servers import Server
from pushbench.catalog.suites import Load, Offered, Suite
from pushbench.foundation.errors import UserError
from pushbench.records.record import Elsewhere

MOST_CLIENTS = 100
MOST_DELIVERIES = 1_000
"""a second: a small server carries that many in addition to its own users"""
CEILING = f"{MOST_CLIENTS} clients and {MOST_DELIVERIES:,} deliveries/s"


def elsewhere_of(servers: Sequence[Server], *, owner_agreed: bool) -> dict[str, Elsewhere] | None:
    """Where the servers run that Pushbench does not start; None if it starts all."""
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


def needs_no_consent(elsewhere: Mapping[str, Elsewhere] | None) -> bool:
    """Whether every load may be played: Pushbench starts the servers, or their owners agreed."""
    return all(each.owner_agreed for each in (elsewhere or {}).values())


def require_consent(
    load: Load,
    offered: Offered | None,
    elsewhere: Mapping[str, Elsewhere] | None,
    smaller: Sequence[str] = (),
) -> None:
    """Raises UserError if the load is above the ceiling and the owner's consent was not declared. A load of unknown
    rate is above the ceiling; `smaller` are the profiles below it."""
    if not elsewhere or needs_no_consent(elsewhere):
        return
    clients, deliveries = _largest(load, offered)
    if not _is_below(clients, deliveries):
        rate = f"{deliveries:,.0f} deliveries/s" if offered else "an unknown rate"
        instead = f", or take --profile {smaller[0]}" if smaller else ""
        raise UserError(
            f"{next(iter(elsewhere))} runs elsewhere, and the load of {clients:,} clients and {rate} is above the "
            f"ceiling of {CEILING}",
            hint=f"ask the owner of the server, and add --owner-agreed if the owner agrees{instead}",
        )


def profiles_below(suite: Suite, parameters: Mapping[str, str]) -> list[str]:
    """The profiles whose load with these parameters needs no consent, the one with the most clients first."""
    loads = [suite.load(profile, parameters) for profile in suite.spec.profiles]
    largest = {load.profile: _largest(load, suite.spec.offered) for load in loads}
    return sorted((each for each in largest if _is_below(*largest[each])), key=lambda each: largest[each], reverse=True)


def _largest(load: Load, offered: Offered | None) -> tuple[int, float]:
    """The largest number of clients, and of deliveries a second."""
    stages = load.schedule.stages
    clients = max(stage.clients for stage in stages)
    if offered is None:
        return clients, inf
    parameters = [{**load.parameters, **stage.parameters} for stage in stages]
    rates = [offered.deliveries_per_second(stage.clients, of) for stage, of in zip(stages, parameters, strict=True)]
    return clients, max(rates)


def _is_below(clients: int, deliveries: float) -> bool:
    return clients <= MOST_CLIENTS and deliveries <= MOST_DELIVERIES
