"""Screenshots of every page for visual review: `python -m tests.site.pictures FOLDER`, or `make screenshots`.

Also generates the pictures in docs/pictures: the README's from the records beside them, and the answers to the five
questions from an invented history.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

from pushbench.foundation.project import Project
from tests.site.demo_setting import Demo
from tests.site.sites import SITES, make_site, write_site

YEARS = {"years": (Demo(runs=1_500),), **{name: SITES[name] for name in ("small", "suites", "hostile", "empty")}}


def draw(script: str, site: Path, folder: Path, *what: str) -> None:
    command = ["node", f"test/{script}.js", str(site), str(folder), *what]
    subprocess.run(command, check=True, cwd=Project.current().pages)


def write_measured_site(folder: Path, kept: Path) -> None:
    """Write `folder/site` from the compressed records in `kept`, whose folders are those of `out/`."""
    for compressed in sorted(kept.glob("*/*.json.gz")):
        record = folder / compressed.parent.name / compressed.with_suffix("").name
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_bytes(gzip.decompress(compressed.read_bytes()))
        add = ["history", "--add", str(record), "--store", str(folder / "history")]
        subprocess.run([sys.executable, "-m", "pushbench", *add], check=True, cwd=Path(__file__).parents[2])
    make_site(folder)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    pictures = asked.parse_args().folder.resolve()
    with tempfile.TemporaryDirectory() as sites:
        for name, about in YEARS.items():
            write_site(Path(sites) / name, *about)
            draw("screenshots", Path(sites) / name / "site", pictures / name)
        shown = Project.current().root / "docs" / "pictures"
        write_measured_site(Path(sites) / "measured", shown)
        draw("first-screen", Path(sites) / "measured" / "site", shown, "site", "light", "dark")
        draw("first-screen", Path(sites) / "small" / "site", shown, "answers", "light", "phone")
