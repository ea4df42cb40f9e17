"""Several servers are verified at the same time, with the same results as one after another, but sooner."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from pushbench.catalog.failures import ServerFailed
from pushbench.conformance import Conformance, RuleResult, Subject
from pushbench.conformance.rule import Mismatch, Rule, rule
from pushbench.conformance.side_by_side import Watch, _places, verify_each
from pushbench.conformance.suite import SuiteRules
from pushbench.conformance.target import Target
from pushbench.conformance.waiting import only_waits
from pushbench.foundation.errors import UserError
from tests.conformance.test_verification import Silent

# A worker of pytest-xdist has its own thread, which these forks do not need.
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")

PATIENCE_SECONDS = 10.0


@dataclass
class Heard:
    """The messages to a watch, in their order."""

    told: list[tuple[str, int]] = field(default_factory=list)

    def watch(self) -> Watch:
        def checked(server: int, result: RuleResult) -> None:
            self.told.append((result.name, server))

        def found(server: int, _: Conformance) -> None:
            self.told.append(("found", server))

        return Watch(lambda server: self.told.append(("began", server)), checked, found)


@dataclass
class Server:
    name: str


@rule("It is so.")
async def holds(_: Server) -> None: ...


@rule("It is server 1.")
async def is_the_first(server: Server) -> None:
    if server.name != "server-1":
        raise Mismatch("server-1", server.name)


@rule("Another is there at the same time.")
async def has_company(_: Server) -> None:
    await until(lambda: len(list(Path.cwd().glob("started-*"))) == 2)


def count(files: str) -> int:
    return len(list(Path.cwd().glob(files)))


@rule("It ends when three servers were started.", final=True)
async def ends_beside_the_next(_: Server) -> None:
    only_waits()
    await until(lambda: count("started-*") == 3)


@rule("It ends while no other server is there.", final=True)
async def ends_alone(server: Server) -> None:
    only_waits()
    await asyncio.sleep(0.05)
    if (there := count("started-*") - count("ended-*")) != 1:
        raise Mismatch(f"{server.name} alone", f"{there} servers")


@rule("It takes longer to end than to be checked.", final=True)
async def ends_beside_a_pause(_: Server) -> None:
    only_waits()
    await asyncio.sleep(0.2)


@rule("At most two are checked at the same time.")
async def has_two_lanes(server: Server) -> None:
    note = Path(f"checks-{server.name}")
    leave(note)
    await asyncio.sleep(0.15)
    there = count("checks-*")
    note.unlink()  # noqa: ASYNC240 - nothing else runs here
    if there > 2:
        raise Mismatch("two servers at most", f"{there}")


def leave(note: Path) -> None:
    note.touch()


async def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise Mismatch("it in time", "nothing")
        await asyncio.sleep(0.005)


@pytest.fixture
def with_rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[Callable[[int], Subject]]]:
    """`with_rules(holds, servers=2)`: servers that have these rules. Each writes a file with its lane when it starts,
    and another one when it has ended."""
    monkeypatch.chdir(tmp_path)

    class Clients(Server):
        async def dismiss(self) -> None:
            pass

    def make(*rules: Rule, servers: int) -> list[Callable[[int], Subject]]:
        monkeypatch.setattr(SuiteRules, "rules", lambda *_: rules)
        monkeypatch.setattr(SuiteRules, "clients", lambda _, subject, __: Clients(subject.server))
        return [partial(subject, f"server-{number}") for number in range(servers)]

    return make


def subject(name: str, lane: int) -> Subject:
    @contextlib.contextmanager
    def start() -> Iterator[Target]:
        Path(f"started-{name}").write_text(f"{lane} {os.getpid()}")
        try:
            yield Silent()
        finally:
            Path(f"ended-{name}").touch()

    return Subject(name, "whiteboard", "whiteboard-json", [], start)


WithRules = Callable[..., list[Callable[[int], Subject]]]


def results(found: Sequence[Conformance]) -> list[tuple[str, list[str]]]:
    return [(each.server, [result.outcome for result in each.rules]) for each in found]


def test_two_lanes_verify_two_servers_at_the_same_time(with_rules: WithRules) -> None:
    found = verify_each(with_rules(has_company, servers=2), 2, Heard().watch())
    assert results(found) == [("server-0", ["passed"]), ("server-1", ["passed"])]
    assert {Path(f"started-server-{number}").read_text().split()[0] for number in range(2)} == {"0", "1"}


def test_one_lane_verifies_one_after_another(with_rules: WithRules, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Heard()
    verify_each(with_rules(holds, servers=3), 1, heard.watch())
    assert heard.told == [(what, server) for server in range(3) for what in ("began", "holds", "found")]


def test_the_next_server_begins_while_one_ends(with_rules: WithRules) -> None:
    found = verify_each(with_rules(ends_beside_the_next, servers=3), 2, Heard().watch())
    assert results(found) == [(f"server-{number}", ["passed"]) for number in range(3)]
    places = {int(path.read_text().split()[0]) for path in Path.cwd().glob("started-*")}
    assert len(places) == 3, "each has logs of its own"


@pytest.mark.slow
def test_no_more_are_checked_at_a_time_than_there_are_lanes(with_rules: WithRules) -> None:
    found = verify_each(with_rules(has_two_lanes, ends_beside_a_pause, servers=8), 2, Heard().watch())
    assert results(found) == [(f"server-{number}", ["passed", "passed"]) for number in range(8)]


def test_servers_of_one_lane_may_have_the_same_port(with_rules: WithRules) -> None:
    found = verify_each(with_rules(ends_alone, servers=3), 1, Heard().watch())
    assert results(found) == [(f"server-{number}", ["passed"]) for number in range(3)]


@pytest.mark.parametrize("lanes", [2, 3, 4])
def test_the_workers_of_a_lane_have_its_cpus_and_logs_of_their_own(lanes: int) -> None:
    places = _places(lanes)
    assert len({place for _, place in places}) == len(places) == 2 * lanes
    assert all(place % 2 == lane % 2 for lane, place in places)


def test_results_come_in_the_order_of_the_servers_and_each_is_its_own(with_rules: WithRules) -> None:
    found = verify_each(with_rules(holds, is_the_first, servers=5), 3, Heard().watch())
    assert results(found) == [
        (f"server-{number}", ["passed", "passed" if number == 1 else "failed"]) for number in range(5)
    ]


def test_only_the_named_rules_are_checked(with_rules: WithRules) -> None:
    found = verify_each(with_rules(holds, is_the_first, servers=2), 2, Heard().watch(), ["holds"])
    assert results(found) == [("server-0", ["passed"]), ("server-1", ["passed"])]


def test_a_server_that_does_not_start_is_its_own_result(with_rules: WithRules) -> None:
    def mute(_: int) -> Subject:
        def start() -> contextlib.AbstractContextManager[Target]:
            raise ServerFailed("start", "it is dead")

        return Subject("mute", "whiteboard", "whiteboard-json", [], start)

    found = verify_each([mute, *with_rules(holds, servers=1)], 2, Heard().watch())
    assert results(found) == [("mute", ["failed"]), ("server-0", ["passed"])]
    assert found[0].rules[0].detail == "it is dead"


def test_a_mistake_of_the_user_is_told_as_it_is(with_rules: WithRules) -> None:
    def busy(_: int) -> Subject:
        def start() -> contextlib.AbstractContextManager[Target]:
            raise UserError("port 80 cannot be used", where="here", hint="choose another")

        return Subject("busy", "whiteboard", "whiteboard-json", [], start)

    with_rules(holds, servers=1)
    with pytest.raises(UserError, match="here: port 80 cannot be used; choose another"):
        verify_each([busy], 2, Heard().watch())


def test_a_lane_that_misses_the_signal_to_end_is_not_waited_for(with_rules: WithRules) -> None:
    def deaf(_: int) -> Subject:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as if it came just before the lane handles signals

        def start() -> contextlib.AbstractContextManager[Target]:
            raise UserError("port 80 cannot be used")

        return Subject("deaf", "whiteboard", "whiteboard-json", [], start)

    with_rules(holds, servers=1)
    began = time.monotonic()
    with pytest.raises(UserError, match="port 80 cannot be used"):
        verify_each([deaf], 2, Heard().watch())
    assert time.monotonic() - began < PATIENCE_SECONDS


def test_a_lane_that_is_killed_is_no_result(with_rules: WithRules) -> None:
    def killed(_: int) -> Subject:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    with pytest.raises(RuntimeError, match="a verification ended with signal SIGKILL"):
        verify_each([killed, *with_rules(holds, servers=1)], 2, Heard().watch())


def tell_where() -> None:
    Path(f"hangs-{os.getpid()}").touch()


@rule("It takes for ever.", limit_seconds=60)
async def hangs(_: Server) -> None:
    tell_where()
    await asyncio.sleep(60)


def test_an_interrupt_ends_the_servers_of_all_lanes_and_nothing_is_checked_any_more(with_rules: WithRules) -> None:
    servers = with_rules(hangs, holds, servers=4)

    def interrupted(server: int) -> None:
        if server == 1:
            asyncio.run(until(lambda: len(list(Path.cwd().glob("hangs-*"))) == 1))
            for lane in Path.cwd().glob("hangs-*"):  # Ctrl-C reaches all processes of a terminal
                os.kill(int(lane.name.removeprefix("hangs-")), signal.SIGINT)
            raise KeyboardInterrupt

    heard = Heard()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        verify_each(servers, 2, Watch(interrupted, heard.watch().checked, heard.watch().found))
    assert time.monotonic() - began < PATIENCE_SECONDS
    assert sorted(path.name for path in Path.cwd().glob("*ed-*")) == ["ended-server-0", "started-server-0"]
    assert heard.told == []


def test_lanes_end_with_the_command_even_when_that_is_killed(with_rules: WithRules) -> None:
    servers = with_rules(hangs, servers=2)
    command = os.fork()
    if command == 0:
        verify_each(servers, 2, Heard().watch())
        os._exit(0)
    asyncio.run(until(lambda: len(list(Path.cwd().glob("hangs-*"))) == 2))
    os.kill(command, signal.SIGKILL)
    os.waitpid(command, 0)
    asyncio.run(until(lambda: len(list(Path.cwd().glob("ended-*"))) == 2))
