"""Each query of the dashboards finds the data of a real run in a real store."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pushbench.machine.ports import free_port
from pushbench.metrics.validity import GENERATOR_CPU_MOST, is_disturbed
from pushbench.records.store import read_record
from tests.stack import (
    DASHBOARDS,
    NO_VICTORIA,
    ROOT,
    SERVICES,
    compose,
    image_here,
    own_program,
    panels,
    read_dashboard,
)

SERVER = "node-ws"
RATE_INTERVAL = "4s"  # Grafana's $__rate_interval is four times the interval of samples, which is a second


@dataclass(frozen=True)
class Found:
    """The data of a run in the store."""

    url: str
    run: str
    begin: float
    end: float
    disturbed: bool
    """by the machine, so that its clients' actions per second may differ from the profile"""

    def ask(self, path: str, **parameters: str) -> Any:
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}{path}?{query}", timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}?{query}: {error.read().decode()}") from None

    def resolve(self, expression: str) -> str:
        """Replace variables as Grafana does, with all servers of the run."""
        known = {"run": self.run, "server": ".*", "__rate_interval": RATE_INTERVAL, "__range": f"{self.seconds}s"}
        return re.sub(r"\$(\w+)", lambda found: known[found[1]], expression)

    @property
    def seconds(self) -> int:
        return math.ceil(self.end - self.begin)

    def values(self, expression: str, *, instant: bool = False) -> dict[str, list[float]]:
        """The numbers of every series, by its labels; values that are no numbers are left out."""
        query = self.resolve(expression)
        if instant:
            rows = self.ask("/api/v1/query", query=query, time=str(self.end))["result"]
            series = {json.dumps(row["metric"]): [row["value"]] for row in rows}
        else:
            moments = {"start": str(self.begin), "end": str(self.end), "step": "1"}
            rows = self.ask("/api/v1/query_range", query=query, **moments)["result"]
            series = {json.dumps(row["metric"]): row["values"] for row in rows}
        numbers = {labels: [float(value) for _, value in values] for labels, values in series.items()}
        return {labels: [each for each in values if math.isfinite(each)] for labels, values in numbers.items()}


