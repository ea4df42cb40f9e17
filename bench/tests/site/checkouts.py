"""Checkouts with records and a history, for building a site."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pushbench.cli.conclusion import thresholds_of
from pushbench.foundation.project import Project
from pushbench.site.building import Built, build
from pushbench.site.inputs import Inputs
from pushbench.site.releases import Release
from tests.factories import WORDS

LIMITS = "version: 1\nsuites:\n  whiteboard:\n    limits: {loss_ratio: {max: 1%}}\n    regressions: {}\n"
MARGIN = "cpu_seconds_per_delivery: {margin: 5%}"
PROFILE = "{stages: [1000], warmup_seconds: 0, ramp_seconds: 0, settle_seconds: 0, steady_seconds: 1, drain_seconds: 1}"


class Site:
    """A checkout with records and a history, and the site of it."""

    def __init__(self, root: Path) -> None:
        self.root, self.out = root, root / "site"
        self.records, self.store = root / "records", root / "history"
        self.project = Project.at(root / "checkout")
        self.project.scenarios.mkdir(parents=True)
        (self.project.scenarios / "whiteboard.yml").write_text(
            f"title: W\ndescription: W\nprotocols: [p]\nparameters: {{}}\n"
            f"words: {WORDS}\nprofiles: {{full: {PROFILE}}}\n"
        )
        self.project.thresholds.write_text(LIMITS.replace("{}", f"{{{MARGIN}}}"))
        self.notes: list[str] = []

    def build(self, out: Path | None = None, *released: Release, keep: int | None = None) -> Built:
        thresholds = thresholds_of(self.project)
        given = (self.project, self.records, self.store, thresholds, "https://example.org/r", keep, released)
        inputs = Inputs(*given, capacities=self.root / "capacity")
        return build(inputs, out or self.out, self.notes.append)

    def marks(self, combination: str) -> list[dict[str, Any]]:
        return list(self.data(f"{combination}/marks")["marks"])

    def data(self, name: str) -> dict[str, Any]:
        return read((self.out / "data" / f"{name}.js").read_text())

    @property
    def manifest(self) -> dict[str, Any]:
        return self.data("manifest")

    def files(self, out: Path | None = None) -> dict[str, bytes]:
        root = out or self.out
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def read(text: str) -> dict[str, Any]:
    found = re.fullmatch(r"pushbenchData\('[^']*','(.*)'\)\n", text, re.DOTALL)
    assert found, text[:80]
    content = json.loads(re.sub(r"\\([\\'])", r"\1", found[1]))
    assert isinstance(content, dict)
    return content
