"""The protocol `token-stream-sse`: server-sent events on GET /stream. With the rules about their form."""

from __future__ import annotations

import re

from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.token_stream.clients import Clients

PATH = "/stream"
MEDIA_TYPE = re.compile(r'text/event-stream(?:[ \t]*;[ \t]*charset="?utf-8"?)?', re.IGNORECASE)
UNSTORED = {"no-cache", "no-store"}


@rule("A stream answers 200 with Content-Type text/event-stream, and with Cache-Control no-cache or no-store.")
async def stream_is_declared(clients: Clients) -> None:
    head = (await clients.stream()).head
    if head.status != 200:
        raise Mismatch("status 200", head.status)
    if not MEDIA_TYPE.fullmatch(head.value("content-type")):
        raise Mismatch("Content-Type: text/event-stream", escaped(head.value("content-type")) or "none")
    caching = head.values("cache-control")
    if UNSTORED.isdisjoint(map(str.lower, caching)):
        raise Mismatch("Cache-Control: no-cache", escaped(", ".join(sorted(caching)) or "none"))


@rule("An event has one id line and one data line, and no other fields; comments are allowed.")
async def event_is_an_id_and_its_data(clients: Clients) -> None:
    for event in await (await clients.stream()).text():
        if sorted(name for name, _ in event.fields) != ["data", "id"]:
            raise Mismatch("one id line and one data line in each event", event)
