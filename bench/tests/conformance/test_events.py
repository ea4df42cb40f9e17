"""The bytes of events are parsed however they are split, and bytes that are no event are refused."""

from __future__ import annotations

import pytest

from pushbench.conformance.events import Event, Events
from pushbench.conformance.rule import Mismatch


def events(*pieces: bytes) -> list[Event]:
    reader = Events()
    return [event for at, piece in enumerate(pieces) for event in reader.feed(piece, at)]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_events_are_the_same_however_their_bytes_are_cut(line_end: bytes) -> None:
    octets = line_end.join(
        [b"id: 7", b"data: \xf0\x9f\x9a\x80", b"", b": heard", b"", b"id:8", b"data:  ", b"", b": end"]
    )
    whole = [event.fields for event in events(octets)]
    assert whole == [(("id", "7"), ("data", "\U0001f680")), (("id", "8"), ("data", " "))]
    assert [event.fields for event in events(*(octets[at : at + 1] for at in range(len(octets))))] == whole


def test_an_event_has_the_time_of_the_bytes_that_complete_it() -> None:
    [first, second] = events(b"id: 0\nda", b"ta: P\n\nid: 1\ndata: u\n", b"\n")
    assert (first.at, second.at) == (1, 2)


@pytest.mark.parametrize(
    ("text", "number", "data"),
    [
        ("id: 0\ndata: P", 0, "P"),
        ("id: 01\ndata: P", None, "P"),
        ("data: a\ndata: b", None, "a\nb"),
        ("id: x", None, ""),
    ],
)
def test_the_number_of_an_event_is_its_id(text: str, number: int | None, data: str) -> None:
    [event] = events(f"{text}\n\n".encode())
    assert (event.number, event.data) == (number, data)


@pytest.mark.parametrize("octets", [b"data: \xff\n", b"data: " + b"x" * 10_000])
def test_what_is_no_utf_8_or_does_not_end_is_a_mismatch(octets: bytes) -> None:
    with pytest.raises(Mismatch):
        events(octets)
