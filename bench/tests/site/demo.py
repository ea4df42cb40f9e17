"""Years of invented history, the same for the same seed: for tests, and to view the site with a long history.

`python -m tests.site.demo FOLDER` writes `FOLDER/history` and `FOLDER/records`, which `pushbench site` reads. It also
writes the releases into `FOLDER/site`, as if an earlier site had kept them.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from pushbench.records import history, store
from pushbench.site import releases
from pushbench.site.releases import Release
from tests.site.demo_entries import make_entry, make_levels
from tests.site.demo_records import make_record
from tests.site.demo_setting import HOSTILE, SERVERS, SUBJECTS, Demo, moment_of, sha_of
from tests.site.demo_suites import told_entry, told_record


def write(folder: Path, demo: Demo) -> None:
    levels = make_levels(demo)
    total = demo.older + demo.runs
    for number in range(total):
        entry = make_entry(demo, levels[number], number)
        if number >= total - demo.records or number == demo.older - 1:
            made = make_record(demo, entry, number, variant=total - number, old=number <= total - demo.records)
            record = told_record(made, demo.suite)
            store.write_record(folder / "records", record)
            if record.comparison is None:
                history.append(folder / "history", record)
        else:
            told = told_entry(entry, demo.suite)
            path = folder / "history" / told["environment"] / demo.suite / "full" / f"{told['record']}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(told, separators=(",", ":")))
    (folder / "site").mkdir(parents=True, exist_ok=True)
    (folder / "site" / releases.FILE).write_bytes(releases.as_json(make_releases(demo)))


def make_releases(demo: Demo) -> list[Release]:
    """Releases, sometimes three in a row: the first one is a measured commit, the others were made an hour after a run.
    One release is older than all runs, and one is newer."""
    total = demo.older + demo.runs
    found = [Release(name="v0.9.0", commit="e" * 40, date=moment_of(-9).isoformat())]
    for minor, number in enumerate(range(5, total - 3, max(8, min(60, total // 8)))):
        found.append(Release(name=f"v1.{minor}.0", commit=sha_of(demo, number), date=moment_of(number).isoformat()))
        for patch in (1, 2) if minor % 3 == 2 else ():
            date = moment_of(number + patch) + timedelta(hours=1)
            found.append(
                Release(name=f"v1.{minor}.{patch}", commit=f"{minor}{patch}".rjust(40, "e"), date=date.isoformat())
            )
    return [*found, Release(name="v9.0.0", commit="f" * 40, date=moment_of(total + 9).isoformat())]


def add_record(folder: Path, demo: Demo) -> None:
    """Add one more record after those of `write`."""
    number = demo.older + demo.runs
    levels = make_levels(replace(demo, runs=demo.runs + 1))
    record = told_record(make_record(demo, make_entry(demo, levels[number], number), number, variant=9), demo.suite)
    store.write_record(folder / "records", record)
    history.append(folder / "history", record)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--runs", type=int, default=Demo.runs)
    asked.add_argument("--hostile", action="store_true", help="names and texts that try to be program")
    given = asked.parse_args()
    names = (*SERVERS[:4], *HOSTILE[:5]) if given.hostile else SERVERS
    write(given.folder, Demo(runs=given.runs, servers=names, subjects=HOSTILE if given.hostile else SUBJECTS))
