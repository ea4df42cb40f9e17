"""The dashboards are well-formed, and each of their queries finds the data of a real run in a real store."""

from __future__ import annotations

import itertools
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

from pushbench.metrics.validity import GENERATOR_CPU_MOST, is_disturbed
from pushbench.records.store import read_record
from pushbench.reporting.looks import COLOURS, listed, looks
from tests.stack import (
    COMPOSE,
    DASHBOARDS,
    DATASOURCE,
    NO_VICTORIA,
    ROOT,
    SERVICES,
    compose,
    free_port,
    image_here,
    own_program,
    read_dashboard,
)

SERVER = "node-ws"
LOOKS = ROOT / "report-site" / "looks.txt"
STYLE = ROOT / "report-site" / "src" / "style.css"
RATE_INTERVAL = "4s"  # what Grafana makes of $__rate_interval with a sample each second: four times as long


# --- what the dashboards promise ---


def panels(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_dashboard(path)["panels"]
    return found


def expressions(path: Path) -> list[str]:
    dashboard = read_dashboard(path)
    marks = [mark["target"]["expr"] for mark in dashboard["annotations"]["list"]]
    return [*marks, *(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])]


def every(node: Any, key: str) -> Iterator[Any]:
    """The values of `key` at any depth."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == key:
                yield value
            yield from every(value, key)
    elif isinstance(node, list):
        for value in node:
            yield from every(value, key)


def test_there_is_a_dashboard_and_each_has_an_identity_of_its_own() -> None:
    assert DASHBOARDS
    for key in ("uid", "title"):
        values = [read_dashboard(path)[key] for path in DASHBOARDS]
        assert len(set(values)) == len(values)


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.name)
def test_panels_are_told_apart_explained_and_do_not_overlap(path: Path) -> None:
    found = panels(path)
    assert len({panel["id"] for panel in found}) == len(found)
    assert len({panel["title"] for panel in found}) == len(found)
    assert all(panel["description"] for panel in found)
    for panel in found:
        refs = [target["refId"] for target in panel["targets"]]
        assert len(set(refs)) == len(refs)
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
    for one, other in itertools.combinations((panel["gridPos"] for panel in found), 2):
        apart = any(
            first[axis] + first[size] <= second[axis]
            for first, second in ((one, other), (other, one))
            for axis, size in (("x", "w"), ("y", "h"))
        )
        assert apart, (one, other)


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.name)
def test_a_dashboard_names_the_provisioned_store_and_no_address(path: Path) -> None:
    dashboard = read_dashboard(path)
    site = variable_of(dashboard, "site")
    assert urllib.parse.urlsplit(site["query"]).hostname == "127.0.0.1"
    dashboard["templating"]["list"].remove(site)
    assert "://" not in json.dumps(dashboard)
    assert "localhost" not in path.read_text()
    named = list(every(dashboard, "datasource"))
    assert named
    assert all(each == {"type": DATASOURCE["type"], "uid": DATASOURCE["uid"]} for each in named)


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.name)
def test_queries_use_the_variables_that_there_are_and_nothing_of_cadvisor(path: Path) -> None:
    variables = {variable["name"] for variable in read_dashboard(path)["templating"]["list"]} - {"site"}
    assert variables == {"run", "server"}
    for expression in expressions(path):
        used = set(re.findall(r"\$\{?(\w+)", expression))
        assert used <= {*variables, "__rate_interval", "__range"}, expression
        assert variables <= used, f"not limited to the chosen run and server: {expression}"
        assert "container_" not in expression


def variable_of(dashboard: Any, name: str) -> Any:
    [found] = [variable for variable in dashboard["templating"]["list"] if variable["name"] == name]
    return found


def overrides(panel: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The properties that the panel gives a series, or a column, of that name."""
    found: list[dict[str, Any]] = []
    for each in panel["fieldConfig"]["overrides"]:
        matcher = each["matcher"]
        if matcher["id"] == "byRegexp":
            matches = re.search(matcher["options"].strip("/").replace(r"\/", "/"), name)
        else:
            matches = matcher["options"] == name
        found += each["properties"] if matches else []
    return found


def looked(panel: dict[str, Any], name: str, what: str) -> Any:
    """What the last override that matches says, as in Grafana."""
    return next((each["value"] for each in reversed(overrides(panel, name)) if each["id"] == what), None)


def looks_of_the_site() -> dict[str, str]:
    """The colour of each listed server on the site's dark pages, which is the theme of the dashboards."""
    dark = STYLE.read_text().partition('[data-theme="dark"]')[2].partition("}")[0]
    colours = re.findall(r"--line-\d: (#[0-9a-f]{6});", dark)
    assert len(colours) == COLOURS
    order = listed(LOOKS.read_text())
    return {server: colours[look.colour] for server, look in looks(order, order).items()}


def colour_overrides(mode: str) -> list[dict[str, Any]]:
    """One for each colour: the server's name, alone or before a blank."""
    by_colour: dict[str, list[str]] = {}
    for server, colour in looks_of_the_site().items():
        by_colour.setdefault(colour, []).append(server.replace("/", r"\/"))
    return [
        {
            "matcher": {"id": "byRegexp", "options": f"/^({'|'.join(servers)})( |$)/"},
            "properties": [{"id": "color", "value": {"mode": mode, "fixedColor": colour}}],
        }
        for colour, servers in sorted(by_colour.items())
    ]


