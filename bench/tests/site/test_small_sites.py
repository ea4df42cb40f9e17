"""Every page in a browser is accessible, safe, and the same at the same address."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from pushbench.foundation.files import locked
from tests.site.browsing import OF_SMALL_SITES, OF_THE_LARGE_ONE, TESTS, run_in_browser, write_sites


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sites, made by the first worker that needs them."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "small-sites"
    with locked(base.parent / "small-sites.lock", on_wait=lambda: None):
        if not folder.exists():
            making = tmp_path_factory.mktemp("sites")
            write_sites(making, ["small", "suites", "hostile", "empty"]).rename(folder)
    return folder


@pytest.mark.slow
@pytest.mark.early  # a minute or two each
@pytest.mark.parametrize("tests", OF_SMALL_SITES, ids="-".join)
def test_in_the_browser(sites: Path, tests: Sequence[str]) -> None:
    run_in_browser(sites, *tests)


def test_every_test_of_the_pages_is_run() -> None:
    assert {file.name.removesuffix(".test.js") for file in TESTS.glob("*.test.js")} == {
        *itertools.chain(*OF_SMALL_SITES),
        *OF_THE_LARGE_ONE,
    }
