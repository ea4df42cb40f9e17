"""The backing services of a server in a cluster: each is a pod beside the server's, on another node."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pushbench.building.images import is_remote
from pushbench.catalog.failures import ServerFailed
from pushbench.drivers import manifests
from pushbench.drivers.cluster_account import Meter
from pushbench.drivers.driver import STOP_SECONDS
from pushbench.drivers.kubectl import Kubectl, KubectlFailed
from pushbench.drivers.pod_account import PodAccount
from pushbench.drivers.pods import Refused, answer_of, await_pods, forwarding, log_of
from pushbench.drivers.service import Service
from pushbench.drivers.service_images import POLICY, ServiceImage, service_images
from pushbench.drivers.services import KNOWN, await_ready, content_of
from pushbench.drivers.unaccounted import Unaccounted
from pushbench.foundation.yamlfile import read_yaml
from pushbench.machine.resources import Accounted

CPUS = 1.0
"""that a service may use at most"""


@dataclass(frozen=True)
class Around:
    """What the services of a trial share."""

    kubectl: Kubectl
    not_on: Sequence[str]
    """the nodes of the server"""
    meter: str
    """the image of the meter beside each service"""
    logs: Path
    contents: Path
    """the suite's file without its ending; the initial content of a service is a file beside it"""


class ServicePod:
    """A service in a pod."""

    def __init__(self, service: Service, around: Around, url: str) -> None:
        self.name, self.variable, self.url = service.name, service.variable, url
        """the URL inside the cluster, for the server"""
        self._service, self._around = service, around
        self.meter: Meter | None = None
        self.pod = ""

    @property
    def tree(self) -> Accounted:
        return PodAccount(self._around.kubectl, self.pod) if self.meter else Unaccounted()

    def begin(self, *, metered: bool) -> None:
        """Wait until the service is ready. Raises KubectlFailed and ServerFailed."""
        kubectl = self._around.kubectl
        [found] = await_pods(kubectl, self.name)
        self.pod = found["metadata"]["name"]
        address = f"{found['status']['podIP']}:{manifests.METER_PORT}"
        self.meter = Meter(self.pod, address, CPUS, of_service=True) if metered else None
        with forwarding(kubectl, self.pod, self._service.port, self._around.logs) as url:
            here = urlsplit(url)
            log_tail = partial(log_of, kubectl, self.pod, self.name)
            await_ready(self._service, here.hostname or "", here.port or 0, lambda: None, log_tail)

    def fill(self) -> None:
        """Give the service its initial content. Raises ServerFailed."""
        client = self._service.client
        if client and client.image_setup[1]:
            self._asked(client.image_program, *client.image_setup)
        if content := content_of(self._service, self._around.contents):
            self.ask(content)

    def ask(self, question: str) -> str:
        client = self._service.client
        if client is None:
            raise ServerFailed("load", f"the service {self.name} cannot be queried")
        return self._asked(client.image_program, client.arguments, question)

    def _asked(self, program: str, arguments: Sequence[str], question: str) -> str:
        command = [program, *(each.format(port=self._service.port) for each in arguments), question]
        try:
            return self._around.kubectl.run("exec", self.pod, f"--container={self.name}", "--", *command)
        except KubectlFailed as error:
            raise ServerFailed("load", f"the service {self.name} does not answer: {error}") from None

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        """Delete its pod, which gets SIGKILL a second after SIGTERM, and create another one behind the same address.

        Raises ServerFailed, also for a service with content: the content would be lost with the pod.
        """
        if self._service.content:
            raise ServerFailed("load", f"the service {self.name} cannot be stopped: its content is lost with its pod")
        try:
            self._scale(0)
            try:
                yield
            finally:
                self._scale(1)
                self.begin(metered=bool(self.meter))
        except KubectlFailed as error:
            raise ServerFailed("load", f"the service {self.name} cannot be restarted: {error}") from None

    def _scale(self, replicas: int) -> None:
        kubectl, pods = self._around.kubectl, ("pods", "--selector", f"app={self.name}")
        kubectl.run("scale", "deployment", self.name, f"--replicas={replicas}")
        if not replicas:
            kubectl.run("wait", *pods, "--for=delete", f"--timeout={STOP_SECONDS:g}s")


def products(kubectl: Kubectl, names: Sequence[str]) -> dict[str, str]:
    """Product and version of the services whose product affects the numbers. Raises KubectlFailed and ServerFailed."""
    told = [(image, product) for image in service_images(names) if (product := KNOWN[image.service].product)]
    return {
        image.service: product.name(answer_of(kubectl, _reference(image), product.image_program, "--version"))
        for image, product in told
    }


def running_in(around: Around, names: Sequence[str]) -> list[ServicePod]:
    """The services `names`, fresh and ready. Deleting the namespace ends them. Raises KubectlFailed, ServerFailed."""
    return [_start(around, image) for image in service_images(names)]


def _start(around: Around, image: ServiceImage) -> ServicePod:
    """Start the service with a meter, or without one where the cluster refuses it."""
    service, kubectl = KNOWN[image.service], around.kubectl
    policy = read_yaml(POLICY).data["services"][service.name]
    user = _user_of(kubectl, service, _reference(image), policy)
    objects = partial(
        manifests.service, service.name, _reference(image), policy, service.port, user=user, not_on=around.not_on
    )
    kubectl.apply(objects(meter=around.meter))
    address = kubectl.get("service", service.name)["spec"]["clusterIP"]
    found = ServicePod(service, around, service.url.format(host=address, port=service.port))
    try:
        found.begin(metered=True)
    except Refused:
        kubectl.apply(objects())
        found.begin(metered=False)
    found.fill()
    return found


def _user_of(kubectl: Kubectl, service: Service, image: str, policy: Mapping[str, Any]) -> tuple[int, int]:
    """The numeric user and group of a service; those of a user named in the image differ between images."""
    if service.image_user is None:
        user, _, group = policy["user"].partition(":")
    else:
        both = 'id -u "$0" && id -g "$0"'
        user, group = answer_of(kubectl, image, "sh", "-c", both, service.image_user).split()
    return int(user), int(group)


def _reference(image: ServiceImage) -> str:
    """The image as the nodes name it: by digest in the project's registry if one is set, otherwise as in the policy."""
    return image.mirror() if is_remote(image.mirror()) else image.reference
