"""The rules for every server, whatever its suite: they need only HTTP."""

from __future__ import annotations

import json
from typing import Protocol

from pushbench.conformance import http
from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.target import Target


class Visitor(Protocol):
    """The clients of any suite."""

    server: str
    target: Target


@rule("GET /healthz answers 200 with JSON that names the server, its runtime and its framework.")
async def healthz_names_the_versions(visitor: Visitor) -> None:
    answer = await http.get(visitor.target.url, "/healthz")
    if answer.status != 200:
        raise Mismatch("status 200", f"status {answer.status}")
    try:
        health = json.loads(answer.body)
    except ValueError:
        raise Mismatch("a JSON body", escaped(answer.body)) from None
    if not isinstance(health, dict):
        raise Mismatch("a JSON object", escaped(answer.body))
    for key in ("server", "runtime", "framework"):
        if not isinstance(health.get(key), str) or not health[key].strip():
            raise Mismatch(f'a non-empty string "{key}"', escaped(answer.body))
    if health["server"] != visitor.server:
        raise Mismatch(f'"server": "{visitor.server}"', escaped(health["server"]))


@rule("GET of an unknown path answers 404; of a malformed one, any 4xx.")
async def unknown_paths_are_refused(visitor: Visitor) -> None:
    for path, expected in (("/nothing-here", range(404, 405)), ("/%", range(400, 500)), ("/%00", range(400, 500))):
        answer = await http.get(visitor.target.url, path)
        if answer.status not in expected:
            raise Mismatch(f"status {'404' if len(expected) == 1 else '4xx'} for {path}", answer.status)
