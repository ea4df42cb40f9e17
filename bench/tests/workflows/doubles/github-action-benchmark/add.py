"""What the action writes, in the format of its version 1.22."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

PREFIX = "window.BENCHMARK_DATA = "
benches = json.loads(Path(os.environ["POINTS"]).read_text())
assert benches, "the action fails where there is nothing to add"
for bench in benches:
    assert {"name", "unit", "value"} <= bench.keys(), bench
    assert isinstance(bench["value"], float | int), bench

with tempfile.TemporaryDirectory() as folder:
    origin = os.environ["DOUBLES"] + "/origin.git"
    subprocess.run(["git", "clone", "--quiet", "--branch", "gh-pages", origin, folder], check=True)
    page = Path(folder) / "dev" / "bench"
    page.mkdir(parents=True, exist_ok=True)
    file = page / "data.js"
    data = json.loads(file.read_text().removeprefix(PREFIX)) if file.exists() else {"entries": {}}
    points = data["entries"].setdefault(os.environ["NAME"], [])
    points.append({"commit": {"id": os.environ["COMMIT"]}, "tool": os.environ["TOOL"], "benches": benches})
    del points[: -int(os.environ["MOST"])]
    file.write_text(PREFIX + json.dumps(data, indent=2))
    (page / "index.html").write_text("<!doctype html><title>Benchmarks</title><script src=data.js></script>\n")
    for command in (["add", "--all"], ["commit", "--quiet", "-m", "Add points"], ["push", "--quiet"]):
        author = ["-c", "user.name=double", "-c", "user.email=double@localhost"]
        subprocess.run(["git", *author, *command], cwd=folder, check=True)
