"""The pods of a server or a service in a cluster: waiting for them, reaching them, and ending the server's."""

from __future__ import annotations

import contextlib
import re
import secrets
import signal
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pushbench.catalog.failures import ServerFailed
from pushbench.drivers import manifests, pod_status
from pushbench.drivers.driver import START_SECONDS, STOP_SECONDS
from pushbench.drivers.kubectl import Kubectl, KubectlFailed
from pushbench.drivers.manifests import SERVER
from pushbench.drivers.pod_account import PodAccount
from pushbench.drivers.service import Running
from pushbench.drivers.unaccounted import Unaccounted
from pushbench.drivers.workers import NotKilled
from pushbench.foundation.text import one_line
from pushbench.generator.load import Player
from pushbench.machine.processes import Exit
from pushbench.machine.resources import Accounted, Parts
from pushbench.records.record import ReportedVersions

LOOK_SECONDS = 2.0
"""between two checks of a pod: each starts a kubectl"""
REACH_SECONDS = 10.0
EXIT_CODE = f'{{.status.containerStatuses[?(@.name=="{SERVER}")].state.terminated.exitCode}}{{"\\n"}}'
KILLED = 128 + signal.SIGKILL
LOOPBACK = "127.0.0.1"
FORWARDED = re.compile(r"Forwarding from 127\.0\.0\.1:(\d+)")
NEVER = ("ImagePull", "ErrImage", "CreateContainer", "InvalidImageName")
"""reasons for which a container waits forever"""


class Refused(ServerFailed):
    """The cluster creates no pod for the Deployment."""


class PodInstance:
    """A server in pods. This machine reaches the first by a forwarded port; the generators reach all by a Service."""

    reported: ReportedVersions | None

    def __init__(
        self,
        kubectl: Kubectl,
        pods: Sequence[str],
        url: str,
        *,
        player: Player,
        services: Sequence[Running],
        metered: bool,
        logs: Path,
    ) -> None:
        self._kubectl, self._pods, self._logs = kubectl, pods, logs
        self.url, self.player, self.services, self.replicas = url, player, services, len(pods)
        accounts = {pod: PodAccount(kubectl, pod) for pod in pods}
        self.tree: Accounted = Parts(accounts) if metered else Unaccounted()
        self._exit: Exit | None = None
        self._looked, self._ended = 0.0, ""

    def exited(self) -> str | None:
        if not self._ended and time.monotonic() - self._looked > LOOK_SECONDS:
            with contextlib.suppress(KubectlFailed):
                self._ended = self._how()
            self._looked = time.monotonic()
        return self._ended or None

    def _how(self) -> str:
        found = self._kubectl.get("pods", "--selector", f"app={SERVER}")["items"]
        how = (pod_status.ended(found, name, SERVER) for name in self._pods)
        return next(filter(None, how), "")

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        raise ServerFailed("load", "the driver kubernetes cannot kill servers yet")
        yield

    def kill_worker(self) -> None:
        raise NotKilled("no worker was killed: the driver kubernetes cannot kill workers yet")

    def terminate(self, timeout: float = STOP_SECONDS) -> Exit:
        """Send SIGTERM through the kubelet, which sends SIGKILL after the pod's grace period of STOP_SECONDS. A server
        that needed no SIGKILL ended within that time. The exit code is the last one in the API server before the pods
        were deleted; of several pods, the highest; -1 if the API server had none.
        """
        if self._exit is None:
            began = time.monotonic()
            said = ""
            every = ("pods", "--selector", f"app={SERVER}")
            with contextlib.suppress(KubectlFailed):
                watcher = self._kubectl.start(
                    "get", *every, "--watch", f"--output=jsonpath={EXIT_CODE}", log=self._logs / "exit.log"
                )
                try:
                    self._kubectl.run("scale", "deployment", SERVER, "--replicas=0")
                    self._kubectl.run("wait", *every, "--for=delete", f"--timeout={timeout + 10:g}s")
                finally:
                    watcher.stop(0)
                    said = watcher.log_tail()
            codes = [int(line) for line in said.splitlines() if line.strip().isdecimal()]
            code = max(codes, default=-1)
            seconds, killed = time.monotonic() - began, code == KILLED
            self._exit = Exit(code, seconds if killed else min(seconds, STOP_SECONDS), killed)
        return self._exit

    def log_tail(self) -> str:
        try:
            return "\n".join(log_of(self._kubectl, pod, SERVER, "--tail=50") for pod in self._pods)
        except KubectlFailed as error:
            return str(error)

    def output_bytes(self) -> int:
        try:
            return sum(len(log_of(self._kubectl, pod, SERVER).encode()) for pod in self._pods)
        except KubectlFailed as error:
            raise OSError(f"the output of the pod cannot be read: {error}") from None


