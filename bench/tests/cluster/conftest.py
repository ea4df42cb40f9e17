from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
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
SERVERS = select(read_catalog(PROJECT.servers), ["node-ws", "node-cluster-redis/channel-per-board", "spring-mvc-sse"])
IMAGES = {"k6": generator_image(PROJECT).reference(), "server": image_of(SERVERS[0]).reference()}
FIRST = [*IMAGES.values(), image_of(SERVERS[1]).reference()]
"""The two of Node.js share most of their layers, which are copied once."""
LATER = [image_of(SERVERS[2]).reference()]
SERVICES = [image.reference for image in service_images(needed_by(SERVERS))]


@pytest.fixture(scope="session")
def making(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Future[tuple[Path, str]]]:
    """A checkout with a server of known delays, and its image, which are made while the cluster starts."""
    with ThreadPoolExecutor(1) as beside:
        yield beside.submit(make_scripted, tmp_path_factory.mktemp("scripted"))


@pytest.fixture(scope="session")
def cluster(making: Future[tuple[Path, str]]) -> Iterator[Cluster]:
    """Its nodes have the images of k6 and node-ws."""
    with cluster_with(FIRST, lambda: [*LATER, *SERVICES, making.result()[1]]) as found:
        yield found


@pytest.fixture(scope="session")
def stocked(cluster: Cluster) -> Cluster:
    """Its nodes have the images of all servers, which are copied while the first tests wait."""
    cluster.await_images()
    return cluster


@pytest.fixture(scope="session")
def images() -> dict[str, str]:
    return IMAGES


@pytest.fixture(scope="session")
def scripted(stocked: Cluster, making: Future[tuple[Path, str]]) -> Path:
    """A checkout with a server of known delays, whose image the nodes have."""
    if TOOL == "current":
        pytest.skip("the nodes of this cluster pull their images from a registry")
    return making.result()[0]


@pytest.fixture(scope="session")
def harmed(stocked: Cluster, scripted: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The trials of that server with one generator, each with a harm done to it."""
    return play_harms(stocked, scripted, tmp_path_factory.mktemp("harmed"))
