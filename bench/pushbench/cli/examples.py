"""The examples below a command's help."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """Return the epilog of a command. Each line is a command to type, or a note in parentheses. Lines are not wrapped,
    so keep them below 76 characters."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))
