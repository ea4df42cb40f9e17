"""The text that every server of the suite streams, by characters (code points)."""

from __future__ import annotations

TEXT = (
    "Pushbench streams this text one character at a time, as language models do. It costs a server an event for each: "
    "café, naïve, Ωmega, Привет, 你好, こんにちは, 안녕하세요, and a rocket 🚀, which is two units in UTF-16. The end."
)
LAST = len(TEXT) - 1
"""The number of the last character."""
