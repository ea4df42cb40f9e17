from __future__ import annotations

from collections.abc import Iterator

import pytest

from pushbench.building.images import generator_image, image_of
from pushbench.catalog.servers import read_catalog, select
from pushbench.foundation.project import Project
from tests.cluster.at_hand import Cluster, cluster_with

PROJECT = Project.current()
[SERVER] = select(read_catalog(PROJECT.servers), ["node-ws"])
IMAGES = {"k6": generator_image(PROJECT).reference(), "server": image_of(SERVER).reference()}


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with cluster_with(list(IMAGES.values())) as found:
        yield found


@pytest.fixture(scope="session")
def images() -> dict[str, str]:
    return IMAGES
