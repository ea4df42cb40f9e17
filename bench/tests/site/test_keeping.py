"""A published site keeps the newest full records, and of all other runs only the data for trends."""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote

import pytest

from pushbench.ci import branch, publishing
from pushbench.ci.result import Measured
from pushbench.cli.conclusion import thresholds_of
from pushbench.judging.verdict import judge
from pushbench.records import history, store
from pushbench.records.record import Comparison, Record
from pushbench.site import keeping
from pushbench.site.building import build
from pushbench.site.inputs import Inputs
from pushbench.site.layout import Folder
from tests.factories import ENVIRONMENT, make_record, make_trial
from tests.site.checkouts import Site, read

pytestmark = pytest.mark.slow
FULL, QUICK = ("machine", "whiteboard", "full"), ("machine", "whiteboard", "quick")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def run(number: int, profile: str = "full") -> Record:
    created = f"2026-11-21T10:15:{number:02}+00:00"
    return make_record([make_trial("node-ws"), make_trial("fastapi")], id=f"r{number:02}", created=created).model_copy(
        update={"profile": profile}
    )


class Published:
    """A published branch, as `pushbench ci publish` changes a checkout of it."""

    def __init__(self, site: Site, root: Path, keep: int) -> None:
        self.site, self.keep, self.root = site, keep, root
        self.thresholds = thresholds_of(site.project)

    def publish(self, record: Record) -> None:
        publishing.add(self.root, Measured(record, judge(record, self.thresholds)))
        records, entries = self.root / publishing.RECORDS, self.root / publishing.HISTORY
        inputs = Inputs(self.site.project, records, entries, self.thresholds, keep=self.keep)
        build(inputs, self.root, self.site.notes.append)

    def files(self) -> dict[str, bytes]:
        return self.site.files(self.root)

    def records(self) -> list[str]:
        return sorted(path.name for path in (self.root / "records").iterdir())


def test_the_newest_are_kept_and_the_newest_of_each_series() -> None:
    runs = {"r1": FULL, "r2": QUICK, "r3": FULL, "r4": FULL, "r5": FULL}
    assert keeping.outdated(runs, None) == set()
    assert keeping.outdated(runs, 2) == {"r1", "r3"}
    assert keeping.outdated(runs, 5) == keeping.outdated(runs, 9) == keeping.outdated({}, 1) == set()


def test_in_whatever_order_runs_are_published_the_same_files_are_left(site: Site) -> None:
    runs = [run(0, "quick"), run(1), run(2), run(3)]
    found = []
    for number, order in enumerate([runs, runs[::-1], [runs[2], runs[0], runs[3], runs[1]]]):
        published = Published(site, site.root / f"branch-{number}", keep=2)
        for each in order:
            published.publish(each)
        found.append(published.files())
        shutil.rmtree(published.root)
    assert all(each == found[0] for each in found)
    assert sorted(path for path in found[0] if path.startswith("records/")) == [
        "records/r00.json.gz",
        "records/r02.json.gz",
        "records/r03.json.gz",
    ]


def test_a_run_without_its_record_has_its_page_its_medians_and_its_place_in_the_trends(site: Site) -> None:
    published = Published(site, site.root / "branch", keep=1)
    for number in range(3):
        published.publish(run(number))
    assert published.records() == ["r02.json.gz"]
    files = published.files()
    assert not any(path.startswith("data/runs/r00/") for path in files)
    page = read(files["data/runs/r00.js"].decode())
    assert (page["run"]["whole"], page["servers"][1]["server"], "record" in page) == (False, "node-ws", False)
    [stage] = [each for each in page["servers"][1]["stages"] if each["name"] == "1000"]
    entry = history.read_entry(published.root / "history" / ENVIRONMENT.key / "whiteboard" / "full" / "r00.json")
    medians = {name: value for name, value in zip(page["metrics"], stage["values"], strict=True) if value is not None}
    assert medians == entry.servers["node-ws"].stages["1000"]
    manifest = read(files["data/manifest.js"].decode())
    assert (manifest["keep"], manifest["all_runs"], manifest["combinations"][0]["runs"]) == (1, 3, 3)
    assert [row["whole"] for row in manifest["runs"]] == [True, False, False]
    assert list(manifest["environments"]) == [ENVIRONMENT.key]
    assert site.notes == ["full records left out, older than the newest 1: 1"] * 2


