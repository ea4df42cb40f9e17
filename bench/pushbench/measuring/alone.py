"""Where a measurement must have no other beside it: on this machine, in a cluster, or both."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from pushbench.building.builds import Note
from pushbench.drivers.driver import Driver
from pushbench.drivers.kubernetes import KubernetesDriver
from pushbench.machine.ownership import only_run_in_cluster, only_run_on_machine


@contextlib.contextmanager
def alone(drivers: Sequence[Driver], note: Note, *, wait: bool = False, clients_here: bool = False) -> Iterator[None]:
    """Hold the places where these drivers measure, and this machine if `clients_here` says that it is one.

    A cluster with a node that shares this machine's kernel is here, too. Raises UserError as `only_run_on_machine`.
    """
    clusters = {driver.cluster: driver.here for driver in drivers if isinstance(driver, KubernetesDriver)}
    others = not all(isinstance(driver, KubernetesDriver) for driver in drivers)
    with contextlib.ExitStack() as held:
        if clients_here or others or any(clusters.values()):
            held.enter_context(only_run_on_machine(note, wait=wait))
        for cluster in sorted(clusters):
            held.enter_context(only_run_in_cluster(cluster, note, wait=wait))
        yield
