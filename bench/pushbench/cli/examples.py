"""The examples below a command's help."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """The epilog of a command: each line as it is typed, or a note in parentheses. Not wrapped, so keep them below
    76 characters."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))
