"""The text of every server of the suite. It is ASCII, so bytes, code units and characters are the same."""

from __future__ import annotations

TEXT = (
    "The quick way to type well is to type slowly at first. Rest your fingers on the home row, look at the text and "
    "not at your hands, and let every finger find its own keys. A wrong key does not move you on: find the right one, "
    "breathe, and go on in the same rhythm. Speed comes by itself once the mistakes are gone, one line after another, "
    "until the words flow and the keyboard is forgotten."
)
