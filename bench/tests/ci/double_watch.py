"""Routes of the double: workflows and their states, and the runners, which a job's token may not list."""

from __future__ import annotations

import re
from typing import Any

from tests.ci.github_double import Answer, Double, route


def workflow(file: str, state: str = "active") -> dict[str, Any]:
    return {"id": sum(file.encode()), "path": f".github/workflows/{file}", "state": state}


def machine(status: str = "online", *labels: str) -> dict[str, Any]:
    names = labels or ("self-hosted", "pushbench")
    return {"id": 1, "name": "pushbench", "status": status, "labels": [{"name": name} for name in names]}


@route(r"GET /actions/workflows", "actions: read")
def _workflows(double: Double, *_: object) -> Answer:
    return 200, {"total_count": len(double.workflows), "workflows": double.workflows}


@route(r"PUT /actions/workflows/(\d+)/enable", "actions: write")
def _enable(double: Double, found: re.Match[str], *_: object) -> Answer:
    [one] = [each for each in double.workflows if each["id"] == int(found[1])]
    one["state"] = "active"
    one["enabled"] = one.get("enabled", 0) + 1
    return 204, b""


@route(r"GET /actions/runners", "administration: read")
def _machines(double: Double, *_: object) -> Answer:
    return 200, {"total_count": len(double.machines), "runners": double.machines}
