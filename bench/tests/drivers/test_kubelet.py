"""A kubelet's figures, updated about every ten seconds, are used only for windows that are several times as long."""

from __future__ import annotations

import pytest

from pushbench.drivers.cluster_account import Heard, account_of, starts_here
from pushbench.drivers.kubelet import Coarse, Look, grain, looks_in
from pushbench.generator.events import Started
from pushbench.generator.load import Account

AHEAD = 1_000_000.0
METRICS = """\
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="server",namespace="push-1",pod="server-1"} 2.5 1000010500
container_cpu_usage_seconds_total{container="redis",namespace="push-1",pod="redis-1"} 9.25 1000010500
container_memory_working_set_bytes{container="server",namespace="push-1",pod="server-1"} 4.99e+07 1000010500
container_memory_working_set_bytes{container="server",namespace="push-1",pod="without-cpu"} 1 1000010500
container_cpu_usage_seconds_total{container="server",namespace="push-1",pod="hostile"} e+-. 1
node_cpu_usage_seconds_total 4065.7 1000010500
"""


def pod(*moments: float, cores: float = 0.5) -> Coarse:
    """A pod with readings at these times of the samples' clock."""
    return Coarse([Look(AHEAD + at, 7 + cores * at, 50_000_000) for at in moments], AHEAD)


def account(window: float, *pods: Coarse) -> Account:
    started = Started(100.0, [(110.0, 110.0 + window)], 111.0 + window)
    heard = [Heard(started, 100.0, [], [(100.0 + second, 0.1 * second) for second in range(1, 70)])]
    return account_of({}, heard, starts_here(heard, []), "forbidden by the cluster", pods)


def test_the_latest_look_at_each_server_is_read_from_the_kubelets_metrics() -> None:
    assert looks_in(METRICS) == {"server-1": Look(1_000_010.5, 2.5, 49_900_000)}


def test_what_was_used_in_a_long_window_is_known_and_called_coarse() -> None:
    found = account(50.0, pod(97, 107, 118, 127, 137, 147, 158, 168), pod(99, 109, 119, 155, 165, cores=0.25))
    begin, end = [sample for sample in found.samples if sample.border]
    assert begin.server
    assert end.server
    assert end.server.cpu_seconds - begin.server.cpu_seconds == pytest.approx(0.75 * 50)
    assert (end.server.memory_bytes, end.server.threads, end.server.user_seconds) == (100_000_000, None, None)
    assert end.generator
    assert begin.machine is None, "of the node nothing is known"
    [warning] = found.warnings
    assert warning.code == "coarse_account"
    assert "come from the kubelet, which reads every 11 s: forbidden by the cluster" in warning.message


@pytest.mark.parametrize(
    ("window", "pods", "said"),
    [
        (3.0, [pod(97, 107, 117)], "every 10 s, too rarely for a window of 3 s"),
        (50.0, [pod(97, 107, 117)], "has no readings of the server before or after the load"),
        (50.0, [pod(111, 121, 171)], "has no readings"),
        (50.0, [pod(100, 110, 120, 150, 170), Coarse([], AHEAD)], "has no readings"),
        (50.0, [], "forbidden by the cluster"),
    ],
)
def test_nothing_is_made_of_looks_that_are_too_few(window: float, pods: list[Coarse], said: str) -> None:
    found = account(window, *pods)
    [warning] = found.warnings
    assert warning.code == "not_accounted"
    assert said in warning.message
    assert {each.server for each in found.samples} == {None}
    assert found.samples[-1].generator


def test_a_border_at_a_look_has_what_was_used_then() -> None:
    both = pod(100, 110, 120)
    found = both.usage(10.0, 110.0)
    assert found
    assert found.cpu_seconds == 7 + 55.0
    assert grain([pod(100, 110, 120, 160, 170)], Started(100.0, [(110.0, 165.0)], 170.0)) == 10.0
