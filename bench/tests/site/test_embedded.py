"""Pictures for READMEs of other projects: one of every server, with correct data, valid XML, and inert."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pushbench.metrics.definitions import Unit
from pushbench.metrics.units import format_quantity
from pushbench.reporting.loads import Kind, kinds
from pushbench.site.embedded import file_of, marks_of, plans_of, points_of
from pushbench.site.layout import part
from tests.site import demo
from tests.site.checkouts import LIMITS, MARGIN, Site
from tests.site.demo_capacity import write_searches
from tests.site.demo_setting import HOSTILE, Demo

VARIANT = "fastapi-workers-redis/channel-per-board"
SMALL = Demo(runs=8, older=0, records=2, servers=("bun", VARIANT))
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "style", "rect", "text", "g", "path"}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def picture(site: Site, server: str, name: str) -> ElementTree.Element:
    return ElementTree.fromstring((site.out / file_of(server, name)).read_text())


def texts(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def row_of(site: Site, server: str) -> dict[str, Any]:
    overview = site.data(f"{site.manifest['combinations'][0]['id']}/overview")
    found: dict[str, Any] = next(each for each in overview["rows"] if each["server"] == server)
    return found


def test_a_name_is_safe_as_a_file() -> None:
    assert file_of(VARIANT, "p95") == "charts/fastapi-workers-redis--channel-per-board-p95.svg"
    assert file_of("../../etc", "cpu") == "charts/~2e.--..--etc-cpu.svg"


def test_each_server_has_pictures_of_latency_cpu_and_load(site: Site) -> None:
    demo.write(site.root, SMALL)
    site.build()
    assert site.manifest["charts"] == {key: ["p95", "cpu", "load"] for key in sorted(SMALL.servers)}
    for server in SMALL.servers:
        values = row_of(site, server)["values"]
        for name, metric in (("p95", "delivery_seconds.p95"), ("cpu", "cpu_seconds_per_delivery")):
            said = format_quantity(values[metric], Unit.SECONDS).replace(" us", " \u00b5s")
            assert said in texts(picture(site, server, name))
        load = texts(picture(site, server, "load"))
        assert f"{server}: delivery p95 against load" in load
        assert {"100", "500", "1,000", "clients"} <= set(load)
    assert {path.name for path in (site.out / "charts").iterdir()} == {
        Path(file_of(server, name)).name for server in SMALL.servers for name in ("p95", "cpu", "load")
    }


def test_the_curve_has_the_medians_of_the_last_run(site: Site) -> None:
    demo.write(site.root, SMALL)
    site.build()
    run = site.data(f"runs/{part(row_of(site, 'bun')['run'])}")
    own = next(each for each in run["servers"] if each["server"] == "bun")
    values = [stage["metrics"]["delivery_seconds.p95"][0] for stage in own["stages"]]
    [path] = re.findall(r'class="line [^>]* d="M([^"]*)"', (site.out / file_of("bun", "load")).read_text())
    heights = [float(point.split()[1]) for point in path.split("L")]
    assert len(heights) == 3
    assert sorted(range(3), key=values.__getitem__) == sorted(range(3), key=heights.__getitem__, reverse=True)


@pytest.mark.slow
def test_a_stage_without_a_valid_trial_is_no_point(site: Site) -> None:
    demo.write(site.root, SMALL)
    site.build()
    run = site.data(f"runs/{part(row_of(site, 'bun')['run'])}")
    own = next(each for each in run["servers"] if each["server"] == "bun")
    curve = kinds(plans_of(run), "clients")[0]
    assert [load for load, _ in points_of(own, curve, "delivery_seconds.p95", run)] == [100, 500, 1000]
    own["stages"][1]["believed"] = False
    assert [load for load, _ in points_of(own, curve, "delivery_seconds.p95", run)] == [100, 1000]
    own["valid"] = 0
    assert not list(points_of(own, curve, "delivery_seconds.p95", run))


@pytest.mark.slow
def test_the_limit_of_the_suite_is_drawn(site: Site) -> None:
    limits = LIMITS.replace("{}", f"{{{MARGIN}}}").replace("{max: 1%}", "{max: 1%}, delivery_seconds.p95: {max: 2ms}")
    demo.write(site.root, SMALL)
    site.project.thresholds.write_text(limits)
    site.build()
    assert "limit 2 ms" in texts(picture(site, "bun", "p95"))


@pytest.mark.slow
def test_what_a_server_carries_is_marked_where_the_load_is_the_same(site: Site) -> None:
    demo.write(site.root, SMALL)
    write_searches(site.root, SMALL)
    for expected, board_size in ((True, 10), (False, 100)):
        for path in (site.root / "capacity").iterdir():
            path.write_text(re.sub(r'"board_size":\d+', f'"board_size":{board_size}', path.read_text()))
        shutil.rmtree(site.out / "capacity", ignore_errors=True)
        site.build()
        assert ("carries 5,260" in texts(picture(site, "bun", "load"))) is expected


def test_a_mark_needs_the_load_of_the_search() -> None:
    plain = Kind([(0, 100.0), (1, 300.0)], is_rate=False, is_plain=True)
    found = {"carried": 320, "at_least": True}
    assert [each.label for each in marks_of(found, plain, "clients")] == ["carries at least 320"]
    for curve, searched in (
        (replace(plain, is_plain=False), "clients"),
        (replace(plain, is_rate=True), "clients"),
        (plain, "requests_per_second"),
    ):
        assert marks_of(found, curve, searched) == []
    assert marks_of({"carried": 0, "at_least": False}, plain, "clients") == marks_of(None, plain, "clients") == []


def test_a_run_without_its_record_has_a_curve_too(site: Site) -> None:
    demo.write(site.root, SMALL)
    for path in site.records.iterdir():
        path.unlink()
    site.build()
    assert {"100", "500", "1,000"} <= set(texts(picture(site, "bun", "load")))


def test_one_stage_is_no_curve(site: Site) -> None:
    demo.write(site.root, Demo(runs=8, older=0, records=0, servers=("bun",), stages=(1000,)))
    site.build()
    assert site.manifest["charts"] == {"bun": ["p95", "cpu"]}


@pytest.mark.slow
def test_what_records_say_stays_text(site: Site) -> None:
    servers = HOSTILE[:5]
    demo.write(site.root, Demo(runs=8, older=0, records=1, servers=servers, subjects=HOSTILE))
    site.build()
    for server in servers:
        for name in ("p95", "cpu", "load"):
            root = picture(site, server, name)
            assert {each.tag.removeprefix(SVG) for each in root.iter()} <= ELEMENTS
            names = {attribute for each in root.iter() for attribute in each.attrib}
            assert not [each for each in names if each.startswith("on") or "href" in each]
            assert any(text.startswith(server[:30]) for text in texts(root))


@pytest.mark.slow
def test_a_picture_is_small(site: Site) -> None:
    demo.write(site.root, Demo(runs=80, older=0, records=1, servers=("bun",)))
    site.build()
    assert max(path.stat().st_size for path in (site.out / "charts").iterdir()) < 7_000
