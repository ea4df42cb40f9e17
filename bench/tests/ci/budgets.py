"""A checkout with suites of several lengths, and the known facts about its servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pushbench.catalog.servers import Server, read_catalog
from pushbench.catalog.suites import Suite, read_suites
from pushbench.ci.budget import Budget, Turn
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.thresholds_reader import read_thresholds
from tests.factories import STAGES, known_suite
from tests.support import make_project

SHORT = ("alpha", "beta", "delta", "gamma")
LONG = ("epsilon", "zeta")
FULL = """\
  full:
    stages: [10, 20]
    warmup_seconds: 10
    ramp_seconds: 5
    settle_seconds: 5
    steady_seconds: {steady}
    drain_seconds: 30
"""
HOUR = 3600.0


def checkout(folder: Path) -> Project:
    """Four servers of a suite that takes 10 minutes with the profile full, and two of one that takes 20 minutes."""
    project = make_project(folder, **dict.fromkeys((*SHORT, *LONG), ""))
    tiny = (project.scenarios / "tiny.yml").read_text()
    for suite, steady in (("tiny", 285), ("large", 585)):
        (project.scenarios / f"{suite}.yml").write_text(tiny + FULL.format(steady=steady))
    for server in LONG:
        file = project.servers / server / "server.yml"
        file.write_text(file.read_text().replace("suite: tiny", "suite: large"))
    return project


def catalog_of(project: Project) -> Sequence[Server]:
    return read_catalog(project.servers)


def suites_of(project: Project) -> Mapping[str, Suite]:
    return {suite.id: suite for suite in read_suites(project.scenarios)}


def budget_of(project: Project, hours: float | None, **turns: Turn) -> Budget:
    return Budget(None if hours is None else hours * HOUR, suites_of(project), turns)


def limits_of(catalog: Sequence[Server], folder: Path) -> Thresholds:
    """Limits that the servers of generated records keep."""
    file = folder / "limits.yml"
    limits = "limits: {loss_ratio: {max: 1%}, delivery_seconds.p95: {max: 500ms}}"
    file.write_text(f"version: 1\nsuites:\n  tiny: {{{limits}}}\n  large: {{{limits}}}\n")
    known = known_suite(*map(str, STAGES))
    servers = {server.id: server.spec.suite for server in catalog}
    return read_thresholds(file, suites={"tiny": known, "large": known}, servers=servers)
