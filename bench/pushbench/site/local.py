"""The site of a checkout's own runs, which a measurement writes at its end: it opens from the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Thresholds
from pushbench.site.building import build
from pushbench.site.inputs import Inputs
from pushbench.site.layout import Folder
from pushbench.site.pages import build_pages, install_pages
from pushbench.site.releases import read_tags


def write_local_site(project: Project, thresholds: Thresholds, note: Callable[[str], None]) -> Path | None:
    """Its page. None if it cannot be built, with a note of any error: the run itself is already saved."""
    if not project.pages.exists():
        return None
    try:
        pages = build_pages(project, note)
        inputs = Inputs(
            project,
            project.records,
            project.history,
            thresholds,
            released=read_tags(project.root),
            capacities=project.capacities,
        )
        build(inputs, project.site, note)
        install_pages(pages, Folder(project.site))
    except (UserError, OSError) as error:
        note(f"no site: {error}")
        return None
    return project.site / "index.html"
