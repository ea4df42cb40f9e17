"""The current usage of a server in a pod, as reported by the meter beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pushbench.drivers.cluster_meter import readings_in
from pushbench.drivers.kubectl import Kubectl
from pushbench.drivers.manifests import METER, METER_PROGRAM
from pushbench.machine.procfs import Stat
from pushbench.machine.resources import Usage

LATEST = "--tail=3"
"""of the readings: the last line may be truncated"""


@dataclass(frozen=True)
class PodAccount:
    """The server's processes in one pod. Raises KubectlFailed if the cluster does not answer."""

    kubectl: Kubectl
    pod: str

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        return []

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage | None:
        readings = readings_in(self.kubectl.run("logs", self.pod, f"--container={METER}", LATEST))
        used = readings[-1].server if readings else None
        if used is None:
            return None
        return Usage(
            at=readings[-1].at,
            cpu_seconds=used.cpu / 1e6,
            user_seconds=used.user / 1e6,
            system_seconds=used.system / 1e6,
            memory_bytes=used.memory_bytes,
            threads=used.threads,
            processes=used.processes,
        )

    def open_sockets(self) -> int:
        said = self.kubectl.run("exec", self.pod, f"--container={METER}", "--", METER_PROGRAM, "-sockets")
        return int(said)
