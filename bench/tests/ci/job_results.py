"""Plans and results of a bench job, and the archive that transfers them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from pushbench.ci.plan import Plan
from pushbench.ci.result import Outcome, Result, StepResult
from pushbench.ci.steps import Step
from tests.ci.events import HEAD

STEP = Step(kind="run", arguments=["run"], servers=["node-ws"], why="somebody asked for it")


def make_plan(*steps: Step, **changed: Any) -> Plan:
    values: dict[str, Any] = {
        "event": "push",
        "sha": HEAD,
        "base": None,
        "pull_request": None,
        "untrusted": False,
        "driver": "auto",
        "steps": list(steps),
        "images": [],
        "notes": [],
    }
    return Plan(**(values | changed))


def make_result(*outcomes: Outcome, measured: int | None = None, **changed: Any) -> Result:
    steps = [StepResult(step=STEP, outcome=each, seconds=1.0, said="", measured=measured) for each in outcomes]
    return Result(plan=make_plan(*(STEP for _ in outcomes), **changed), steps=steps)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.json")}


def zipped(content: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", compression) as opened:
        for name, data in content.items():
            opened.writestr(name, data)
    return archive.getvalue()
