from __future__ import annotations

from collections.abc import Iterator

import pytest

from pushbench.building.images import generator_image, image_of
from pushbench.catalog.servers import read_catalog, select
from pushbench.drivers.service_images import needed_by, service_images
from pushbench.foundation.project import Project
from tests.cluster.at_hand import Cluster, cluster_with

PROJECT = Project.current()
SERVERS = select(read_catalog(PROJECT.servers), ["node-ws", "node-cluster-redis/channel-per-board", "spring-mvc-sse"])
IMAGES = {"k6": generator_image(PROJECT).reference(), "server": image_of(SERVERS[0]).reference()}
MORE = [image_of(server).reference() for server in SERVERS[1:]]
SERVICES = [image.reference for image in service_images(needed_by(SERVERS))]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with cluster_with([*IMAGES.values(), *MORE, *SERVICES]) as found:
        yield found


@pytest.fixture(scope="session")
def images() -> dict[str, str]:
    return IMAGES
