"""Helpers for several tests: a checkout in a temporary folder, with fake servers and a suite that lasts a second."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

from pushbench.catalog.servers import Server, read_servers
from pushbench.foundation.project import Project

FAKES = Path(__file__).parent / "fakes"

SUITE = """\
title: Tiny
description: Nothing is really played.
protocols: [tiny-json]
parameters: {board_size: 10, behaviour: normal}
words:
  work: {name: delivery, plural: Deliveries}
  exchanges:
    message:
      plural: Messages
      latencies:
        echo: {title: Echo, until: own}
        delivery: {title: Delivery, until: each}
        fanout: {title: Fan-out, until: last}
  headline: delivery_seconds.p95
profiles:
  smoke: &short
    stages: [20]
    warmup_seconds: 0
    ramp_seconds: 0
    settle_seconds: 0.1
    steady_seconds: 0.5
    drain_seconds: 1
    repeats_disturbed: false
  quick:
    <<: *short
    stages: [10, 20]
    repeats_disturbed: true
"""

SERVER = """\
title: Fake {id}
link: https://example.org
language: Python
suite: tiny
protocol: tiny-json
tier: baseline
process:
  toolchains: {{python: ">=3.11"}}
  build: [[python, -c, "import os; os.makedirs('target', exist_ok=True); open('target/built', 'a').write('once ')"]]
  start: [{python}, {program}]
env: {{FAKE_ID: {id}, FAKE: "{behaviour}"}}
"""

THRESHOLDS = """\
version: 1
suites:
  tiny:
    limits:
      loss_ratio: {max: 1%}
"""


def make_project(root: Path, **servers: str) -> Project:
    """A checkout whose servers are named by the keywords and misbehave as the values say; see fakes/server.py."""
    project = Project.at(root)
    project.scenarios.mkdir(parents=True)
    (project.scenarios / "tiny.yml").write_text(SUITE)
    (project.scenarios / "tiny.js").write_text("// the fake generator reads no scenario\n")
    project.thresholds.write_text(THRESHOLDS)
    for name, behaviour in servers.items():
        add_server(project, name, behaviour)
    return project


def add_server(project: Project, name: str, behaviour: str = "") -> Server:
    folder = project.servers / name
    folder.mkdir(parents=True)
    program = FAKES / "server.py"
    (folder / ".gitignore").write_text("target/\n")
    (folder / "server.yml").write_text(
        SERVER.format(id=name, behaviour=behaviour, python=sys.executable, program=program)
    )
    return read_servers(folder)[0]


def fake_generator(folder: Path) -> Path:
    """A program that replaces k6."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "k6"
    bench = FAKES.parents[1]
    path.write_text(f'#!/bin/sh\nPYTHONPATH={bench} exec {sys.executable} {FAKES / "k6.py"} "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
