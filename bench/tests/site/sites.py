"""Sites of invented histories, built with `pushbench site` as users do."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from pushbench.foundation.project import Project
from tests.site import demo
from tests.site.demo_capacity import write_searches
from tests.site.demo_setting import HOSTILE, SERVERS, Demo
from tests.site.demo_suites import TOKENS

SMALL = Demo(runs=70, older=20, records=8, servers=SERVERS[:6])
LARGE = Demo(stages=(1000,))
"""5,000 runs of 19 servers and 12 metrics"""
STREAMS = replace(
    SMALL,
    suite="tokens",
    servers=("go-sse", "node-sse", "spring-mvc-sse", "spring-webflux-sse"),
    subjects=("Flush each event", "Bump the framework (#77)", "Write events without a copy"),
)
SITES: dict[str, tuple[Demo, ...]] = {
    "large": (LARGE,),
    "small": (SMALL,),
    "suites": (SMALL, STREAMS),
    "hostile": (replace(SMALL, servers=(*SERVERS[:3], *HOSTILE[:5]), subjects=HOSTILE),),
    "empty": (),
}
"""named as in report-site/test/sites.js"""
KEPT = {"small": 6}
"""number of full records that a site keeps, of eight; other sites keep all"""
SEARCHED = {"small", "hostile"}
"""sites with capacity records"""
REPOSITORY = "https://github.com/example/pushbench"


def write_site(folder: Path, *about: Demo) -> float:
    """Write `folder/records`, `folder/history` and `folder/site`; returns the CPU seconds for the site. If there is
    another suite besides the whiteboard, also write `folder/checkout` with both."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in about:
        demo.write(folder, each)
        if each.suite == "whiteboard" and folder.name in SEARCHED:
            write_searches(folder, each)
    if any(each.suite != "whiteboard" for each in about):
        _write_checkout(folder / "checkout")
    return make_site(folder)


def _write_checkout(folder: Path) -> None:
    """Write this checkout with an additional suite `tokens`."""
    project = Project.current()
    scenarios = folder / project.scenarios.relative_to(project.root)
    scenarios.mkdir(parents=True)
    for path in (project.servers, project.pages, project.cache.parent, project.thresholds, project.root / "docs"):
        (folder / path.name).symlink_to(path)
    whiteboard = project.scenarios / "whiteboard.yml"
    shutil.copyfile(whiteboard, scenarios / whiteboard.name)
    profile = "{stages: [100, 500, 1000], warmup_seconds: 1, ramp_seconds: 1, settle_seconds: 1, steady_seconds: 3, "
    (scenarios / "tokens.yml").write_text(
        "title: Token stream\n"
        "description: Each client asks for a text, and gets it token by token.\n"
        "protocols: [tokens-sse]\n"
        "parameters: {}\n"
        f"words: {TOKENS.model_dump_json()}\n"
        "limits: {loss_ratio: {max: 0%}}\n"
        "regressions: {cpu_seconds_per_token: {margin: 5%}, first_token_seconds.p95: {margin: 15%, floor: 1ms}}\n"
        f"profiles: {{full: {profile}drain_seconds: 5}}}}\n"
    )


def make_site(folder: Path) -> float:
    """Make the site; returns the CPU seconds from the start of Python to its end, which other work does not affect."""
    inputs = ["--records", str(folder / "records"), "--store", str(folder / "history")]
    inputs += ["--capacities", str(folder / "capacity")]
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
        env={**os.environ, "PUSHBENCH_ROOT": str(checkout)} if (checkout := folder / "checkout").exists() else None,
    )
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
