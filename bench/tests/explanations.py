"""Explanations of records, for tests of their display."""

from __future__ import annotations

from typing import Any

from pushbench.profiling.explanation import ExplainedFunction, Explanation, ProfiledArm, Side
from tests.comparisons import BASE


def function(name: str, base: float, head: float, *, chance: float = 1e-6, **changed: Any) -> ExplainedFunction:
    """A function with its CPU per unit of work in both arms; each uses 100 us."""
    sides = {
        arm: Side(seconds_per_work=seconds, share=seconds / 100e-6, samples=round(seconds * 1e6) * 10)
        for arm, seconds in (("base", base), ("head", head))
    }
    values = {"file": "src/board.js", "line": 7, "caller": None, "chance_per_work": chance}
    return ExplainedFunction(function=name, change_per_work=round(head - base, 12), **sides, **(values | changed))


def explanation(record: str, *functions: ExplainedFunction, server: str = "node-ws") -> Explanation:
    arm = ProfiledArm(build="b", work=36_400, cpu_seconds=3.64, samples=1000)
    return Explanation(
        record=record,
        suite="whiteboard",
        server=server,
        created="2026-11-20T10:00:00+00:00",
        unit="delivery",
        base_commit=BASE,
        head_commit=BASE,
        profiler="node --cpu-prof",
        base=arm,
        head=arm,
        functions=list(functions),
        flame_graph=f"{server}.svg",
        notes=[],
    )
