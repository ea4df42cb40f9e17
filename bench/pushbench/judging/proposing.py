"""The lines that thresholds.yml needs to accept an intended regression or broken limit. Pure.

The lines still hold when the same commits are measured again: each bound leaves room for the scatter between two
measurements. A person has to write the reason; the file is refused without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor, log10
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import compose
from pushbench.judging.accepting import FILE, parse
from pushbench.judging.judged_changes import JudgedChange, share_of
from pushbench.judging.thresholds_file import LONGEST_ACCEPTANCE
from pushbench.judging.thresholds_reader import LARGEST_CHANGE
from pushbench.judging.verdict import JudgedLimit, Verdict
from pushbench.metrics.definitions import Unit, metrics_of
from pushbench.metrics.units import parse_quantity
from pushbench.records.record import Record

PLACEHOLDER = '"..."'
INTERVALS = 2.0
"""room above an estimate, in halves of its 95 % interval: two estimates of one change differ by more once in 300"""
MARGINS = 0.5
"""additional room, in margins: no interval covers the difference between two days"""
LEVEL_ROOM = 0.1
"""share of an absolute value, which changes more from day to day than a ratio"""
LIMIT_ROOM = 0.2
"""share of the worst value of a trial"""

Tree = dict[str, Any]
"""keys of the file; its leaves are YAML texts"""


@dataclass(frozen=True)
class Addition:
    """Lines to add to thresholds.yml."""

    text: str
    """whole lines, indented for their place"""
    where: str
    """`at the end of thresholds.yml`"""
    after: int | None
    """the number of the line that they follow, 0 for none; None if a person has to merge them"""
    replaces: int = 0
    """how many lines after that one to delete"""


def propose(record: Record, verdict: Verdict, text: str | None = None, file: str = FILE) -> list[Addition]:
    """The lines that accept every worse row and every broken limit, in the order of the file; empty for a pass.

    `text` is the current content of `file`. Without it, or if it cannot be read, the lines begin with `servers:`.
    """
    data = _data(text)
    wanted = _tree(record, verdict, data)
    if not wanted:
        return []
    root = compose(text) if text and data else None
    if not isinstance(root, MappingNode) or root.flow_style or text is None:
        return [Addition(_rendered({"servers": wanted}, 0), f"to {file}", None)]
    found = list(_Places(file, len(text.splitlines())).additions(root, {"servers": wanted}))
    return sorted(found, key=lambda each: -1 if each.after is None else each.after)


def in_full(record: Record, verdict: Verdict, text: str | None = None) -> str:
    """The lines of `propose` in one block, from `servers:` down, for people who find the place themselves."""
    wanted = _tree(record, verdict, _data(text))
    return _rendered({"servers": wanted}, 0) if wanted else ""


def _tree(record: Record, verdict: Verdict, data: Any) -> Tree:
    """Server, suite, kind and metric of each line. `data` is the current content of thresholds.yml."""
    until = datetime.fromisoformat(record.created).date() + LONGEST_ACCEPTANCE
    metrics = metrics_of(record.words)
    wanted: Tree = {}
    for server, kind, metric, bound, stages in _wanted(record, verdict):
        own = wanted.setdefault(server, {}).setdefault(record.suite, {}).setdefault(kind, {})
        there = _at(data, ("servers", server, record.suite, kind, metric))
        own[metric] = _entry(*_merged(there, kind, metrics[metric].unit, bound, stages), str(until))
    return wanted


def _data(text: str | None) -> Any:
    try:
        return parse(text).data if text else None
    except UserError:
        return None


def _at(data: Any, path: Sequence[str]) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _merged(there: Any, kind: str, unit: Unit, bound: str, stages: list[str]) -> tuple[str, list[str]]:
    """The new line merged with the existing line that it replaces: it keeps the stages and has the looser limit."""
    if not isinstance(there, dict):
        return bound, stages
    old = there.get("stages")
    stages = list(dict.fromkeys([*map(str, old), *stages])) if isinstance(old, list) and stages else []
    side, _, new = bound.partition(": ")
    if kind == "limits" and side in there:
        chosen = (max if side == "max" else min)(new, str(there[side]), key=lambda each: parse_quantity(each, unit))
        bound = f"{side}: {chosen}"
    return bound, stages


def _wanted(record: Record, verdict: Verdict) -> Iterator[tuple[str, str, str, str, list[str]]]:
    """Server, kind, metric, bound and stages of each line; no stages if it covers all of them."""
    every = {stage.name for stage in record.schedule.stages}

    def stages(rows: Sequence[JudgedChange] | Sequence[JudgedLimit]) -> list[str]:
        names = {row.name for row in rows}
        return [] if names == every else [stage.name for stage in record.schedule.stages if stage.name in names]

    changes: dict[tuple[str, str], list[JudgedChange]] = {}
    for change in verdict.changes:
        if change.word == "worse":
            changes.setdefault((change.server, change.metric), []).append(change)
    for (server, metric), worse in changes.items():
        yield server, "accepted", metric, _accepted_bound(worse), stages(worse)
    limits: dict[tuple[str, str], list[JudgedLimit]] = {}
    for limit in verdict.limits:
        if limit.outcome == "fail" and not limit.shared:
            limits.setdefault((limit.server, limit.metric), []).append(limit)
    for (server, metric), broken in limits.items():
        yield server, "limits", metric, _limit_bound(broken), stages(broken)


def _accepted_bound(worse: Sequence[JudgedChange]) -> str:
    """A `change`, or a `level` if there is no ratio, such as a loss where there was none."""
    shares = [_share_with_room(change) for change in worse]
    most = max((share for share in shares if share is not None), default=0.0)
    falls = any(change.change is not None and change.change < 0 for change in worse)
    if None not in shares and most < (1.0 if falls else LARGEST_CHANGE):
        return f"change: {_share(most)}"
    levels = [_level_with_room(change) for change in worse]
    return f"level: {quantity(min(levels) if falls else max(levels), worse[0].unit, up=not falls)}"


def _share_with_room(found: JudgedChange) -> float | None:
    share = share_of(found) if found.scale == "ratio" else None
    return None if share is None else ceil((share + _room(found)) * 100 - 1e-9) / 100


def _level_with_room(found: JudgedChange) -> float:
    head = found.head or 0.0
    absolute = _room(found) * (1.0 if found.scale == "difference" else found.base or 0.0)
    room = max(absolute, LEVEL_ROOM * head)
    return max(0.0, head - room) if found.change is not None and found.change < 0 else head + room


def _room(found: JudgedChange) -> float:
    """The room on the scale of the change."""
    change = found.change or 0.0
    outer = found.low if change < 0 else found.high
    return INTERVALS * abs((outer if outer is not None else 2 * change) - change) + MARGINS * found.margin


def _limit_bound(broken: Sequence[JudgedLimit]) -> str:
    bound = broken[0].bound
    worst, _ = bound.worst((limit.value, 0) for limit in broken if limit.value is not None)
    up = bound.side == "max"
    return f"{bound.side}: {quantity(worst * (1 + LIMIT_ROOM if up else 1 - LIMIT_ROOM), broken[0].unit, up=up)}"


def _entry(bound: str, stages: Sequence[str], until: str) -> str:
    where = f", stages: [{', '.join(stages)}]" if stages else ""
    return f"{{{bound}{where}, reason: {PLACEHOLDER}, until: {until}}}"


_SCALES: Mapping[Unit, Sequence[tuple[float, str]]] = {
    Unit.RATIO: [(0.01, "%")],
    Unit.SECONDS: [(1.0, "s"), (1e-3, "ms"), (1e-6, "us")],
    Unit.BYTES: [(1e6, "MB"), (1e3, "kB"), (1.0, "B")],
    Unit.BYTES_PER_SECOND: [(1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")],
    Unit.PER_SECOND: [(1.0, "/s")],
    Unit.COUNT: [(1.0, "")],
    Unit.CORES: [(1.0, "")],
}


def quantity(value: float, unit: Unit, *, up: bool) -> str:
    """A quantity in the form that `units.parse_quantity` reads, rounded so that it still holds."""
    scales = _SCALES[unit]
    factor, suffix = next((each for each in scales if value >= each[0]), scales[-1])
    return f"{_rounded(value / factor, up=up)}{suffix}"


def _share(value: float) -> str:
    return f"{_rounded(value * 100, up=True)}%" if value >= 1 else f"{round(value * 100)}%"


def _rounded(value: float, *, up: bool) -> str:
    """Two significant digits, without an exponent."""
    if value <= 0:
        return "0"
    digits = 1 - floor(log10(value))
    scaled = value * 10.0**digits
    whole = ceil(scaled - 1e-9) if up else floor(scaled + 1e-9)
    return f"{whole / 10.0**digits:.{max(0, digits)}f}"


@dataclass(frozen=True)
class _Places:
    """Where lines go in a file."""

    file: str
    end: int
    """how many lines it has"""

    def additions(self, node: MappingNode, wanted: Tree, path: Sequence[str] = ()) -> Iterator[Addition]:
        """The additions to `node`: missing keys above its first key, new servers at the end of a file without any."""
        have = {key.value: (key, value) for key, value in node.value if isinstance(key, ScalarNode)}
        missing = {key: value for key, value in wanted.items() if key not in have}
        if missing and not path:
            yield Addition(_rendered(missing, 0), f"at the end of {self.file}", self.end)
        elif missing:
            first = node.value[0][0].start_mark
            yield Addition(_rendered(missing, first.column), self._below(path, first.line), first.line)
        for key in wanted.keys() & have.keys():
            name, value = have[key]
            here = (*path, key)
            line, column = name.start_mark.line, name.start_mark.column
            if isinstance(wanted[key], str):
                lines = _last_line(value) - line + 1
                text = _rendered({key: wanted[key]}, column)
                yield Addition(text, f"instead of line {line + 1} of {self.file}", line, replaces=lines)
            elif isinstance(value, MappingNode) and value.value and not value.flow_style:
                yield from self.additions(value, wanted[key], here)
            elif isinstance(value, ScalarNode) and not value.value:
                yield Addition(_rendered(wanted[key], column + 2), self._below(here, line + 1), line + 1)
            else:
                whole = wanted[key]
                for part in reversed(here):
                    whole = {part: whole}
                yield Addition(_rendered(whole, 0), f"into what {self.file} has in line {line + 1}", None)

    def _below(self, path: Sequence[str], line: int) -> str:
        return f"below `{': '.join(path)}:`, line {line} of {self.file}"


def _last_line(node: Node) -> int:
    """The last line of a value; a block ends only where the next one begins."""
    if isinstance(node, MappingNode) and not node.flow_style and node.value:
        return max(_last_line(value) for _, value in node.value)
    return int(node.end_mark.line)


def _rendered(tree: Tree, indent: int) -> str:
    lines = []
    for key, value in tree.items():
        if isinstance(value, str):
            lines.append(f"{' ' * indent}{key}: {value}\n")
        else:
            lines.append(f"{' ' * indent}{key}:\n{_rendered(value, indent + 2)}")
    return "".join(lines)
