"""The protocol `location-poll`: short polling. With the rule that only it has."""

from __future__ import annotations

import time

from pushbench.conformance.location.clients import Clients
from pushbench.conformance.location.news import News
from pushbench.conformance.location.polls import Poller, poller
from pushbench.conformance.rule import Mismatch, rule

ProtocolMember = Poller


@rule("A poll without news is answered at once, within 500 ms in one of three, with no positions.")
async def poll_is_answered_at_once(clients: Clients) -> None:
    reader, fastest = await poller(clients, clients.group()), 9.0
    for _ in range(3):
        asked = time.monotonic()
        if (seen := await reader.poll()) != News(0, []):
            raise Mismatch("version 0 and no positions", seen)
        fastest = min(fastest, time.monotonic() - asked)
    if fastest > 0.5:
        raise Mismatch("an answer within 500 ms", f"{fastest:.1f} s at best")
