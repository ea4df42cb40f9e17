"""The files of the stack that shows a run, and the services of it that this machine can start."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pushbench.foundation.yamlfile import read_yaml

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "compose"
STACK = COMPOSE / "stack.yml"
DASHBOARDS = sorted((COMPOSE / "grafana" / "dashboards").glob("*.json"))


def read_dashboard(path: Path) -> Any:
    return json.loads(path.read_text())


SERVICES: dict[str, dict[str, Any]] = read_yaml(STACK).data["services"]
PROVISIONING = COMPOSE / "grafana" / "provisioning"
DATASOURCE = read_yaml(PROVISIONING / "datasources" / "victoria-metrics.yml").data["datasources"][0]


def pinned_image(service: str) -> tuple[str, str, str]:
    """The variable that overrides the image, its name:tag, and its digest."""
    found = re.fullmatch(r"\$\{(\w+):-([\w./-]+:[\w.-]+)@(sha256:[0-9a-f]{64})\}", SERVICES[service]["image"])
    assert found, SERVICES[service]["image"]
    variable, tag, digest = found.groups()
    return variable, tag, digest


NO_VICTORIA = (
    f"needs VictoriaMetrics: pull {pinned_image('victoria-metrics')[1]} into a container engine, name another image in "
    "VICTORIA_METRICS_IMAGE, or install the program (on Debian: apt install victoria-metrics)"
)


def own_program() -> str | None:
    return next(
        (found for name in ("victoria-metrics", "victoria-metrics-prod") if (found := shutil.which(name))), None
    )


def image_here(service: str) -> Mapping[str, str] | None:
    """The variable that makes compose use an image of this machine: the one that it already names, or a pinned one."""
    variable, tag, digest = pinned_image(service)
    for image in filter(None, (os.environ.get(variable), f"{tag}@{digest}", tag)):
        try:
            if subprocess.run(["docker", "image", "inspect", image], capture_output=True, check=False).returncode == 0:
                return {variable: image}
        except FileNotFoundError:
            return None
    return None


def compose(project: str, environment: Mapping[str, str], *arguments: str) -> None:
    command = ["docker", "compose", "--file", str(STACK), "--project-name", project, *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


RUN = COMPOSE / "grafana" / "dashboards" / "run.json"


def panels(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_dashboard(path)["panels"]
    return found


def expressions(path: Path) -> list[str]:
    dashboard = read_dashboard(path)
    marks = [mark["target"]["expr"] for mark in dashboard["annotations"]["list"]]
    return [*marks, *(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])]


def every(node: Any, key: str) -> Iterator[Any]:
    """The values of `key` at any depth."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == key:
                yield value
            yield from every(value, key)
    elif isinstance(node, list):
        for value in node:
            yield from every(value, key)


def panel_of(path: Path, title: str) -> dict[str, Any]:
    [found] = [panel for panel in panels(path) if panel["title"] == title]
    return found
