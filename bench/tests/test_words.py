"""No source outside a suite's own files mentions the suite: its name, protocols, parameters, latencies, words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.catalog.suites import Suite, read_suites
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Thresholds
from pushbench.site.context import method, read_context

ROOT = Path(__file__).parents[2]
SUITES = read_suites(ROOT / "k6" / "scenarios")
SOURCES = (
    "bench/pushbench/**/*.py",
    "k6/push/*.go",
    "k6/internal/**/*.go",
    "report-site/src/**/*.ts*",
    "compose/**/*.json",
    "compose/**/*.yml",
)
"""sources for all suites; documentation and examples of the command line may name a suite"""
ELSEWHERE = (
    "bench/pushbench/records/vocabulary.py",  # the words of records from before suites had words
    "bench/pushbench/cli/",  # examples in help texts
    "k6/internal/schedule/pattern.go",  # suites may share the names of input patterns
    "k6/internal/scripted/",  # servers with faults, for tests of the generator
    "report-site/src/pages/published",  # published figures
    "report-site/src/data/publi",
)
PLAIN = {
    "whiteboard": ("board", "boards", "echo", "fan-out", "fanout"),
    "token-stream": ("first token",),
}
"""words of a suite's users that are in no declaration"""
ORDINARY = {"location"}
"""names of suites that are also ordinary words, such as of a page's address"""


def own(suite: Suite) -> tuple[str, ...]:
    """The paths of the suite's own files: rules, and the clients for its protocols."""
    identifier = suite.id.replace("-", "_")
    clients = [f"k6/internal/protocol/{name}" for name in (suite.id.replace("-", ""), identifier, "stomp")]
    return (f"bench/pushbench/conformance/{identifier}/", *clients)


def words(suite: Suite) -> Iterator[str]:
    spec = suite.spec
    yield from {suite.id} - ORDINARY
    yield from (*spec.protocols, *PLAIN.get(suite.id, ()))
    yield from (name for name in spec.parameters if "_" in name)
    yield from (f"{name}_seconds" for name in spec.words.latencies)
    yield f"cpu_seconds_per_{spec.words.work.name}"


def sources() -> Iterator[tuple[str, str]]:
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            skipped = "_test.go" in name or "__pycache__" in name or name.startswith(ELSEWHERE)
            if path.is_file() and not skipped:
                yield name, path.read_text(encoding="utf-8", errors="replace")


ALL = list(sources())


def known_words(suite: Suite) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, words(suite)))})(?![\w-])")


def found(suite: Suite, texts: list[tuple[str, str]]) -> list[str]:
    known = known_words(suite)
    return [
        f"{name}:{number}: {hit[0]}"
        for name, text in texts
        if not name.startswith(own(suite))
        for number, line in enumerate(text.splitlines(), 1)
        if (hit := known.search(line)) and "`" not in line
    ]


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.id)
def test_only_a_suites_own_files_know_its_words(suite: Suite) -> None:
    assert found(suite, ALL) == []


def test_a_word_is_found() -> None:
    [whiteboard] = [suite for suite in SUITES if suite.id == "whiteboard"]
    texts = [("a.py", "x = 1\nkeyboard\ny = metrics['echo_seconds.p95']\n"), ("b.ts", "the board of a client")]
    assert found(whiteboard, texts) == ["a.py:3: echo_seconds", "b.ts:1: board"]


TOLD = method(read_context(Project.at(ROOT), None), Thresholds("", {}))
PROMISED = {"every server": TOLD["contract"]} | {each["id"]: each["contract"] for each in TOLD["suites"]}
OF_CLIENTS = {
    "whiteboard": ("draw", "draws", "stroke", "strokes", "boardId", "joined", "STOMP"),
    "token-stream": ("pace", "paced", "token", "tokens", "active_streams"),
    "posts": ("post", "posts", "database"),
    "location": ("position", "positions", "superseded"),
    "typing-game": ("keystroke", "keystrokes", "matchmaking", "typed"),
}
"""words of the protocols, which must not occur in promises to other suites' clients"""


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.id)
def test_what_other_servers_promise_has_none_of_a_suites_words(suite: Suite) -> None:
    foreign = re.compile(rf"{known_words(suite).pattern}|\b({'|'.join(OF_CLIENTS[suite.id])})\b")
    assert foreign.search(json.dumps(PROMISED[suite.id])), "its own servers promise something in its words"
    others = {name: json.dumps(blocks) for name, blocks in PROMISED.items() if name != suite.id}
    assert {name: hits for name, text in others.items() if (hits := set(re.findall(foreign, text)))} == {}
