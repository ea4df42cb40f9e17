"""Lines of `thresholds.yml` that accept a regression: which are new against a base, and which of them hold. Pure.

The text may come from an untrusted commit: its size is bounded, aliases are refused, and only lines below `accepted`
are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

import yaml
from yaml.error import YAMLError
from yaml.events import CollectionEndEvent, CollectionStartEvent, NodeEvent

from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import YamlFile, parse_yaml
from pushbench.judging.thresholds_file import CAPACITY, LONGEST_ACCEPTANCE
from pushbench.judging.thresholds_reader import KnownSuite, checked
from pushbench.records.record import Accepting

FILE = "thresholds.yml"
LARGEST_FILE = 64 << 10
"""bytes; the project's own file has 2 kB"""
DEEPEST = 20
"""levels; a line that accepts has seven"""
MOST_LINES = 100
"""lines that one commit may add"""

Place = tuple[str, str, str]
"""server, suite, metric"""
State = Literal["holds", "unconfirmed", "expired", "early"]


@dataclass(frozen=True)
class Known:
    """What a thresholds.yml may name."""

    suites: Mapping[str, KnownSuite]
    servers: Mapping[str, str]
    """the suite of every server"""


def new_lines(head: str, base: str | None, suite: str, known: Known, *, confirmed: bool = True) -> list[Accepting]:
    """The lines for servers of `suite` in the text `head` that `base` does not have in the same words.

    `base` is None if that commit has no such file. Raises UserError for an unreadable text and for an invalid new line.
    """
    file = parse(head)
    before = {} if base is None else accepted_in(parse(base).data)
    new = {at: entry for at, entry in accepted_in(file.data).items() if at not in before or before[at] != entry}
    if len(new) > MOST_LINES:
        raise UserError(f"{len(new)} new lines accept regressions, expected at most {MOST_LINES}", where=FILE)
    servers: dict[str, Any] = {}
    for (server, suite_, metric), entry in new.items():
        servers.setdefault(server, {}).setdefault(suite_, {"accepted": {}})["accepted"][metric] = entry
    only = YamlFile(file.path, {"version": 1, "servers": servers}, file.lines)
    digest = hashlib.sha256(head.encode()).hexdigest()
    found = checked(only, digest, suites=known.suites, servers=known.servers)
    return [
        Accepting(
            server=each.server or "",
            metric=each.metric,
            stages=sorted(each.stages) if each.stages else None,
            level=each.level,
            change=each.change,
            reason=each.reason or "",
            until=each.until,
            where=each.where,
            confirmed=confirmed,
        )
        for each in found.suite(suite).accepted
        if each.until is not None  # else it is about the history
    ]


def state(line: Accepting, day: date) -> State:
    """Whether a line holds on the day of a run, or why not."""
    if not line.confirmed:
        return "unconfirmed"
    if line.until < day:
        return "expired"
    return "early" if line.until - LONGEST_ACCEPTANCE > day else "holds"


def accepts_only(before: str, after: str) -> bool:
    """Whether two contents of `thresholds.yml` differ only in their lines below `accepted`, comments aside.

    False if one of them cannot be read, because its changes are then unknown.
    """
    try:
        return bool(_without_accepted(parse(before).data) == _without_accepted(parse(after).data))
    except UserError:
        return False


def newly_accepted(before: str, after: str) -> frozenset[str]:
    """The servers with a line in `after` that `before` does not have; none if one of them cannot be read. Lines about
    capacities are about searches, and no comparison needs them.
    """
    try:
        old, new = accepted_in(parse(before).data), accepted_in(parse(after).data)
    except UserError:
        return frozenset()
    changed = (at for at, entry in new.items() if at not in old or old[at] != entry)
    return frozenset(str(at[0]) for at in changed if at[2] != CAPACITY)


def parse(text: str) -> YamlFile:
    """An untrusted thresholds.yml, its keys not checked yet. Raises UserError for a text that is too large or too
    deeply nested, refers to itself, or is not YAML.
    """
    if len(text.encode(errors="surrogateescape")) > LARGEST_FILE:
        raise UserError(f"larger than {LARGEST_FILE:,} bytes", where=FILE)
    try:
        _check_events(text)
        return parse_yaml(text, Path(FILE))
    except (YAMLError, ValueError, OverflowError) as error:
        raise UserError(f"not valid YAML: {str(error).partition(chr(10))[0]}", where=FILE) from None


def _check_events(text: str) -> None:
    """Refuse anchors, aliases and deep nesting, because they make a small text expand without end."""
    depth = 0
    for event in yaml.parse(text, yaml.CSafeLoader):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > DEEPEST:
            raise UserError(f"more than {DEEPEST} levels of nesting", where=FILE)
        if isinstance(event, NodeEvent) and event.anchor is not None:
            raise UserError("has an anchor or an alias (&name, *name): write the value out", where=FILE)


def accepted_in(data: Any) -> dict[Place, Any]:
    """The content of each accepting line, by its place; empty for a text without the layout of a thresholds.yml."""
    return {
        (server, suite, metric): entry
        for server, suites in _mapping(_mapping(data).get("servers")).items()
        for suite, kinds in _mapping(suites).items()
        for metric, entry in _mapping(_mapping(kinds).get("accepted")).items()
    }


def _without_accepted(data: Any) -> Any:
    """The rest of the document, without servers that have nothing else."""
    if not isinstance(data, dict) or not isinstance(data.get("servers"), dict):
        return data
    left: dict[Any, Any] = {}
    for server, suites in data["servers"].items():
        if not isinstance(suites, dict):
            left[server] = suites
            continue
        rest = {suite: _others(kinds) for suite, kinds in suites.items()}
        if kept := {suite: kinds for suite, kinds in rest.items() if kinds != {}}:
            left[server] = kept
    whole = {key: value for key, value in data.items() if key != "servers"}
    return {**whole, "servers": left} if left else whole


def _others(kinds: Any) -> Any:
    return {key: value for key, value in kinds.items() if key != "accepted"} if isinstance(kinds, dict) else kinds


def _mapping(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}
