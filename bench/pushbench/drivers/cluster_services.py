"""The backing services of a server in a cluster: each a pod beside the server's, on another node."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from pushbench.building.images import is_remote
from pushbench.catalog.failures import ServerFailed
from pushbench.drivers import manifests
from pushbench.drivers.kubectl import Kubectl
from pushbench.drivers.pods import await_pods, forwarding, log_of
from pushbench.drivers.service_images import POLICY, ServiceImage, service_images
from pushbench.drivers.services import KNOWN, await_ready
from pushbench.drivers.unaccounted import Unaccounted
from pushbench.foundation.yamlfile import read_yaml


class ServicePod:
    """A service in a pod. Nobody meters it."""

    def __init__(self, name: str, variable: str, url: str) -> None:
        self.name, self.variable, self.url = name, variable, url
        """the URL is that of the cluster, for the server"""
        self.tree = Unaccounted()

    def ask(self, question: str) -> str:
        raise ServerFailed("load", f"the service {self.name} cannot be asked in a cluster")

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        raise ServerFailed("load", "the driver kubernetes kills nothing yet")
        yield


def missing(names: Sequence[str]) -> str | None:
    """Which of the services cannot be started in a cluster: those that keep data or need a user of their image."""
    for name in names:
        service = KNOWN[name]
        if service.fill or service.image_user or service.content:
            return f"the driver kubernetes does not start {name} yet"
    return None


@contextlib.contextmanager
def running_in(
    kubectl: Kubectl, names: Sequence[str], *, not_on: Sequence[str], logs: Path
) -> Iterator[list[ServicePod]]:
    """The services `names`, fresh and ready. They end with their namespace. Raises KubectlFailed and ServerFailed."""
    yield [_start(kubectl, image, not_on, logs) for image in service_images(names)]


def _start(kubectl: Kubectl, image: ServiceImage, not_on: Sequence[str], logs: Path) -> ServicePod:
    service = KNOWN[image.service]
    name, port = service.name, service.port
    policy = read_yaml(POLICY).data["services"][name]
    kubectl.apply(manifests.service(name, _reference(image), policy, port, not_on))
    [pod] = await_pods(kubectl, name)
    pod_name = pod["metadata"]["name"]
    with forwarding(kubectl, pod_name, port, logs) as here:
        await_ready(service, "127.0.0.1", here, lambda: None, lambda: log_of(kubectl, pod_name, name))
    address = kubectl.get("service", name)["spec"]["clusterIP"]
    return ServicePod(name, service.variable, service.url.format(host=address, port=port))


def _reference(image: ServiceImage) -> str:
    """As the nodes know it: by digest in the project's registry, where one is set, else by the name of the policy."""
    return image.mirror() if is_remote(image.mirror()) else image.reference
