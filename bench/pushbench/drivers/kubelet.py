"""The kubelet's metrics of a server's pods, where the cluster allows no meter beside them.

The kubelet reads a container on request, or only every 10 s or so: that differs between clusters. Usage between two
readings is assumed to be even, so a window must be several times as long.
"""

from __future__ import annotations

import contextlib
import re
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pushbench.drivers.kubectl import Kubectl, KubectlFailed
from pushbench.drivers.manifests import SERVER
from pushbench.generator.events import Started
from pushbench.machine.resources import Usage

PATH = "/api/v1/nodes/{}/proxy/metrics/resource"
"""https://kubernetes.io/docs/reference/instrumentation/node-metrics/"""
CPU, MEMORY = "container_cpu_usage_seconds_total", "container_memory_working_set_bytes"
LINE = re.compile(r"(\w+)\{([^}]*)\} ([0-9.e+-]+) (\d+)", re.ASCII)
LABEL = re.compile(r'(\w+)="([^"]*)"')
ASK_SECONDS = 2.0
"""between two requests; each starts a kubectl"""
LATE_SECONDS = 20.0
"""at most, for the reading after the end of a load"""
WINDOW_LEAST = 3.0
"""times the time between two readings: then at least a third of the window lies between readings inside it"""


class Look(NamedTuple):
    """A reading of a container's usage. Looks are ordered by time."""

    at: float
    """seconds of the node's wall clock"""
    cpu_seconds: float
    memory_bytes: int


def looks_in(text: str, container: str = SERVER) -> dict[str, Look]:
    """The latest reading of a container in each pod, from the kubelet's metrics."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for name, labels, value, milliseconds in LINE.findall(text):
        told = dict(LABEL.findall(labels))
        if name in (CPU, MEMORY) and told.get("container") == container:
            with contextlib.suppress(ValueError):
                found.setdefault(told.get("pod", ""), {})[name] = float(value), int(milliseconds) / 1e3
    return {
        pod: Look(told[CPU][1], told[CPU][0], int(told[MEMORY][0])) for pod, told in found.items() if len(told) == 2
    }


@dataclass(frozen=True)
class Coarse:
    """The usage of a server in a pod, from a few readings in order of time."""

    looks: Sequence[Look]
    ahead: float
    """the wall clock minus the clock of the samples"""

    def around(self, at: float) -> tuple[Look, Look] | None:
        place = bisect_right(self.looks, at + self.ahead, key=lambda look: look.at)
        return (self.looks[place - 1], self.looks[place]) if 0 < place < len(self.looks) else None

    def usage(self, seconds: float, at: float) -> Usage | None:
        """The usage at a moment `at`; `seconds` of the load are ignored."""
        if (found := self.around(at)) is None:
            return None
        before, after = found
        part = (at + self.ahead - before.at) / (after.at - before.at)
        cpu = before.cpu_seconds + (after.cpu_seconds - before.cpu_seconds) * part
        memory = before.memory_bytes
        return Usage(at, cpu, user_seconds=None, system_seconds=None, memory_bytes=memory, threads=None, processes=1)


def grain(pods: Sequence[Coarse], told: Started) -> float:
    """The longest time between two readings around a border. Raises LookupError, with a sentence, if it is too long."""
    around = [each.around(border) for each in pods for window in told.windows for border in window]
    if not around or None in around:
        raise LookupError("the kubelet has no readings of the server before or after the load")
    longest = max(after.at - before.at for before, after in filter(None, around))
    shortest = min(end - begin for begin, end in told.windows)
    if longest * WINDOW_LEAST > shortest:
        raise LookupError(f"the kubelet reads every {longest:.0f} s, too rarely for a window of {shortest:.0f} s")
    return longest


@dataclass
class Kubelet:
    """The kubelets on the nodes of a server's pods."""

    kubectl: Kubectl
    nodes: Mapping[str, str]
    """by pod"""
    error: str = ""
    """why the last request failed"""
    _asked: float = 0.0
    _looks: dict[str, set[Look]] = field(default_factory=dict)

    def ask(self) -> None:
        """Read the metrics, unless they were read a moment ago."""
        if time.monotonic() < self._asked + ASK_SECONDS:
            return
        self._asked = time.monotonic()
        try:
            for node in set(self.nodes.values()):
                for pod, look in looks_in(self.kubectl.run("get", "--raw", PATH.format(node))).items():
                    self._looks.setdefault(pod, set()).add(look)
            self.error = ""
        except KubectlFailed as error:
            self.error = str(error)

    def told_until(self, moment: float) -> list[Coarse]:
        """The readings of each pod, once one is later than a moment of time.monotonic(), or after a time limit."""
        deadline = time.monotonic() + LATE_SECONDS
        while True:
            found = list(self._told())
            if all(each.around(moment) for each in found) or time.monotonic() > deadline:
                return found
            time.sleep(ASK_SECONDS)
            self.ask()

    def _told(self) -> Iterator[Coarse]:
        """The readings; nodes' wall clocks count as this machine's: they differ by little compared with a reading."""
        ahead = time.time() - time.monotonic()
        for pod in self.nodes:
            yield Coarse(sorted(self._looks.get(pod, ())), ahead)
