"""The dashboards are well-formed, and show servers and limits as the report site does."""

from __future__ import annotations

import itertools
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from pushbench.metrics.validity import GENERATOR_CPU_MOST
from pushbench.reporting.looks import COLOURS, listed, looks
from tests.stack import (
    DASHBOARDS,
    DATASOURCE,
    ROOT,
    RUN,
    SERVICES,
    every,
    expressions,
    panel_of,
    panels,
    read_dashboard,
)

LOOKS = ROOT / "report-site" / "looks.txt"
STYLE = ROOT / "report-site" / "src" / "style.css"


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
    """The properties that the panel sets for a series or a column of that name."""
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
    """The value of the last matching override, as in Grafana."""
    return next((each["value"] for each in reversed(overrides(panel, name)) if each["id"] == what), None)


def looks_of_the_site() -> dict[str, str]:
    """The colour of each listed server on the site's dark pages; the dashboards are dark, too."""
    dark = STYLE.read_text().partition('[data-theme="dark"]')[2].partition("}")[0]
    colours = re.findall(r"--line-\d: (#[0-9a-f]{6});", dark)
    assert len(colours) == COLOURS
    order = listed(LOOKS.read_text())
    return {server: colours[look.colour] for server, look in looks(order, order).items()}


def colour_overrides(mode: str) -> list[dict[str, Any]]:
    """One pattern for each colour: the server's name, alone or before a blank."""
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
    """`PUSHBENCH_GOLDEN=write` rewrites the overrides after a change of report-site/looks.txt or of the colours.

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
