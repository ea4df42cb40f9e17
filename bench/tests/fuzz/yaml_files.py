"""A `server.yml` of another repository, which `pushbench ci adopt` reads."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pushbench.catalog.servers import read_servers
from tests.fuzz.target import Target

PLAIN = b"""\
title: Example
link: https://example.org
language: JavaScript
suite: whiteboard
protocol: whiteboard-json
tier: baseline
process:
  toolchains: {node: ">=20"}
  build: [[npm, ci]]
  start: [node, src/main.js]
"""
ALIASES = (
    PLAIN
    + b"""\
env: &env {A: "1", B: "2026-11-22"}
variants:
  two: {env: &more {<<: *env, C: "3"}}
  three: {env: {<<: [*env, *more]}, title: !!str 3}
"""
)


def read(content: bytes) -> bool:
    with tempfile.TemporaryDirectory(prefix="pushbench-") as folder:
        (Path(folder) / "server.yml").write_bytes(content)
        read_servers(Path(folder))
    return False  # a server that can be read has passed nothing yet


TARGET = Target("a server.yml", [PLAIN, ALIASES], read)
