"""The messages of a connection are reassembled within bounds, however they are split."""

from __future__ import annotations

import pytest
from websockets.frames import Frame, Opcode

from pushbench.authoring.overheard import Said
from pushbench.authoring.unpacking import LARGEST, Body, Messages, Stream, Unpacking


def fed(unpacking: Unpacking, *pieces: bytes) -> list[str | None]:
    return [said.text for piece in pieces for said in unpacking.feed(piece, 0.0)]


def frame(opcode: Opcode, data: bytes, *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=False)


def test_a_message_of_several_frames_is_one() -> None:
    first, last = frame(Opcode.TEXT, b"good ", fin=False), frame(Opcode.CONT, b"morning")
    nothing = frame(Opcode.CONT, b"", fin=False)
    said = fed(Messages(sent=False), first[:3], first[3:], nothing * 20_000, last, frame(Opcode.BINARY, b"x"))
    assert said == ["good morning", None]


@pytest.mark.parametrize(
    ("unpacking", "piece"),
    [
        (Messages(sent=False), frame(Opcode.TEXT, b"x" * LARGEST, fin=False) + frame(Opcode.CONT, b"x")),
        (Stream(), b"data: " + b"x" * LARGEST),
        (Stream(), b"a:\n" * (LARGEST // 60)),
        (Body(sent=True), b"x" * (LARGEST + 1)),
    ],
)
def test_what_is_too_large_counts_as_no_text_once(unpacking: Unpacking, piece: bytes) -> None:
    more = frame(Opcode.TEXT, b"more") if isinstance(unpacking, Messages) else b"data: more\n\n"
    assert fed(unpacking, piece, more, b"") == [None]


def test_what_is_just_small_enough_is_text() -> None:
    assert fed(Messages(sent=False), frame(Opcode.TEXT, b"x" * LARGEST)) == ["x" * LARGEST]
    assert fed(Body(sent=True), b"x" * LARGEST, b"") == ["x" * LARGEST]
    assert list(Stream().feed(b"data: x\n\n" * 30_000, 1.0)) == [Said(1.0, sent=False, text="x")] * 30_000
