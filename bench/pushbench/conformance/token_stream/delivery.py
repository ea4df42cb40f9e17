"""The content of a stream: every character of the text once, in order, and then an end."""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.conformance.events import Event
from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.token_stream.clients import Clients
from pushbench.conformance.token_stream.text import LAST, TEXT

RESUMED = (0, 17, 100, LAST - 1)


@rule("The ids of a stream are the numbers of its characters: each once, in order, from 0 to the last.")
async def every_character_comes_once_in_order(clients: Clients) -> None:
    numbered_from(0, await (await clients.stream()).text())


@rule("The data of each event is one character (code point) of the text, also where that is a space.")
async def data_are_the_characters(clients: Clients) -> None:
    events = await (await clients.stream()).text()
    numbered = [(number, event) for event in events if (number := event.number) is not None and number <= LAST]
    if not numbered:
        raise Mismatch("events with the number of a character", f"{len(events)} events")
    for number, event in numbered:
        is_character(number, event)


@rule("A stream ends after its last character, as HTTP says, and its connection is there for the next request.")
async def stream_ends_after_the_last_character(clients: Clients) -> None:
    connection = await clients.connect()
    for _ in range(3):
        stream = await clients.stream(connection=connection)
        await stream.text()
        if more := await stream.rest():
            raise Mismatch("the end of the stream after its last character", more[0])


@rule("With Last-Event-ID a stream begins with the character after that one.")
async def last_event_id_resumes(clients: Clients) -> None:
    for last in RESUMED:
        numbered_from(last + 1, await (await clients.stream(last=last)).text())


@rule("With the last id as Last-Event-ID a stream answers 200 and ends at once, without an event.")
async def last_id_is_followed_by_nothing(clients: Clients) -> None:
    for pace in (None, 1):
        stream = await clients.stream(last=LAST, pace=pace)
        if stream.head.status != 200:
            raise Mismatch("status 200", stream.head.status)
        if events := await stream.rest():
            raise Mismatch("no event after the last", events[0])


def numbered_from(first: int, events: Sequence[Event]) -> None:
    """Raises Mismatch unless the events have the numbers from `first` to the last."""
    for number in range(first, LAST + 1):
        at = number - first
        seen = events[at].id if at < len(events) else "no more events"
        if seen != str(number):
            raise Mismatch(f"id {number}", "an event without id" if seen is None else escaped(seen))


def is_character(number: int, event: Event) -> None:
    if event.data != TEXT[number]:
        raise Mismatch(f"data {escaped(TEXT[number])} in event {number}", escaped(event.data))
