"""Builds sites, and runs the tests of report-site/test on them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from pushbench.building.toolchains import Missing, find
from pushbench.foundation.project import Project
from pushbench.site.pages import NODE, build_pages
from tests.site.sites import SITES, write_site

NODE_TEST = ("node", "--test", "--test-force-exit", "--test-timeout=600000", "--test-reporter=spec")
TESTS = Project.current().pages / "test"


def write_sites(folder: Path, names: Sequence[str]) -> Path:
    """Write these sites of SITES, each in its own folder."""
    if isinstance(missing := find("node", NODE), Missing):
        pytest.skip(str(missing))
    build_pages(Project.current(), print)
    for name in names:
        write_site(folder / name, *SITES[name])
    return folder


def run_in_browser(sites: Path, *tests: str) -> None:
    """Run these files in one process, whose tests share a browser, because starting both takes seconds."""
    if not any(shutil.which(name) for name in ("chromium-headless-shell", "chromium", "google-chrome")):
        pytest.skip("needs Chromium: install it from your package manager (chromium)")
    environment = {**os.environ, "PUSHBENCH_SITES": str(sites)}
    imports = [f"import {json.dumps(str(TESTS / f'{test}.test.js'))};\n" for test in tests]
    with tempfile.NamedTemporaryFile("w", suffix=".mjs") as all_of_them:
        all_of_them.writelines(imports)
        all_of_them.flush()
        command = [*NODE_TEST, all_of_them.name]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


OF_SMALL_SITES = (
    ("reading", "answers", "looks", "method", "suites"),
    ("safety", "address", "run"),
    ("marks", "capacity", "curves", "ranking", "server", "tables"),
)
"""all groups take about the same time"""
OF_THE_LARGE_ONE = ("budget", "crowding")