def await_pods(kubectl: Kubectl, app: str, wanted: int = 1) -> list[Mapping[str, Any]]:
    """The pods of a Deployment once their containers of its name are ready. Raises ServerFailed, and Refused if the
    cluster creates no such pod.
    """
    deadline = time.monotonic() + START_SECONDS
    why = "no pod was created"
    while time.monotonic() < deadline:
        found = kubectl.get("pods", "--selector", f"app={app}")["items"]
        for pod in found:
            name = pod["metadata"]["name"]
            if how := pod_status.ended([pod], name, app):
                raise ServerFailed("start", f"{app} ended with {how} at its start", log_of(kubectl, name, app))
        if len(found) == wanted and all(pod_status.runs(pod, app) and pod["status"].get("podIP") for pod in found):
            return list(found)
        why = next((pod_status.waiting(pod) for pod in found if not pod_status.runs(pod, app)), why)
        if any(each in why for each in NEVER):
            hint = "is the image in a registry that the nodes reach? docs/containers.md says how"
            raise ServerFailed("start", f"the pod does not start: {why}; {hint}")
        if not found and (refused := pod_status.refusal(kubectl.get("deployment", app))):
            raise Refused("start", f"the cluster refuses the pod: {refused}")
        time.sleep(0.3)
    raise ServerFailed("start", f"the pod did not start within {START_SECONDS:g} s: {why}")


def answer_of(kubectl: Kubectl, image: str, *command: str) -> str:
    """The output of a command of an image, run in a pod of its own. Raises KubectlFailed and ServerFailed."""
    name = f"question-{secrets.token_hex(4)}"
    kubectl.apply([manifests.question(name, image, command)])
    deadline = time.monotonic() + START_SECONDS
    while not (status := kubectl.get("job", name)["status"]).get("succeeded"):
        if status.get("failed") or time.monotonic() > deadline:
            found = kubectl.get("pods", "--selector", f"{manifests.QUESTION}={name}")["items"]
            why = [pod_status.ended([pod], pod["metadata"]["name"], name) or pod_status.waiting(pod) for pod in found]
            said = kubectl.run("logs", f"job/{name}") if status.get("failed") else ""
            what = f"the image {image} does not answer `{' '.join(command)}`: {'; '.join(why) or 'it has no pod'}"
            raise ServerFailed("start", what, said)
        time.sleep(0.3)
    return kubectl.run("logs", f"job/{name}").strip()


def log_of(kubectl: Kubectl, pod: str, container: str, *options: str) -> str:
    return kubectl.run("logs", pod, f"--container={container}", *options)


@contextlib.contextmanager
def forwarding(kubectl: Kubectl, pod: str, port: int, logs: Path) -> Iterator[str]:
    """The URL of a port of this machine that is forwarded to a port of a pod. Raises KubectlFailed."""
    log = logs / f"forward-{pod}.log"
    program = kubectl.start("port-forward", pod, f":{port}", f"--address={LOOPBACK}", log=log)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not (found := FORWARDED.search(program.log_tail())):
            if program.exit_code() is not None or time.monotonic() > deadline:
                raise KubectlFailed(one_line(program.log_tail(), 300) or "no port is forwarded")
            time.sleep(0.05)
        yield f"http://{LOOPBACK}:{found[1]}"
    finally:
        program.stop(0)


def first_reached(addresses: Sequence[str], port: int) -> str | None:
    """The first of the cluster's addresses that this machine connects to without kubectl; None after a time limit.

    The address of a Service leads to its pods a moment after they are ready.
    """
    deadline = time.monotonic() + REACH_SECONDS
    while True:
        for address in addresses:
            with contextlib.suppress(OSError):
                socket.create_connection((address, port), timeout=1.0).close()
                return address
        if time.monotonic() > deadline:
            return None
        time.sleep(0.2)
