"""Compares a load with what a service stores after it: every answered exchange is there, and nothing that was not sent.

Pushbench asks the service directly, bypassing the server, before the load and after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.suites import Stored
from pushbench.drivers.service import Running
from pushbench.records.load_report import LoadTimeline


@dataclass(frozen=True)
class Stock:
    """What a service stores before a load."""

    service: Running
    ask: str
    before: int

    def require(self, played: LoadTimeline) -> None:
        """Raises ServerFailed unless the load added every answered exchange, and no more than were sent.

        Exchanges that were sent and not answered may be there: the answer came too late, or its connection was lost.
        """
        added, name = _count(self.service, self.ask) - self.before, self.service.name
        answered, sent = sum(played.received), sum(played.sent)
        if added < answered:
            missing = f"{answered - added:,} of {answered:,} exchanges that the server answered are not in {name}"
            raise ServerFailed("load", f"{missing}, which has {added:,} more than before the load")
        if added > sent:
            extra = f"{name} has {added:,} more exchanges than before the load, but clients sent {sent:,}"
            raise ServerFailed("load", f"{extra}: {added - sent:,} were stored twice or without a request")


def stock(stored: Stored | None, services: Sequence[Running]) -> Stock | None:
    """What the service stores now; None if the suite stores nothing, or the server has no such service.

    Raises ServerFailed if the service does not answer with a number.
    """
    for service in services:
        if stored and service.name == stored.service:
            return Stock(service, stored.ask, _count(service, stored.ask))
    return None


def _count(service: Running, ask: str) -> int:
    said = service.ask(ask).strip()
    if not said.isdecimal():
        raise ServerFailed("load", f"{service.name} answered {said[:80]!r} to {ask!r}: expected a number")
    return int(said)