def test_what_was_left_out_stays_so_when_it_is_published_again_or_everything_is_derived_anew(site: Site) -> None:
    published = Published(site, site.root / "branch", keep=2)
    for number in range(4):
        published.publish(run(number))
    files = published.files()
    published.publish(run(1))
    assert published.files() == files
    shutil.rmtree(published.root / "data")
    published.publish(run(3))
    assert published.files() == files


def test_every_run_that_names_its_record_has_it(site: Site) -> None:
    published = Published(site, site.root / "branch", keep=2)
    for number in range(4):
        published.publish(run(number))
    pages = [read(path.read_text()) for path in (published.root / "data" / "runs").glob("*.js")]
    named = {page["run"]["id"]: unquote(page["record"]) for page in pages if page["run"]["whole"]}
    assert named == {"r02": "records/r02.json.gz", "r03": "records/r03.json.gz"}
    assert store.read_record(published.root / named["r03"]) == run(3)


def test_a_record_of_an_older_site_keeps_its_address(site: Site) -> None:
    published = Published(site, site.root / "branch", keep=2)
    store.write_record(published.root / "records", run(0))
    published.publish(run(0))
    assert published.records() == ["r00.json"]
    assert read(published.files()["data/runs/r00.js"].decode())["record"] == "records/r00.json"
    published.publish(run(1))
    published.publish(run(2))
    assert published.records() == ["r01.json.gz", "r02.json.gz"]


def test_what_only_its_record_knows_is_never_left_out(site: Site) -> None:
    commit = run(0).commit
    assert commit
    comparison = Comparison(base=commit, most_rounds=1, identical=[], one_sided=[])
    dirty = commit.model_copy(update={"dirty": True})
    store.write_record(site.records, run(0).model_copy(update={"comparison": comparison}))
    store.write_record(site.records, run(1).model_copy(update={"commit": dirty}))
    for number in range(2, 5):
        history.append(site.store, run(number))
        store.write_record(site.records, run(number))
    site.build(keep=1)
    assert set(store.record_files(site.out / "records")) == {"r00", "r01", "r04"}
    assert set(store.record_files(site.records)) == {"r00", "r01", "r02", "r03", "r04"}


def test_all_are_there_again_once_all_may_be_kept(site: Site) -> None:
    for number in range(3):
        history.append(site.store, run(number))
        store.write_record(site.records, run(number))
    site.build()
    whole = site.files()
    site.build(keep=1)
    assert site.files() != whole
    site.build()
    assert site.files() == whole


def test_a_site_that_is_nearly_too_large_is_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.build()
    assert site.notes == []
    (site.out / ".git").mkdir()
    (site.out / ".git" / "pack").write_bytes(bytes(1000))
    size = Folder(site.out).bytes()
    assert size == sum(len(content) for name, content in site.files().items() if not name.startswith(".git/"))
    monkeypatch.setattr(keeping, "ALLOWED_BYTES", size / keeping.NEARLY)
    site.build()
    [note] = site.notes
    assert "of the 1 GB that GitHub Pages allows" in note


def test_publishers_at_once_leave_what_one_after_the_other_leaves(site: Site, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    runs = [run(number) for number in range(6)]

    def publish(record: Record) -> None:
        branch.Branch(str(remote), "gh-pages").append(
            lambda folder: Published(site, folder, keep=2).publish(record), "Add"
        )

    with ThreadPoolExecutor(len(runs)) as pool:
        list(pool.map(publish, runs))
    alone = Published(site, site.root / "alone", keep=2)
    for each in runs:
        alone.publish(each)
    (tmp_path / "seen").mkdir()
    assert branch.Branch(str(remote), "gh-pages").fetch(tmp_path / "seen")
    seen = site.files(tmp_path / "seen")
    assert {name: content for name, content in seen.items() if not name.startswith(".git/")} == alone.files()
    assert alone.records() == ["r04.json.gz", "r05.json.gz"]
