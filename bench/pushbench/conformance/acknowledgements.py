"""Detects Nagle's algorithm from outside by the time between two small messages, for the rules of several suites.

With Nagle's algorithm, a server's kernel holds back a small message until an earlier one is acknowledged. A client that
delays its acknowledgements then gets the second message when the delay ends: 40 ms after the first on Linux. A client
that acknowledges at once gets it at once. A server that is slow for another reason is slow for both clients. Comparing
them therefore avoids false alarms on a busy machine.
"""

from __future__ import annotations

from collections.abc import Sequence

PAIRS = 20
"""Of each kind. Together they take 40 ms without Nagle's algorithm, and 0.9 s with it."""
HELD_SECONDS = 0.02
"""Half of the shortest delay of an acknowledgement (TCP_DELACK_MIN of Linux, 40 ms). Without it, two messages in a row
take less than a millisecond."""
MOST = 3 / 4


def are_waited_for(delayed: Sequence[float], prompt: Sequence[float]) -> bool:
    """Whether most second messages are late with delayed acknowledgements, and most are prompt without a delay."""
    return _held(delayed) >= MOST * len(delayed) and _held(prompt) <= (1 - MOST) * len(prompt)


def _held(gaps: Sequence[float]) -> int:
    return sum(seconds >= HELD_SECONDS for seconds in gaps)


def median_ms(gaps: Sequence[float]) -> str:
    return f"{sorted(gaps)[len(gaps) // 2] * 1000:.1f} ms"
