from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.building.images import generator_image, image_of
from pushbench.catalog.servers import read_catalog, select
from pushbench.drivers.service_images import needed_by, service_images
from pushbench.foundation.project import Project
from tests.cluster.at_hand import Cluster, cluster_with
from tests.cluster.course import Course, play_harms
from tests.cluster.scripted import make_scripted

PROJECT = Project.current()
SERVERS = select(read_catalog(PROJECT.servers), ["node-ws", "node-cluster-redis/channel-per-board", "spring-mvc-sse"])
IMAGES = {"k6": generator_image(PROJECT).reference(), "server": image_of(SERVERS[0]).reference()}
MORE = [image_of(server).reference() for server in SERVERS[1:]]
SERVICES = [image.reference for image in service_images(needed_by(SERVERS))]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Its nodes have the images of k6 and node-ws."""
    with cluster_with(list(IMAGES.values()), [*MORE, *SERVICES]) as found:
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
def scripted(stocked: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with a server of known delays, whose image the nodes have."""
    root, image = make_scripted(tmp_path_factory.mktemp("scripted"))
    stocked.load(image)
    return root


@pytest.fixture(scope="session")
def harmed(stocked: Cluster, scripted: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The trials of that server with one generator, each with a harm done to it."""
    return play_harms(stocked, scripted, tmp_path_factory.mktemp("harmed"))
