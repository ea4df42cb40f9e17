"""A record and a history from before suites had words can always be read, and the site shows them.

`tests/golden/before-suites` was written by the last commit without words (the parent of ba15c6b), for two servers in
two rounds. It is never rewritten.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pushbench.judging.verdict import judge
from pushbench.records import history, store
from pushbench.records.record import Record
from pushbench.reporting import report
from tests.factories import make_thresholds
from tests.site.checkouts import Site

OLD = Path(__file__).parents[1] / "golden" / "before-suites"
ID = "20261121T101500Z-1a2b3c"
ENTRY = Path("0123456789ab", "whiteboard", "quick", f"{ID}.json")


@pytest.fixture
def record() -> Record:
    return store.read_record(OLD / f"{ID}.json")


def test_the_entry_of_the_record_is_the_one_that_was_written_then(record: Record, tmp_path: Path) -> None:
    shutil.copytree(OLD / "history", tmp_path, dirs_exist_ok=True)
    assert history.append(tmp_path, record) == tmp_path / ENTRY, "another one would be refused: entries never change"
    assert (tmp_path / ENTRY).read_bytes() == (OLD / "history" / ENTRY).read_bytes()


def test_it_is_judged_and_told_in_the_words_of_its_time(record: Record, tmp_path: Path) -> None:
    verdict = judge(record, make_thresholds(tmp_path))
    assert {each.server: each.outcome for each in verdict.servers} == {"node-ws": "pass", "fastapi": "pass"}
    text = report.markdown(record, verdict)
    for title in ("Deliveries out", "Delivery p95", "Echo p95", "Fan-out p99", "CPU / 1,000 deliveries"):
        assert title in text


def test_the_site_shows_the_numbers_of_both(record: Record, tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.records.mkdir()
    shutil.copy(OLD / f"{ID}.json", site.records)
    shutil.copytree(OLD / "history", site.store)
    site.build()
    [combination] = site.manifest["combinations"]
    kept = json.loads((OLD / "history" / ENTRY).read_text())["servers"]["node-ws"]["stages"]["1000"]
    stage = kept["delivery_seconds.p95"]
    files = {name: content.decode() for name, content in site.files().items() if name.endswith(".js")}
    own = [name for name, content in files.items() if ID in name and f"{stage:.5g}" in content]
    assert own, "the file of the run has its numbers"
    assert combination["suite"] == "whiteboard"
    assert "delivery_seconds.p95" in combination["metrics"]
