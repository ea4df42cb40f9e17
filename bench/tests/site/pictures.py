"""Pictures of every page: `python -m tests.site.pictures FOLDER`, or `make screenshots`. For people to look at."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from pushbench.foundation.project import Project
from tests.site.demo_setting import Demo
from tests.site.sites import SITES, write_site

YEARS = {"years": (Demo(runs=1_500),), **{name: SITES[name] for name in ("small", "suites", "hostile", "empty")}}

if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    pictures = asked.parse_args().folder.resolve()
    with tempfile.TemporaryDirectory() as sites:
        for name, about in YEARS.items():
            write_site(Path(sites) / name, *about)
            command = ["node", "test/screenshots.js", str(Path(sites) / name / "site"), str(pictures / name)]
            subprocess.run(command, check=True, cwd=Project.current().pages)
