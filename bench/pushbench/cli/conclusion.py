"""How commands conclude a run or a record: table, report and exit code."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import TextWrapper
from typing import Any, NoReturn

import typer

from pushbench.catalog.servers import Server, read_catalog
from pushbench.catalog.suites import Suite, read_suites
from pushbench.cli.options import note, print_json
from pushbench.foundation.errors import EXIT_FAIL, EXIT_PASS, EXIT_UNDECIDED, UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.project import Project
from pushbench.foundation.text import one_line
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.thresholds_reader import known_suites, read_own_thresholds, read_thresholds
from pushbench.records.record import Record

BY_SEVERITY = (EXIT_PASS, EXIT_UNDECIDED, EXIT_FAIL)


def thresholds_of(project: Project, file: Path | None = None) -> Thresholds:
    """Return the thresholds of the suites, and of `file` or the checkout's thresholds.yml.

    Raises UserError if `file` is missing.
    """
    if file is not None and not file.exists():
        raise UserError("no such file", where=str(file))
    servers = read_catalog(project.servers)
    return thresholds_for(file or project.thresholds, read_suites(project.scenarios), servers, beside=file is None)


def thresholds_for(
    file: Path, suites: Sequence[Suite], servers: Sequence[Server], *, beside: bool = False
) -> Thresholds:
    """Return the thresholds in `file`, which may name these suites and servers.

    With `beside`, add those in the files beside the descriptions of servers.
    """
    known = known_suites(suites)
    found = read_thresholds(file, suites=known, servers={server.id: server.spec.suite for server in servers})
    own: dict[Path, dict[str, str]] = {}
    for server in servers if beside else ():
        if server.thresholds_file.exists():
            own.setdefault(server.thresholds_file, {})[server.id] = server.spec.suite
    for path, suite_of in own.items():
        found = found.with_own(read_own_thresholds(path, suites=known, servers=suite_of))
    return found


@dataclass(frozen=True)
class Conclusion:
    """The result of a run: the exit code, and the document for programs."""

    code: int
    document: Any
    reasons: Sequence[str] = ()
    """why the outcome is not pass, each with its suite"""


def exit_with(found: Sequence[Conclusion], *, as_json: bool) -> NoReturn:
    """Exit with the worst exit code. Programs get one document, or a list if there are several suites.

    People get the reasons of several suites again: the tables of the last suite may have scrolled the first ones away.
    """
    if as_json:
        documents = [each.document for each in found]
        print_json(documents[0] if len(documents) == 1 else documents)
    elif len(found) > 1 and (reasons := [reason for each in found for reason in each.reasons]):
        wrap = TextWrapper(width(), initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        print("", f"Reasons, all {len(found)} suites", *(wrap.fill(one_line(reason)) for reason in reasons), sep="\n")
    raise typer.Exit(max((each.code for each in found), key=BY_SEVERITY.index))


def conclude(project: Project, record: Record, thresholds: Thresholds, *, as_json: bool) -> Conclusion:
    """Judge a run, write its report and the site, and print the result for people."""
    from pushbench.judging.verdict import judge
    from pushbench.profiling.explanation import read_explanations
    from pushbench.records.store import record_path
    from pushbench.reporting import report
    from pushbench.site.local import write_local_site

    verdict = judge(record, thresholds)
    explanations = read_explanations(project.explanations, record.id)
    path = project.out / "report.md"
    write_atomically(path, report.markdown(record, verdict, explanations).encode())
    if not as_json:
        shown = report.render_terminal(record, verdict, explanations=explanations, width=width(), color=color())
        print(shown, end="")
    site = write_local_site(project, thresholds, note)
    note(f"report {project.relative(path)}, record {project.relative(record_path(project.records, record.id))}")
    if site:
        note(f"site {project.relative(site)}")
    document = report.as_json(record, verdict) if as_json else None
    return Conclusion(verdict.exit_code(), document, [f"{record.suite}: {reason}" for reason in verdict.reasons])


def width() -> int:
    """Return the width of the terminal: COLUMNS if set, and 80 without a terminal, as in a pipe."""
    return shutil.get_terminal_size((80, 24)).columns


def color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
