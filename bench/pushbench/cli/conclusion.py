"""What a run or a record amounts to, for the commands that end with it: table, report and exit code."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from pushbench.catalog import Server, read_catalog
from pushbench.cli.options import note, print_json
from pushbench.files import write_atomically
from pushbench.project import Project
from pushbench.record import Record
from pushbench.suites import Suite, read_suites
from pushbench.thresholds import NO_THRESHOLDS, Thresholds, read_thresholds


def thresholds_of(project: Project, file: Path | None = None) -> Thresholds:
    """Those in `file`, or in the checkout's thresholds.yml. Without that file nothing is asked, and nothing passes."""
    if file is None and not project.thresholds.exists():
        return NO_THRESHOLDS
    return thresholds_for(file or project.thresholds, read_suites(project.scenarios), read_catalog(project.servers))


def thresholds_for(file: Path, suites: Sequence[Suite], servers: Sequence[Server]) -> Thresholds:
    """Those in `file`, which may name these suites and servers."""
    return read_thresholds(
        file,
        suites={suite.id: suite.stages for suite in suites},
        servers={server.id: server.spec.suite for server in servers},
    )


def conclude(project: Project, record: Record, thresholds: Thresholds, *, as_json: bool) -> int:
    """Judge a run, write its report and the site, print it, and return the exit code of the verdict."""
    from pushbench import report
    from pushbench.site.local import write_local_site
    from pushbench.store import record_path
    from pushbench.verdict import judge

    verdict = judge(record, thresholds)
    path = project.out / "report.md"
    write_atomically(path, report.markdown(record, verdict).encode())
    if as_json:
        print_json(report.as_json(record, verdict))
    else:
        print(report.render_terminal(record, verdict, width=width(), color=color()), end="")
    site = write_local_site(project, thresholds, note)
    note(f"report {project.relative(path)}, record {project.relative(record_path(project.records, record.id))}")
    if site:
        note(f"site {project.relative(site)}")
    return verdict.exit_code()


def width() -> int:
    """Of the terminal; COLUMNS first, and 80 where there is none, as in a pipe."""
    return shutil.get_terminal_size((80, 24)).columns


def color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
