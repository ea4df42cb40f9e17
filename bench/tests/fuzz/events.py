"""The event of a job: it becomes a plan or an error message."""

from __future__ import annotations

import json
import tempfile
from datetime import date
from functools import cache
from pathlib import Path

from pushbench.catalog.servers import Server, read_catalog
from pushbench.ci.event import read_event
from pushbench.ci.plan import Change, make_plan
from pushbench.ci.steps import Settings
from tests.ci.events import BASE, HEAD, REPOSITORY, pull_request, push
from tests.fuzz.target import Target
from tests.support import make_project

DISPATCH = {"inputs": {"servers": "alpha", "pull_request": "7", "head": HEAD, "rounds": "3", "base": ""}}
DAY = date(2026, 11, 21)


@cache
def _catalog() -> list[Server]:
    with tempfile.TemporaryDirectory() as folder:
        return read_catalog(make_project(Path(folder) / "checkout", alpha="", beta="").servers)


def _target(name: str, *payloads: object) -> Target:
    def read(content: bytes) -> bool:
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            event = read_event(
                {
                    "GITHUB_EVENT_NAME": name,
                    "GITHUB_EVENT_PATH": file.name,
                    "GITHUB_REPOSITORY": REPOSITORY,
                    "GITHUB_SHA": "d" * 40,
                }
            )
        compares = event.pull_request or event.inputs.pull_request or event.inputs.base
        change = Change(BASE, ["servers/alpha/a", "servers/beta/b"], frozenset({"alpha"})) if compares else None
        plan = make_plan(event, _catalog(), change, Settings(), DAY)
        for step in plan.steps:
            assert not any(argument.startswith("-") for argument in step.servers)
            assert all("\n" not in argument for argument in step.arguments)
        return False

    return Target(f"event {name}", [json.dumps(payload).encode() for payload in payloads], read)


TARGETS = [
    _target("push", push()),
    _target("pull_request", pull_request(), pull_request(fork=True)),
    _target("workflow_dispatch", DISPATCH, {"inputs": None}, {"inputs": {"servers": "*", "profile": "quick"}}),
]
