"""Every page in a browser: for everybody, safe, and the same at the same address."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.site.browsing import OF_SMALL_SITES, OF_THE_LARGE_ONE, TESTS, run_in_browser, write_sites


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sites(tmp_path_factory.mktemp("sites"), ["small", "suites", "hostile", "empty"])


@pytest.mark.slow
@pytest.mark.early  # minutes; one worker then makes the sites, and takes them all while the others do the rest
@pytest.mark.parametrize("test", OF_SMALL_SITES)
def test_in_the_browser(sites: Path, test: str) -> None:
    run_in_browser(sites, test)


def test_every_test_of_the_pages_is_run() -> None:
    assert {file.name.removesuffix(".test.js") for file in TESTS.glob("*.test.js")} == {
        *OF_SMALL_SITES,
        *OF_THE_LARGE_ONE,
    }
