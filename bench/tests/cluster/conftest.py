from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from pushbench.building.images import generator_image, image_of
from pushbench.catalog.servers import read_catalog, select
from pushbench.drivers.service_images import needed_by, service_images
from pushbench.foundation.project import Project
from tests.cluster.at_hand import TOOL, Cluster, cluster_with
from tests.cluster.course import Course, play_harms
from tests.cluster.scripted import make_scripted

PROJECT = Project.current()


@dataclass(frozen=True)
class Images:
    k6: str
    node: list[str]
    """two servers that share most of their layers, which are copied once"""
    later: list[str]
    """images of another server and of the services"""


@pytest.fixture(scope="session")
def found_images() -> Images:
    names = ["node-ws", "node-cluster-redis/channel-per-board", "spring-mvc-sse"]
    servers = select(read_catalog(PROJECT.servers), names)
    *node, spring = [image_of(server).reference() for server in servers]
    services = [image.reference for image in service_images(needed_by(servers))]
    return Images(generator_image(PROJECT).reference(), node, [spring, *services])


@pytest.fixture(scope="session")
def making(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Future[tuple[Path, str]]]:
    """A checkout with a server of known delays, and the server's image. Both are made while the cluster starts."""
    with ThreadPoolExecutor(1) as beside:
        yield beside.submit(make_scripted, tmp_path_factory.mktemp("scripted"))


@pytest.fixture(scope="session")
def cluster(making: Future[tuple[Path, str]], found_images: Images) -> Iterator[Cluster]:
    """A cluster whose nodes have the images of k6 and node-ws."""
    first = [found_images.k6, *found_images.node]
    with cluster_with(first, lambda: [*found_images.later, making.result()[1]]) as found:
        yield found


@pytest.fixture(scope="session")
def stocked(cluster: Cluster) -> Cluster:
    """A cluster whose nodes have the images of all servers. The first tests wait for the copies."""
    cluster.await_images()
    return cluster


@pytest.fixture(scope="session")
def images(found_images: Images) -> dict[str, str]:
    return {"k6": found_images.k6, "server": found_images.node[0]}


@pytest.fixture(scope="session")
def scripted(stocked: Cluster, making: Future[tuple[Path, str]]) -> Path:
    """A checkout with a server of known delays, whose image the nodes have."""
    if TOOL == "current":
        pytest.skip("the nodes of this cluster pull their images from a registry")
    return making.result()[0]


@pytest.fixture(scope="session")
def harmed(stocked: Cluster, scripted: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The trials of the scripted server with one generator, each with one harm."""
    return play_harms(stocked, scripted, tmp_path_factory.mktemp("harmed"))
