"""The site in a browser: the tests of report-site/test, on sites that are made here, and how long making takes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pushbench.project import Project
from pushbench.site.pages import NODE, build_pages
from pushbench.toolchains import Missing, find
from tests.site import demo
from tests.site.sites import LARGE, SITES, make_site, write_site

COLD_SECONDS, ONE_MORE_SECONDS = 60.0, 2.0
NODE_TEST = ("node", "--test", "--test-force-exit", "--test-timeout=240000", "--test-reporter=spec")
BROWSER_TESTS = sorted((Project.current().pages / "test").glob("*.test.js"))

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with each of SITES."""
    if isinstance(missing := find("node", NODE), Missing):
        pytest.skip(str(missing))
    build_pages(Project.current(), print)
    folder = tmp_path_factory.mktemp("sites")
    for name, about in SITES.items():
        write_site(folder / name, about)
    return folder


def test_years_of_history_take_a_minute_and_one_more_record_two_seconds(sites: Path) -> None:
    again = sites / "again"
    for name in ("records", "history"):
        shutil.copytree(sites / "large" / name, again / name)
    cold = make_site(again)
    demo.add_record(again, LARGE)
    (again / "site").rename(again / "before")
    one_more = min(one_more_record(again) for _ in range(3))
    shutil.rmtree(again)
    print(f"\n{LARGE.runs:,} runs: cold {cold:.1f} s, one new record {one_more:.2f} s")
    assert cold <= COLD_SECONDS
    assert one_more <= ONE_MORE_SECONDS


def one_more_record(folder: Path) -> float:
    """Seconds of the whole command for a record that the site in `folder/before` does not have yet."""
    shutil.rmtree(folder / "site", ignore_errors=True)
    shutil.copytree(folder / "before", folder / "site", copy_function=os.link)
    return make_site(folder)


@pytest.mark.parametrize("file", BROWSER_TESTS, ids=lambda file: file.name.removesuffix(".test.js"))
def test_in_the_browser(sites: Path, file: Path) -> None:
    if not any(shutil.which(name) for name in ("chromium", "google-chrome")):
        pytest.skip("needs Chromium: install it from your package manager (chromium)")
    environment = {**os.environ, "PUSHBENCH_SITES": str(sites)}
    done = subprocess.run([*NODE_TEST, str(file)], env=environment, capture_output=True, text=True, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_browser_tests() -> None:
    assert len(BROWSER_TESTS) >= 4