def is_colour_of_servers(override: dict[str, Any]) -> bool:
    return bool(override["matcher"]["options"].startswith("/^("))


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.name)
def test_a_server_has_the_colour_of_the_site_in_every_panel(path: Path) -> None:
    """`PUSHBENCH_GOLDEN=write` writes them anew, after a change of report-site/looks.txt or of the colours.

    A panel with several latencies of a server shows them in shades of its colour.
    """
    dashboard = read_dashboard(path)
    for panel in dashboard["panels"]:
        if panel["type"] == "timeseries":
            mode = "shades" if panel["title"] == "Other latencies" else "fixed"
            others = [each for each in panel["fieldConfig"]["overrides"] if not is_colour_of_servers(each)]
            panel["fieldConfig"]["overrides"] = [*colour_overrides(mode), *others]
    text = json.dumps(dashboard, indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("PUSHBENCH_GOLDEN") == "write":
        path.write_text(text)
    assert path.read_text() == text
    sample = looks_of_the_site()["socketio-game/bun-ws"]
    for title in ("CPU", "Memory", "Headline latency", "Clients"):
        for name in ("socketio-game/bun-ws", "socketio-game/bun-ws (base) server"):
            colour = looked(panel_of(path, title), name, "color")
            assert colour == {"mode": "fixed", "fixedColor": sample}, title
    assert looked(panel_of(path, "CPU"), "socketio-game/bun-ws-2 server", "color") is None
    assert SERVICES["grafana"]["environment"]["GF_USERS_DEFAULT_THEME"] == "dark"


def panel_of(path: Path, title: str) -> dict[str, Any]:
    [found] = [panel for panel in panels(path) if panel["title"] == title]
    return found


RUN = COMPOSE / "grafana" / "dashboards" / "run.json"


def test_memory_is_in_megabytes_as_everywhere_else() -> None:
    """Grafana's unit `bytes` counts in 1024s, `decbytes` in thousands."""
    assert panel_of(RUN, "Memory")["fieldConfig"]["defaults"]["unit"] == "decbytes"
    assert looked(panel_of(RUN, "By stage"), "Memory peak", "unit") == "decbytes"
    assert "bytes" not in [each for path in DASHBOARDS for each in every(read_dashboard(path), "unit")]


def test_the_generator_is_shown_in_percent_of_its_cpus_with_the_line_of_its_rule() -> None:
    panel = panel_of(RUN, "Generator CPU")
    shown = panel["fieldConfig"]["defaults"]
    assert (shown["unit"], shown["min"], shown["max"]) == ("percentunit", 0, 1)
    assert shown["custom"]["thresholdsStyle"] == {"mode": "line"}
    assert [each["value"] for each in shown["thresholds"]["steps"]] == [None, GENERATOR_CPU_MOST]
    assert "/ on (run,server,program)" in panel["targets"][0]["expr"]
    assert f"{GENERATOR_CPU_MOST:.0%}".replace("%", " %") in panel["description"]


@pytest.mark.parametrize(("title", "ref"), [("Headline latency", "D"), ("Loss, late included", "B")])
def test_limits_are_lines(title: str, ref: str) -> None:
    panel = panel_of(RUN, title)
    [line] = [target for target in panel["targets"] if target["refId"] == ref]
    assert "pushbench_limit" in line["expr"]
    name = line["legendFormat"].replace("{{server}}", "node-ws")
    assert looked(panel, name, "color") == {"mode": "fixed", "fixedColor": "red"}
    assert looked(panel, name, "custom.lineStyle")["fill"] == "dash"


@pytest.mark.parametrize("title", ["Headline latency", "Other latencies"])
def test_quantiles_of_one_colour_differ_in_their_lines(title: str) -> None:
    panel = panel_of(RUN, title)
    assert panel["fieldConfig"]["defaults"]["custom"]["scaleDistribution"] == {"type": "log", "log": 10}
    styles = [str(looked(panel, f"node-ws delivery {point}", "custom.lineStyle")) for point in ("p50", "p95", "p99")]
    assert len(set(styles)) == 3


def test_a_run_leads_to_its_page_of_the_site_and_to_its_record() -> None:
    links = looked(panel_of(RUN, "By stage"), "Run", "links")
    assert [link["url"] for link in links] == [
        "${site:raw}/index.html#/run/${__value.raw}",
        "${site:raw}/records/${__value.raw}.json.gz",
    ]
    assert [link["url"] for link in read_dashboard(RUN)["links"]] == ["${site:raw}/index.html"]


# --- a real run in a real store ---


@dataclass(frozen=True)
class Found:
    """What a run left in the store."""

    url: str
    run: str
    begin: float
    end: float
    disturbed: bool
    """by the machine, so that what its clients did in a second is not what the profile says"""

    def ask(self, path: str, **parameters: str) -> Any:
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}{path}?{query}", timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}?{query}: {error.read().decode()}") from None

    def resolve(self, expression: str) -> str:
        """As Grafana does, with all servers of the run."""
        known = {"run": self.run, "server": ".*", "__rate_interval": RATE_INTERVAL, "__range": f"{self.seconds}s"}
        return re.sub(r"\$(\w+)", lambda found: known[found[1]], expression)

    @property
    def seconds(self) -> int:
        return math.ceil(self.end - self.begin)

    def values(self, expression: str, *, instant: bool = False) -> dict[str, list[float]]:
        """The numbers of every series, by its labels; what is no number is left out."""
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
    """A smoke run of one server, watched."""
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
    # The store shows samples up to four seconds after it got them, unless it is asked.
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
