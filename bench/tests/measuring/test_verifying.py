"""Slow servers begin, interleaved with others, and a rule that a server breaks there is checked again alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from pushbench import conformance
from pushbench.conformance import Conformance
from pushbench.conformance.side_by_side import Watch
from pushbench.conformance.verification import STARTS
from pushbench.drivers.driver import Build
from pushbench.measuring import verifying
from pushbench.measuring.verifying import Built, lanes_of, verify_built


def conformance_of(server: str, outcomes: dict[str, str]) -> Conformance:
    rules: Any = [{"name": name, "statement": "So.", "outcome": said, "seconds": 0} for name, said in outcomes.items()]
    return Conformance(server=server, suite="tiny", protocol="tiny-json", digest="", rules=rules)


def built(name: str, toolchain: str = "node", *services: str, suite: str = "whiteboard") -> Built:
    protocol = {"whiteboard": "whiteboard-json", "typing-game": "typing-game-socketio"}[suite]
    spec = SimpleNamespace(
        process=SimpleNamespace(toolchains={toolchain: ">=1"}),
        compose=None,
        services=services,
        suite=suite,
        protocol=protocol,
        outage=None,
    )
    server: Any = SimpleNamespace(id=name, spec=spec)
    nothing: Any = None
    return Built(server, nothing, nothing)


@dataclass
class Verifications:
    """Results of servers for verify_each, and the arguments of its calls."""

    answers: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    asked: list[tuple[list[str], int, list[str]]] = field(default_factory=list)

    def __call__(self, servers: Sequence[Any], lanes: int, watch: Watch, only: Sequence[str] = ()) -> list[Conformance]:
        names = [start.__self__.server.id for start in servers]
        self.asked.append((names, lanes, list(only)))
        found = [conformance_of(name, self.answers.get(name, [{}]).pop(0)) for name in names]
        for number, each in enumerate(found):
            watch.began(number)
            watch.found(number, each)
        return found


@dataclass
class Heard:
    """The messages to a watch, by the positions of servers."""

    said: list[tuple[str, int, str]] = field(default_factory=list)

    def watch(self) -> Watch:
        return Watch(
            lambda place: self.said.append(("began", place, "")),
            lambda *_: None,
            lambda place, found: self.said.append(("found", place, found.kept)),
            lambda place, found: self.said.append(("postponed", place, found.postponed)),
        )


@pytest.fixture
def verifications(monkeypatch: pytest.MonkeyPatch) -> Verifications:
    made = Verifications()
    monkeypatch.setattr(verifying, "verify_each", made)
    return made


def test_slow_servers_begin_with_others_between_and_each_result_is_its_own(verifications: Verifications) -> None:
    servers = [built("go", "go"), built("spring", "java"), built("node"), built("relay", "java", "rabbitmq")]
    heard = Heard()
    results = verify_built(servers, 2, heard.watch())
    assert [place for what, place, _ in heard.said if what == "began"] == [3, 0, 1, 2]
    assert [place for what, place, _ in heard.said if what == "found"] == [3, 0, 1, 2]
    assert [each.server for each in results] == ["go", "spring", "node", "relay"]
    assert verifications.asked == [(["relay", "go", "spring", "node"], 2, [])]


def test_of_other_servers_those_with_the_most_rules_begin(verifications: Verifications) -> None:
    verify_built([built("go"), built("game", suite="typing-game"), built("node")], 2, Heard().watch())
    assert verifications.asked == [(["game", "go", "node"], 2, [])]


def test_a_rule_that_is_not_kept_beside_others_is_checked_alone_and_that_counts(verifications: Verifications) -> None:
    beside = {"starts-well": "passed", "in-time": "failed", "rare": "not-asked", "ends": "passed"}
    verifications.answers["a"] = [beside, *[{"in-time": "passed", "rare": "not-asked"}] * 2]
    heard = Heard()
    found, other = verify_built([built("a"), built("b")], 2, heard.watch())
    assert verifications.asked[1:] == [(["a"], 1, ["in-time", "rare"])] * 2
    assert [(rule.name, rule.outcome, rule.checks) for rule in found.rules] == [
        ("starts-well", "passed", 1),
        ("in-time", "passed", 3),
        ("rare", "not-asked", 3),
        ("ends", "passed", 1),
    ]
    assert other.passed
    assert [each for each in heard.said if each[0] != "began"] == [
        ("postponed", 0, "to be checked again without other servers beside it: in-time"),
        ("found", 1, "0 of 0"),
        ("found", 0, "3 of 3"),
    ]


def test_a_rule_that_is_broken_alone_even_once_is_broken(verifications: Verifications) -> None:
    verifications.answers["a"] = [{"in-time": "failed"}, {"in-time": "passed"}, {"in-time": "failed"}]
    found, _ = verify_built([built("a"), built("b")], 3, Heard().watch())
    assert [(rule.name, rule.outcome, rule.checks) for rule in found.rules] == [("in-time", "failed", 3)]
    verifications.answers["a"] = [{"in-time": "failed"}, {"in-time": "failed"}, {"in-time": "passed"}]
    found, _ = verify_built([built("a"), built("b")], 3, Heard().watch())
    assert [(rule.outcome, rule.checks) for rule in found.rules] == [("failed", 2)]


def test_a_server_that_does_not_start_beside_others_is_verified_alone_as_a_whole(verifications: Verifications) -> None:
    whole = {"one": "passed", "two": "passed"}
    verifications.answers["a"] = [{"one": "passed", STARTS: "failed"}, whole, whole]
    found, _ = verify_built([built("a"), built("b")], 2, Heard().watch())
    assert {rule.name: rule.outcome for rule in found.rules} == whole
    assert verifications.asked[1:] == [(["a"], 1, [])] * 2
    verifications.answers["a"] = [{STARTS: "failed"}, {STARTS: "failed"}]
    found, _ = verify_built([built("a"), built("b")], 2, Heard().watch())
    assert {rule.name: rule.outcome for rule in found.rules} == {STARTS: "failed"}


@pytest.mark.parametrize(("names", "lanes"), [(["a"], 3), (["a", "b"], 1)])
def test_what_was_alone_is_not_checked_again(verifications: Verifications, names: list[str], lanes: int) -> None:
    verifications.answers["a"] = [{"in-time": "failed"}]
    heard = Heard()
    found, *_ = verify_built([built(name) for name in names], lanes, heard.watch())
    assert not found.passed
    assert len(verifications.asked) == 1
    assert ("found", 0, "0 of 1") in heard.said


def test_a_jvm_compiles_briefly_unless_the_server_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[dict[str, str]] = []
    monkeypatch.setattr(conformance, "subject", lambda *given: started.append(given[-1]))
    monkeypatch.setattr(verifying, "in_lane", lambda driver, _: driver)
    nothing: Any = None
    for start, env in (("java", {}), ("/opt/jdk/bin/java", {"JDK_JAVA_OPTIONS": "-Xmx1g"}), ("node", {})):
        process = SimpleNamespace(start=[start, "-jar", "server.jar"])
        server: Any = SimpleNamespace(spec=SimpleNamespace(process=process, env=env), process=process)
        Built(server, Build("a", "digest"), nothing).in_lane(0)
    brief = "-XX:TieredStopAtLevel=1"
    assert started == [{"JDK_JAVA_OPTIONS": brief}, {"JDK_JAVA_OPTIONS": f"{brief} -Xmx1g"}, {}]


@pytest.mark.parametrize(("cores", "lanes"), [(1, 1), (2, 3), (3, 4), (64, 4)])
def test_two_cores_have_three_lanes(monkeypatch: pytest.MonkeyPatch, cores: int, lanes: int) -> None:
    monkeypatch.setattr(verifying, "physical_cores", lambda _: [[core] for core in range(cores)])
    driver: Any = None
    assert lanes_of(driver) == lanes