@pytest.fixture(scope="module")
def victoria(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real VictoriaMetrics with the flags of the stack: the stack's own container, or the machine's program."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    if image := image_here("victoria-metrics"):
        project, environment = f"pushbench-test-{port}", {**image, "VICTORIA_METRICS_PORT": str(port)}
        try:
            compose(project, environment, "up", "--detach", "--wait", "victoria-metrics")
            yield url
        finally:
            compose(project, environment, "down", "--volumes")
    elif program := own_program():
        folder = tmp_path_factory.mktemp("victoria-metrics")
        own = {"-httpListenAddr": f"127.0.0.1:{port}", "-storageDataPath": str(folder)}
        given = [flag for flag in SERVICES["victoria-metrics"]["command"] if not flag.startswith("-promscrape.")]
        kept = [f"{name}={own[name]}" if (name := flag.partition("=")[0]) in own else flag for flag in given]
        with (folder / "log").open("wb") as log, subprocess.Popen([program, *kept], stdout=log, stderr=log) as process:
            try:
                await_health(url, lambda: process.poll() is None, folder / "log")
                yield url
            finally:
                process.terminate()
    else:
        pytest.skip(NO_VICTORIA)


def await_health(url: str, runs: Any, log: Path) -> None:
    deadline = time.monotonic() + 20
    while runs() and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(log.read_text()[-2000:])


@pytest.fixture(scope="module")
def found(victoria: str, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """A watched smoke run of one server."""
    out = tmp_path_factory.mktemp("out")
    command = [sys.executable, "-m", "pushbench", "run", "--live", victoria, "--profile", "smoke", "--servers", SERVER]
    begin = time.time()
    done = subprocess.run(
        [*command, "--driver", "process", "--skip-verify", "--out", str(out), "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "bench"), "PUSHBENCH_LOCK": str(out / "lock")},
        capture_output=True,
        text=True,
        check=False,
    )
    paths = list((out / "records").glob("*.json"))
    assert paths, done.stderr
    record = read_record(paths[0])
    assert record.trials, done.stderr
    (trial,) = record.trials
    assert trial.failure is None, done.stderr
    # Unless forced, the store shows samples up to four seconds after it got them.
    with urllib.request.urlopen(f"{victoria}/internal/force_flush", timeout=10):
        return Found(victoria, record.id, begin, time.time(), is_disturbed(trial))


def queries() -> list[Any]:
    return [
        pytest.param(target, id=f"{panel['title']}-{target['refId']}".replace(" ", "_"))
        for path in DASHBOARDS
        for panel in panels(path)
        for target in panel["targets"]
    ]


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("target", queries())
def test_every_query_finds_the_run(found: Found, target: dict[str, Any]) -> None:
    expression = target["expr"]
    if "pushbench_limit" in expression and "_seconds" in expression:
        assert not found.values(expression), "the smoke profile asks for no times"
        expression = expression.replace('=~".+_seconds[.]p95"', '="loss_ratio"')
    series = found.values(expression, instant=target["instant"])
    assert series, found.resolve(target["expr"])
    for labels, values in series.items():
        assert values, f"nothing but gaps in {labels}"
        assert json.loads(labels).get("server") == SERVER


def dashboard_values(found: Found, title: str, ref: str = "A") -> list[float]:
    targets = next(panel["targets"] for path in DASHBOARDS for panel in panels(path) if panel["title"] == title)
    target = next(target for target in targets if target["refId"] == ref)
    return next(iter(found.values(target["expr"], instant=target["instant"]).values()))


@pytest.mark.slow
@pytest.mark.alone
def test_the_dashboard_shows_what_the_smoke_profile_does(found: Found) -> None:
    """20 clients on boards of ten, each drawing once a second."""
    assert {0.0, 20.0} == set(dashboard_values(found, "Stages"))
    if found.disturbed:
        pytest.skip("the machine was disturbed: what was late came in fewer seconds than it was due in")
    assert max(dashboard_values(found, "Exchanges")) == pytest.approx(20, rel=0.2)
    assert max(dashboard_values(found, "Receipts")) == pytest.approx(200, rel=0.2)
    assert max(dashboard_values(found, "Clients")) == 20
    assert dashboard_values(found, "Loss, late included")[-1] == pytest.approx(0, abs=0.001)
    assert set(dashboard_values(found, "Loss, late included", "B")) == {0.01}
    assert 0 < max(dashboard_values(found, "Generator CPU")) < GENERATOR_CPU_MOST
    for title in ("Other latencies", "Headline latency"):
        p50, p95, p99 = (max(dashboard_values(found, title, ref)) for ref in "ABC")
        assert 0 < p50 <= p95 <= p99 < 2, title
    by_stage = {ref: dashboard_values(found, "By stage", ref)[0] for ref in "ABCDEFG"}
    assert by_stage["A"] == pytest.approx(20, rel=0.2)
    assert by_stage["C"] == pytest.approx(0, abs=0.001)
    assert 0 < by_stage["D"] < 1
    assert 10e6 < by_stage["E"] < 1e9
    assert by_stage["G"] > 5 * by_stage["F"] > 0, "ten times as much goes out as comes in"


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.name)
def test_marks_and_variables_find_the_run(found: Found, path: Path) -> None:
    dashboard = read_dashboard(path)
    for mark in dashboard["annotations"]["list"]:
        assert [values for values in found.values(mark["target"]["expr"]).values() if values], mark["name"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] != "query":
            continue
        found_in = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
        assert found_in, variable["name"]
        selector, label = found_in.groups()
        wanted = found.run if label == "run" else SERVER
        known = found.ask(f"/api/v1/label/{label}/values", **{"match[]": found.resolve(selector)})
        assert wanted in known, variable["name"]
