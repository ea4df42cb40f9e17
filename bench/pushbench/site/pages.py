"""The pages themselves: built once from the same sources of `report-site/`, then copied beside the data."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from pushbench.building import toolchains
from pushbench.building.builds import last_line, run_step
from pushbench.building.sources import digest_files, source_files
from pushbench.building.toolchains import Toolset
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import locked, tail
from pushbench.foundation.project import Project
from pushbench.site.layout import Folder

NODE = ">=20.19"
"""required by Vite 8"""
_NO_SOURCES = {"test", "README.md"}

Note = Callable[[str], None]


def build_pages(project: Project, note: Note) -> Path:
    """The folder of the pages. Raises UserError if Node.js is missing or the build fails."""
    sources = project.pages
    files = [path for path in source_files(sources) if path.parts[0] not in _NO_SOURCES]
    if not files:
        raise UserError("the sources of the pages are missing", where=str(sources))
    built = project.cache / "pages" / digest_files(sources, files)[:16]
    with locked(project.cache / "pages" / ".lock", lambda: note("pages: waiting for another build to finish")):
        if not (built / "index.html").exists():
            _build(project, built, note)
    return built


def install_pages(built: Path, folder: Folder) -> None:
    for path in sorted(built.rglob("*")):
        if path.is_file():
            folder.write(path.relative_to(built).as_posix(), path.read_bytes())


def _build(project: Project, built: Path, note: Note) -> None:
    tools = toolchains.choose({"node": NODE, "npm": ">=9"})
    if not isinstance(tools, Toolset):
        raise UserError(f"building the pages {tools[0]}")
    note("pages: building (npm ci, vite build)")
    began = time.monotonic()
    aside = built.with_name(f"{built.name}.{os.getpid()}")
    log = project.logs / "build-pages.log"
    log.unlink(missing_ok=True)
    steps = [
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        ["node", "node_modules/vite/bin/vite.js", "build", "--outDir", str(aside), "--emptyOutDir"],
    ]
    for argv in steps:
        if run_step(tools, argv, project.pages, log) != 0:
            hint = f"the whole output is in {project.relative(log)}"
            raise UserError(f"the pages do not build: {last_line(tail(log))}", where=str(project.pages), hint=hint)
    for other in built.parent.glob("*"):
        if other.is_dir() and other != aside:
            shutil.rmtree(other, ignore_errors=True)
    aside.replace(built)
    note(f"pages: built in {time.monotonic() - began:.0f} s")
