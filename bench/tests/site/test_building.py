"""`pushbench site` on small histories: what it writes, what it does not touch; the order of work has no effect."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pushbench.cli import main
from pushbench.cli.conclusion import thresholds_of
from pushbench.foundation.errors import UserError
from pushbench.machine.environment import set_apart
from pushbench.records import history, store
from pushbench.records.record import Comparison, Machine
from pushbench.site.local import write_local_site
from pushbench.site.releases import FILE, Release
from tests.factories import ENVIRONMENT, invalid, make_record, make_trial, measured
from tests.site import demo
from tests.site.checkouts import LIMITS, Site
from tests.site.demo_entries import BEHIND
from tests.site.demo_setting import HOSTILE, NEW_GO, NEW_K6, SERVERS, Demo

pytestmark = pytest.mark.slow
SMALL = Demo(runs=40, older=8, records=3, servers=SERVERS[:3])


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_a_second_time_nothing_is_written(site: Site) -> None:
    demo.write(site.root, SMALL)
    assert site.build().runs == SMALL.runs + SMALL.older
    assert site.build().written == []


def test_one_new_record_touches_its_own_files_the_recent_windows_and_what_lists_them(site: Site) -> None:
    demo.write(site.root, SMALL)
    site.build()
    before = site.files()
    demo.add_record(site.root, SMALL)
    site.build()
    after = site.files()
    [record] = sorted(path.stem for path in site.records.glob("*.json"))[-1:]
    changed = {path for path, content in after.items() if before.get(path) != content}
    own = {path for path in changed if record in path}
    assert {f"data/runs/{record}.js", f"records/{record}.json.gz", f"data/runs/{record}/bun.js"} <= own
    listing = {"data/manifest.js", "data/manifest.json", "data/state.json", "feed.xml"}
    others = {path for path in changed - own - listing if not path.startswith(("badges/", "charts/"))}
    assert all(re.fullmatch(r"data/0123456789ab/whiteboard/full/\w+/(recent/.*|overview)\.js", path) for path in others)
    assert set(before) <= set(after)


def test_record_by_record_comes_out_as_all_at_once(site: Site, tmp_path: Path) -> None:
    demo.write(site.root, SMALL)
    site.build()
    for number in range(2):
        demo.add_record(site.root, replace(SMALL, runs=SMALL.runs + number))
        site.build()
    again = tmp_path / "again"
    again.mkdir()
    shutil.copyfile(site.out / FILE, again / FILE)
    shutil.rmtree(site.project.history_cache)
    site.build(again)
    assert site.files() == site.files(again)


def test_what_was_lost_of_a_site_is_made_again(site: Site) -> None:
    demo.write(site.root, SMALL)
    site.build()
    whole = site.files()
    newest = site.manifest["runs"][0]["id"]
    (site.out / "data" / "runs" / f"{newest}.js").unlink()
    (site.out / "data" / "manifest.js").write_text("cut of")
    site.build()
    assert site.files() == whole
    shutil.rmtree(site.out / "data")
    site.build()
    assert site.files() == whole


def test_other_thresholds_judge_every_record_again(site: Site) -> None:
    store.write_record(site.records, make_record([measured("node-ws", {"loss_ratio": 0.02})]))
    site.build()
    assert site.manifest["runs"][0]["outcome"] == "fail"
    site.project.thresholds.write_text(LIMITS.replace("1%", "5%"))
    site.build()
    assert site.manifest["runs"][0]["outcome"] == "pass"


def test_records_alone_make_a_history(site: Site) -> None:
    for number in range(3):
        record = make_record(
            [make_trial("node-ws")], id=f"20261121T10150{number}Z-000000", created=f"2026-11-21T10:15:0{number}+00:00"
        )
        store.write_record(site.records, record)
    site.build()
    [combination] = site.manifest["combinations"]
    assert combination["runs"] == 3
    series = site.data(f"{combination['id']}/recent/1000/cpu_seconds_per_delivery")
    assert series["servers"]["node-ws"]["values"] == [41e-6] * 3
    assert not site.store.exists()


def test_a_machine_apart_is_named_and_no_ranking_has_its_servers_beside_the_others(site: Site) -> None:
    others = Machine(name="bench-1", servers=["go", "node-ws"])
    alike = make_record([make_trial("go"), make_trial("node-ws")], machines=[others])
    said = "CPU per delivery of the control is 30 % higher there"
    alone = make_record(
        [make_trial("fastapi")],
        id="20261121T111500Z-1a2b3c",
        environment=set_apart(ENVIRONMENT, "bench-2"),
        machines=[Machine(name="bench-2", servers=["fastapi"], apart=said)],
    )
    for record in (alike, alone):
        store.write_record(site.records, record)
    site.build()
    first, last = site.manifest["combinations"]
    rows = [[row["server"] for row in site.data(f"{each['id']}/overview")["rows"]] for each in (first, last)]
    assert rows == [["go", "node-ws"], ["fastapi"]], "what is apart comes last, though it is newer"
    assert site.manifest["environments"][last["environment"]]["machine"] == "bench-2"
    assert site.data(f"runs/{alone.id}")["machines"][0]["apart"] == said
    assert site.data(f"runs/{alike.id}")["machines"] == [others.model_dump()]
    assert [mark["changed"] for mark in site.marks(first["id"])] == [[["apart on", "no machine", "bench-2"]]]


def test_a_comparison_is_a_run_and_no_point_of_a_series(site: Site) -> None:
    commit = make_record([]).commit
    assert commit
    trials = [make_trial("node-ws"), make_trial("node-ws", arm="base")]
    comparison = Comparison(base=commit, most_rounds=1, identical=[], one_sided=[])
    store.write_record(site.records, make_record(trials, comparison=comparison))
    site.build()
    assert site.manifest["combinations"] == []
    [run] = site.manifest["runs"]
    assert run["comparison"]
    assert site.data(f"runs/{run['id']}")["servers"][0]["base"][0]["metrics"]["loss_ratio"] == [0]


def test_sources_that_are_no_commit_are_told_as_that(site: Site) -> None:
    commit = make_record([]).commit
    assert commit
    dirty = commit.model_copy(update={"dirty": True})
    store.write_record(site.records, make_record([make_trial("node-ws")], commit=dirty))
    site.build()
    [combination] = site.manifest["combinations"]
    runs = site.data(f"{combination['id']}/recent/runs")
    assert (runs["commits"], runs["subjects"]) == ([""], ["not committed, after: Describe the load report"])


def test_runs_with_other_parameters_are_another_combination(site: Site) -> None:
    for number, size in enumerate((10, 20, 10)):
        created = f"2026-11-21T10:15:0{number}+00:00"
        parameters = {"board_size": size}
        record = make_record([make_trial("node-ws")], id=f"r{number}", created=created, parameters=parameters)
        history.append(site.store, record)
    site.build()
    found = {each["parameters"]["board_size"]: each["runs"] for each in site.manifest["combinations"]}
    assert found == {10: 2, 20: 1}


def test_a_new_release_touches_the_marks_and_no_series(site: Site) -> None:
    demo.write(site.root, SMALL)
    site.build()
    [newest, _] = site.manifest["combinations"]
    runs = site.data(f"{newest['id']}/recent/runs")
    release = Release(name="v2.0.0", commit="a" * 40, date=datetime.fromtimestamp(runs["times"][7], UTC).isoformat())
    assert set(site.build(None, release).written) == {
        "releases.json",
        f"data/{newest['id']}/marks.js",
        "data/manifest.js",
        "data/manifest.json",
    }
    [mark] = [each for each in site.marks(newest["id"]) if each.get("name") == "v2.0.0"]
    assert (mark["kind"], mark["at"], mark["exact"]) == ("release", 7, False)
    assert site.manifest["combinations"][0]["marks"] != newest["marks"]
    assert site.build().written == [], "it is remembered where no tag is seen"


def test_a_list_of_releases_that_cannot_be_read_stays_and_the_site_is_made(site: Site) -> None:
    demo.write(site.root, SMALL)
    (site.out / FILE).write_text('{"schema": 2}')
    seen = demo.make_releases(SMALL)[1]
    site.build(None, seen)
    assert (site.out / FILE).read_text() == '{"schema": 2}'
    assert [note for note in site.notes if "not a list of releases of schema 1" in note]
    marks = [mark for each in site.manifest["combinations"] for mark in site.marks(each["id"])]
    assert {mark["name"] for mark in marks if mark["kind"] == "release"} == {"v1.0.0"}


def test_each_environment_says_where_the_other_begins(site: Site) -> None:
    demo.write(site.root, replace(SMALL, older=20))
    site.build()
    new, old = (each["id"] for each in site.manifest["combinations"])
    for own, other, expected in (new, old, [(0, "before"), (6, "before")]), (old, new, [(7, "before"), (13, "after")]):
        found = [mark for mark in site.marks(own) if mark["kind"] == "environment"]
        assert [(mark["at"], mark["where"]) for mark in found] == expected
        assert {mark["combination"] for mark in found} == {other}
        assert all([each[0] for each in mark["changed"]] == ["CPU", "kernel", "method"] for mark in found)


def test_a_combination_has_one_method_and_its_overview_what_was_due_of_a_server_that_fell_short(site: Site) -> None:
    demo.write(site.root, SMALL)
    site.build()
    new, old = site.manifest["combinations"]
    assert (new["method"], old["method"]) == (2, 1)
    due = {row["server"]: row["due"] for row in site.data(f"{new['id']}/overview")["rows"]}
    assert due == {SERVERS[0]: None, SERVERS[1]: None, SERVERS[BEHIND]: 10_000.0}
    assert {row["due"] for row in site.data(f"{old['id']}/overview")["rows"]} == {None}
    methods = {row["environment"]: row["method"] for row in site.manifest["runs"]}
    assert methods == {new["environment"]: 2, old["environment"]: 1}
    metrics = site.manifest["suites"]["whiteboard"]["metrics"]
    assert metrics["throughput_per_second"]["method_1"].startswith("deliveries out and costs per")
    assert "method_1" not in metrics["loss_ratio"]


def test_another_harness_is_marked_by_what_the_history_says(site: Site) -> None:
    demo.write(site.root, replace(SMALL, records=10, servers=(*SERVERS[:2], "go")))
    site.build()
    [newest, _] = site.manifest["combinations"]
    runs = site.data(f"{newest['id']}/recent/runs")["ids"]
    found = {mark["kind"]: mark for mark in site.marks(newest["id"]) if mark["kind"] in ("harness", "versions")}
    assert found["harness"]["changed"] == [["k6", "v1.7.0", "v1.8.1"]]
    assert (found["versions"]["server"], found["versions"]["changed"]) == ("go", [["runtime", "go1.25.4", "go1.26.0"]])
    for kind, back in ("harness", NEW_K6), ("versions", NEW_GO):
        number = int(runs[found[kind]["at"]].rpartition("-")[2], 16)
        assert number == SMALL.older + SMALL.runs + back


def test_a_state_from_before_there_were_marks_is_made_anew(site: Site) -> None:
    demo.write(site.root, SMALL)
    site.build()
    whole, state = site.files(), site.out / "data" / "state.json"
    content = json.loads(state.read_text())
    del content["tools"], content["measured_with"]
    state.write_text(json.dumps(content))
    site.build()
    assert site.files() == whole


def test_an_invalid_run_is_a_gap_and_named(site: Site) -> None:
    good = make_record([make_trial("node-ws")], id="r1", created="2026-11-21T10:15:01+00:00")
    bad = make_record([invalid(make_trial("node-ws"))], id="r2", created="2026-11-21T10:15:02+00:00")
    for record in (good, bad):
        store.write_record(site.records, record)
    site.build()
    [combination] = site.manifest["combinations"]
    values = site.data(f"{combination['id']}/recent/1000/loss_ratio")["servers"]["node-ws"]["values"]
    assert values == [0, None]
    assert site.data(f"{combination['id']}/recent/runs")["invalid"] == {"node-ws": [1]}
    overview = site.data(f"{combination['id']}/overview")
    assert overview["invalid"] == [{"run": "r2", "created": bad.created, "servers": ["node-ws"]}]
    assert overview["rows"][0]["valid"] is False


def test_a_level_that_moved_is_an_event_with_its_commits(site: Site) -> None:
    for number in range(60):
        trial = measured("node-ws", {"cpu_seconds_per_delivery": (41e-6 if number < 40 else 50e-6) + number % 3 * 1e-7})
        record = make_record([trial], id=f"r{number:02}", created=f"2026-11-21T10:15:{number:02}+00:00")
        history.append(site.store, record)
    site.build()
    [combination] = site.manifest["combinations"]
    [event] = site.data(f"{combination['id']}/overview")["events"]
    assert (event["server"], event["word"], event["run"], event["stages"]) == ("node-ws", "worse", "r40", ["1000"])
    series = site.data(f"{combination['id']}/recent/1000/cpu_seconds_per_delivery")["servers"]["node-ws"]
    assert series["changes"] == [[40, pytest.approx(41.1e-6), pytest.approx(50.1e-6)]]
    assert [level[:2] for level in series["levels"]] == [[0, 40], [40, 60]]
    assert "node-ws: CPU per delivery worse by 21.9 %" in (site.out / "feed.xml").read_text()


def test_a_record_that_cannot_be_read_is_named_and_the_others_are_shown(site: Site) -> None:
    store.write_record(site.records, make_record([make_trial("node-ws")]))
    (site.records / "broken.json").write_text('{"schema": 1, "id"')
    (site.records / "newer.json").write_text('{"schema": 2}')
    assert site.build().runs == 1
    assert [note.split(": ")[0] for note in site.notes] == ["left out", "left out"]
    assert "schema 2" in site.notes[1]


def test_a_broken_file_of_the_history_is_an_error(site: Site) -> None:
    path = history.append(site.store, make_record([make_trial("node-ws")]))
    path.write_text(path.read_text()[:50])
    with pytest.raises(UserError, match=path.name):
        site.build()


def test_names_that_try_to_leave_the_folder_stay_in_it(site: Site) -> None:
    names = ("../../escaped", "..", *HOSTILE[:5])
    demo.write(site.root, replace(SMALL, servers=names, subjects=HOSTILE))
    around = set(site.root.rglob("*"))
    site.build()
    new = {path for path in site.root.rglob("*") if path.is_file() and path not in around}
    assert all(path.is_relative_to(site.out) or path.is_relative_to(site.project.cache) for path in new)
    assert set(site.data(f"{site.manifest['combinations'][0]['id']}/recent/1000/loss_ratio")["servers"]) == set(names)


def test_nothing_at_all_makes_a_site_that_says_so(site: Site) -> None:
    assert site.build().runs == 0
    assert (site.manifest["combinations"], site.manifest["runs"]) == ([], [])


def test_badges_have_the_verdict_and_the_latency(site: Site) -> None:
    store.write_record(site.records, make_record([measured("node-ws", {"loss_ratio": 0.02})]))
    site.build()
    assert "fail, delivery p95 2.10 ms" in (site.out / "badges" / "node-ws.svg").read_text()
    assert "pushbench: fail, delivery p95 2.10 ms" in (site.out / "badges" / "all.svg").read_text()


def test_a_run_ends_with_a_site_where_one_can_be_made(site: Site) -> None:
    thresholds = thresholds_of(site.project)
    assert write_local_site(site.project, thresholds, site.notes.append) is None
    assert site.notes == []
    site.project.pages.mkdir()
    assert write_local_site(site.project, thresholds, site.notes.append) is None
    [note] = site.notes
    assert note.startswith("no site: ")
    assert "the sources of the pages are missing" in note


def test_the_command_writes_data_without_the_pages(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write_record(site.records, make_record([make_trial("node-ws")]))
    monkeypatch.setenv("PUSHBENCH_ROOT", str(site.project.root))
    given = ["--records", str(site.records), "--store", str(site.store), "--out", str(site.out), "--no-pages"]
    monkeypatch.setattr("sys.argv", ["pushbench", "site", *given])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert site.manifest["all_runs"] == 1
    assert not (site.out / "index.html").exists()
