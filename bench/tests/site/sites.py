"""Sites of invented histories, made as people make them: by `pushbench site`."""

from __future__ import annotations

import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from tests.site import demo
from tests.site.demo import HOSTILE, SERVERS, Demo

SMALL = Demo(runs=70, older=20, records=8, servers=SERVERS[:6])
LARGE = Demo(stages=(1000,))
"""5,000 runs of 19 servers and 12 metrics"""
SITES = {
    "large": LARGE,
    "small": SMALL,
    "hostile": replace(SMALL, servers=(*SERVERS[:3], *HOSTILE[:5]), subjects=HOSTILE),
    "empty": None,
}
"""as report-site/test/sites.js names them"""
KEPT = {"small": 6}
"""full records that a site keeps, of the eight that there are; others keep all"""
REPOSITORY = "https://github.com/example/pushbench"


def write_site(folder: Path, about: Demo | None) -> float:
    """Write `folder/records`, `folder/history` and `folder/site`; how many seconds the site took."""
    folder.mkdir(parents=True, exist_ok=True)
    if about:
        demo.write(folder, about)
    return make_site(folder)


def make_site(folder: Path) -> float:
    """CPU seconds from the start of Python to its end: what it takes where nobody else needs the CPU."""
    inputs = ["--records", str(folder / "records"), "--store", str(folder / "history")]
    if kept := KEPT.get(folder.name):
        inputs += ["--keep-records", str(kept)]
    command = [sys.executable, "-m", "pushbench", "site", *inputs, "--out", str(folder / "site")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*command, "--repository", REPOSITORY],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
