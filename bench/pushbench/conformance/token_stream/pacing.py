"""When the characters of a stream arrive: each when it is due, or without a pause."""

from __future__ import annotations

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.token_stream.arrivals import come_one_by_one, come_when_due, do_not_drift
from pushbench.conformance.token_stream.clients import PROMPT, Clients

AT_ONCE = 0.1
"""Seconds for the whole text without a pause; a server needs a few milliseconds."""


@rule("With ?pace=50 a character comes every 20 ms from the start of the response on, 50 ms more or less.")
async def paced_characters_come_when_due(clients: Clients) -> None:
    come_when_due((await clients.paced()).slow)


@rule("With a pace each event is flushed by itself; none waits for those after it.")
async def paced_characters_come_one_by_one(clients: Clients) -> None:
    come_one_by_one((await clients.paced()).slow)


@rule("A pace is kept to the end of the text: each character is due from the start, not from the one before it.")
async def pace_does_not_drift(clients: Clients) -> None:
    do_not_drift((await clients.paced()).fast)


@rule("With a pace and Last-Event-ID the first character is due at once.")
async def resumed_stream_begins_at_once(clients: Clients) -> None:
    stream = await clients.stream(pace=10, last=17)
    if (event := await stream.next(within=1.0)) is None or event.at - stream.began > 0.5:
        raise Mismatch("the first character at once", "half a second without it")


@rule("A pace of 1 and one of 1000 are accepted.")
async def slowest_and_fastest_pace_are_accepted(clients: Clients) -> None:
    for pace in (1, 1000):
        stream = await clients.stream(pace=pace)
        if stream.head.status != 200:
            raise Mismatch(f"status 200 for ?pace={pace}", stream.head.status)
        await stream.some(1)


@rule("Without a pace the whole text comes at once: within 100 ms in one of five streams.")
async def unpaced_text_comes_at_once(clients: Clients) -> None:
    fastest = PROMPT
    for _ in range(5):
        stream = await clients.stream()
        events = await stream.text()
        fastest = min(fastest, events[-1].at - stream.asked if events else PROMPT)
    if fastest > AT_ONCE:
        raise Mismatch(f"the text within {AT_ONCE * 1000:g} ms", f"{fastest * 1000:.0f} ms at best")
