"""Faults injected into a server to measure the judge: their notation, and the command that injects them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pushbench.calibration.meaningless import CHANGES
from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import unknown
from pushbench.metrics.definitions import Unit
from pushbench.metrics.units import parse_quantity

NOTHING = "none"
REBUILT = "rebuilt"
APART = (REBUILT, *CHANGES)
"""no fault, but another build: the same code at another path, or with a change that has no meaning"""
ORDER = "order"
"""in older records: a random order of functions in the head, and the linker's own in the base"""
ALIKE = frozenset({NOTHING, *APART, ORDER})
"""no fault: the same build in both arms, or one that was built separately"""

TARGETS: Mapping[str, re.Pattern[str]] = {
    "burn": re.compile(r"cpu_seconds_per_\w+"),
    "delay": re.compile(r"(?!connect|lateness)\w+_seconds\.(p50|p95)"),
    "loss": re.compile(r"loss_ratio"),
    "leak": re.compile(r"memory_bytes\.peak"),
}
"""the metrics, at least one of which has to show the fault"""

_UNITS = {"burn": Unit.RATIO, "leak": Unit.BYTES_PER_SECOND, "delay": Unit.SECONDS, "loss": Unit.RATIO}
_BETWEEN = {"delay", "loss"}
"""faults of the server's output, which need a proxy"""


@dataclass(frozen=True)
class Fault:
    """`burn=10%`: CPU as a share of the server's own; `leak=1MB/s`; `delay=2ms` and `loss=0.5%` of what it sends."""

    kind: str
    amount: str = ""

    def __str__(self) -> str:
        return f"{self.kind}={self.amount}" if self.amount else self.kind

    def wrapper(self, binary: Path, *, active: bool) -> list[str]:
        """The command that injects the fault into the command after it; if not `active` it does nothing, for the other
        arm.
        """
        command = [str(binary), *(["-proxy"] if self.kind in _BETWEEN else [])]
        if active and self.kind not in ALIKE:
            value = parse_quantity(self.amount, _UNITS[self.kind])
            given = {"leak": f"{value:.0f}", "delay": f"{value * 1e6:.0f}us"}.get(self.kind, f"{value:g}")
            command.append(f"-{self.kind}={given}")
        return [*command, "--"]


def parse_fault(text: str) -> Fault:
    """Parse a fault. Raises UserError if it does not exist."""
    measurable = (NOTHING, *APART)
    if text in measurable:
        return Fault(text)
    kind, _, amount = text.partition("=")
    if kind not in _UNITS:
        raise unknown("fault", kind, [*sorted(measurable), *_UNITS])
    try:
        parse_quantity(amount, _UNITS[kind])
    except UserError as error:
        raise UserError(f"--fault {text}: {error.what}") from None
    return Fault(kind, amount)
