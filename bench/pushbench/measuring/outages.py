"""Deliberate kills: the outages of the profile, each at its moment in the steady window, and the restart afterwards."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence

from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import ServerSpec
from pushbench.drivers.driver import Instance
from pushbench.drivers.workers import NotKilled
from pushbench.generator.events import Started
from pushbench.generator.load import LoadFailed
from pushbench.records.record import Finding, Outage, Schedule


def lacking(spec: ServerSpec, workers: int, outage: Outage) -> str | None:
    """What the server lacks for the outage; None if it lacks nothing. `workers` counts its processes if it supervises
    any."""
    if spec.url:
        return "no process on this machine"
    if spec.compose and outage.kill != "server":
        return f"several containers, and no {outage.kill} beside them"
    if outage.kill == "service" and not spec.services:
        return "no service"
    if outage.kill == "worker" and not (spec.supervises_workers and workers > 1):
        return "no workers that it supervises" if not spec.supervises_workers else "a single worker"
    return None


def schedule_for(schedule: Schedule, spec: ServerSpec, workers: int) -> tuple[Schedule, list[Finding]]:
    """The schedule without the outages that do not apply to the server, and a finding for each of them."""
    stages, findings = [], []
    for index, stage in enumerate(schedule.stages):
        if stage.outage and (lack := lacking(spec, workers, stage.outage)):
            message = f"nothing was killed, because the server has {lack}"
            findings.append(Finding(code="no_outage", message=message, stage=index))
            stages.append(stage.model_copy(update={"outage": None}))
        else:
            stages.append(stage)
    return schedule.model_copy(update={"stages": stages}), findings


class Outages(threading.Thread):
    """Kills in the stages of a load that has begun."""

    def __init__(self, instance: Instance, schedule: Schedule, started: Started) -> None:
        super().__init__(name="outages", daemon=True)
        self._instance = instance
        self._planned = [
            (index, begin + stage.outage.at_seconds, stage.outage)
            for index, (stage, (begin, _)) in enumerate(zip(schedule.stages, started.windows, strict=True))
            if stage.outage
        ]
        self._enough = threading.Event()
        self._done: dict[int, float] = {}
        self._failed: ServerFailed | LoadFailed | None = None

    def run(self) -> None:
        try:
            for stage, moment, outage in self._planned:
                if self._enough.wait(max(0.0, moment - time.monotonic())):
                    return
                self._done[stage] = time.monotonic()
                self._kill(outage)
        except ServerFailed as failed:
            self._failed = failed
        except NotKilled as failed:
            self._failed = LoadFailed(str(failed))

    def _kill(self, outage: Outage) -> None:
        if outage.kill == "worker":
            self._instance.kill_worker()
            return
        with contextlib.ExitStack() as stack:
            if outage.kill == "server":
                stack.enter_context(self._instance.outage())
            else:
                for service in self._instance.services:
                    stack.enter_context(service.outage())
            self._enough.wait(outage.down_seconds)

    def stop(self) -> Mapping[int, float]:
        """Wait for the current outage, and start no more. Returns when each was, by its stage, in time.monotonic().

        Raises ServerFailed if what was killed could not be restarted, LoadFailed if it could not be killed."""
        self._enough.set()
        self.join()
        if self._failed:
            raise self._failed
        return self._done


@contextlib.contextmanager
def stopping(outages: Sequence[Outages]) -> Iterator[None]:
    """Stop the outages when the block ends, so that nothing stays down."""
    try:
        yield
    finally:
        for each in outages:
            with contextlib.suppress(ServerFailed, LoadFailed):
                each.stop()
