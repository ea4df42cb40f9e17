"""The rules know the text that the servers stream."""

from __future__ import annotations

from pathlib import Path

from pushbench.conformance.token_stream.text import LAST, TEXT

SERVERS = Path(__file__).parents[4] / "servers"


def test_the_text_is_that_of_the_servers() -> None:
    files = list(SERVERS.glob("*-sse/**/text.txt"))
    assert {file.read_bytes().decode() for file in files if "target" not in file.parts} == {TEXT}
    assert (len(TEXT), TEXT[0], TEXT[LAST]) == (LAST + 1, "P", ".")
