"""A port that was chosen stays free for the program that is about to listen on it."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Sequence

import pytest

from pushbench.foundation.errors import UserError
from pushbench.machine import ports
from pushbench.machine.ports import free_port, outgoing_ports, require_free

LINUX = range(32768, 61000)


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Sequence[int]:
    """The only three ports to choose from."""
    few = sorted(free_port() for _ in range(3))
    for name in list(ports._kept):
        name.close()
    ports._kept.clear()
    monkeypatch.setattr(ports, "_candidates", lambda _: few)
    return few


def test_a_chosen_port_can_be_listened_on() -> None:
    with socket.create_server(("0.0.0.0", free_port())):
        pass


def test_a_chosen_port_is_none_of_outgoing_connections() -> None:
    assert free_port() not in outgoing_ports()


@pytest.mark.parametrize(
    ("outgoing", "chosen"),
    [
        pytest.param(LINUX, range(20_000, 30_000), id="Linux: below, clear of node ports"),
        pytest.param(range(1024, 61_000), range(61_000, 65_536), id="widened downwards: above"),
        pytest.param(range(1024, 65_536), range(1024, 65_536), id="all: there are no others"),
        pytest.param(range(5_000, 65_536), range(1_024, 2_232), id="nearly all: the few below"),
    ],
)
def test_ports_are_chosen_beside_those_of_outgoing_connections(outgoing: range, chosen: range) -> None:
    assert ports._candidates(outgoing) == chosen


def test_a_port_is_not_given_twice(only: Sequence[int]) -> None:
    assert sorted(free_port() for _ in only) == only
    with pytest.raises(UserError, match=f"no free port in {only[0]} to {only[-1]}"):
        free_port()


def test_another_process_does_not_get_it_either(only: Sequence[int]) -> None:
    own = free_port()
    program = f"""\
from pushbench.machine import ports
ports._candidates = lambda _: {list(only)}
print(*sorted(ports.free_port() for _ in range({len(only) - 1})))
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert own not in map(int, said.stdout.split())


def test_a_port_with_a_server_is_not_chosen(only: Sequence[int]) -> None:
    with socket.create_server(("127.0.0.1", only[0])):
        assert sorted(free_port() for _ in only[1:]) == only[1:]


def test_a_port_is_given_back_when_many_others_were_chosen() -> None:
    first = free_port()
    for _ in range(ports.KEPT):
        free_port()
    assert len(ports._kept) == ports.KEPT
    assert ports._keep(first)


def test_a_port_with_a_server_cannot_be_required() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(UserError, match=r"port \d+ cannot be used: Address already in use"),
    ):
        require_free(taken.getsockname()[1])
