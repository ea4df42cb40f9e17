"""Reads the `.cpuprofile` files of Node.js and Bun: a tree of functions, and samples that point into it. Pure.

https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pushbench.foundation.model import departure
from pushbench.profiling.naming import place
from pushbench.profiling.profile import DEEPEST, Frame, Profile, Unprofiled, Window, frame, inside

IDLE = {"(root)", "(idle)"}
MOST_NODES = 100_000
MOST_SAMPLES = 2_000_000
"""half an hour with one sample per millisecond"""
MOST_NUMBER = 2**53
"""the largest integer that JavaScript writes exactly"""
NEAR = 50
"""maximum number of callers that are searched for a name for an anonymous function"""

Count = Annotated[int, Field(ge=0, le=MOST_NUMBER)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class _CallFrame(_Part):
    functionName: Annotated[str, Field(max_length=100_000)] = ""  # noqa: N815 - as the format names it
    url: Annotated[str, Field(max_length=100_000)] = ""
    lineNumber: Annotated[int, Field(ge=-1, le=MOST_NUMBER)] = -1  # noqa: N815


class _Node(_Part):
    id: Count
    callFrame: _CallFrame  # noqa: N815
    children: list[Count] = []


class _File(_Part):
    nodes: Annotated[list[_Node], Field(max_length=MOST_NODES)]
    startTime: Annotated[float, Field(ge=0, le=MOST_NUMBER)]  # noqa: N815
    samples: Annotated[list[Count], Field(max_length=MOST_SAMPLES)]
    timeDeltas: Annotated[list[int], Field(max_length=MOST_SAMPLES)]  # noqa: N815


def add_cpuprofile(profile: Profile, content: bytes, folder: Path, windows: Sequence[Window], epoch: float) -> None:
    """Add the samples inside `windows`. `epoch` is the wall clock minus the monotonic clock, for files in wall time.

    Raises Unprofiled for other content.
    """
    try:
        file = _File.model_validate(json.loads(content))
    except (ValueError, RecursionError) as error:
        what = departure(error) if isinstance(error, ValidationError) else "not JSON"
        raise Unprofiled(f"not a .cpuprofile: {what}") from None
    stacks = dict(_stacks(file, folder))
    for sample, at, seconds in _samples(file, windows, epoch):
        if inside(at, windows) and (stack := stacks.get(sample)):
            profile.add(stack, seconds)


def _samples(file: _File, windows: Sequence[Window], epoch: float) -> Iterator[tuple[int, float, float]]:
    """Node, monotonic time and duration of each sample, in seconds. A sample lasts until the next one."""
    deltas = [max(0, delta) for delta in file.timeDeltas]
    times = [(file.startTime + passed) / 1e6 for passed in accumulate(deltas)]
    by_wall = bool(times) and times[0] > windows[-1][1] + epoch / 2
    for sample, at, lasting in zip(file.samples, times, chain(deltas[1:], [0]), strict=False):
        yield sample, at - epoch if by_wall else at, lasting / 1e6


def _stacks(file: _File, folder: Path) -> Iterator[tuple[int, tuple[Frame, ...]]]:
    """The stack of each node that uses CPU, by its id."""
    nodes = {node.id: node for node in file.nodes}
    parents = {child: node.id for node in file.nodes for child in node.children if child in nodes}
    known: dict[int, tuple[Frame, ...]] = {}
    for start, node in nodes.items():
        path = _unknown_ancestors(start, parents, known)
        for each in reversed(path):
            callers = known.get(parents.get(each, -1), ())
            known[each] = (*callers, *_frames(nodes[each], parents, nodes, folder))[-DEEPEST:]
        if node.callFrame.functionName not in IDLE:
            yield start, known[start]


def _unknown_ancestors(start: int, parents: Mapping[int, int], known: Mapping[int, object]) -> list[int]:
    """The node and its ancestors up to the first known one. Raises Unprofiled if the nodes form no tree."""
    path: dict[int, None] = {}
    at: int | None = start
    while at is not None and at not in known:
        if at in path:
            raise Unprofiled("not a .cpuprofile: a function is its own caller in the tree")
        path[at] = None
        at = parents.get(at)
    return list(path)


def _frames(node: _Node, parents: Mapping[int, int], nodes: Mapping[int, _Node], folder: Path) -> Iterator[Frame]:
    call = node.callFrame
    if call.functionName not in IDLE:
        file, own = place(call.url, folder)
        name = call.functionName or _anonymous(node, parents, nodes)
        yield frame(name, file, call.lineNumber + 1 or None, own=own)


def _anonymous(node: _Node, parents: Mapping[int, int], nodes: Mapping[int, _Node]) -> str:
    """A name from the nearest caller with a name in the same file: line numbers would differ between commits."""
    above = parents.get(node.id)
    for _ in range(NEAR):
        if above is None:
            break
        call = nodes[above].callFrame
        if call.functionName and call.url == node.callFrame.url:
            return f"(anonymous) of {call.functionName}"
        above = parents.get(above)
    return "(anonymous)"
