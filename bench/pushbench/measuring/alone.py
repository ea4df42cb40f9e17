"""Makes sure that a measurement runs alone: on this machine, in a cluster, or both."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from pushbench.building.builds import Note
from pushbench.drivers.driver import Driver
from pushbench.drivers.kubernetes import KubernetesDriver
from pushbench.machine.awake import awake, may_stay_awake
from pushbench.machine.ownership import only_run_in_cluster, only_run_on_machine


@contextlib.contextmanager
def alone(drivers: Sequence[Driver], note: Note, *, wait: bool = False, clients_here: bool = False) -> Iterator[None]:
    """Hold the places where these drivers measure, and also this machine if `clients_here`.

    Keeps the CPUs of this machine awake meanwhile. Raises UserError as `only_run_on_machine` and `awake` do.
    """
    clusters = {driver.cluster for driver in drivers if isinstance(driver, KubernetesDriver)}
    with contextlib.ExitStack() as held:
        if clients_here or any(_is_here(driver) for driver in drivers):
            held.enter_context(only_run_on_machine(note, wait=wait))
            held.enter_context(awake())
        for cluster in sorted(clusters):
            held.enter_context(only_run_in_cluster(cluster, note, wait=wait))
        yield


def is_kept_awake(driver: Driver) -> bool:
    """Whether `alone` keeps the CPUs that this driver measures on awake."""
    return _is_here(driver) and may_stay_awake()


def _is_here(driver: Driver) -> bool:
    """A cluster with a node that shares this machine's kernel counts as here."""
    return driver.here if isinstance(driver, KubernetesDriver) else True
