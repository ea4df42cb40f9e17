"""The subjects of the recorded exchanges with GitHub, and the call that creates a check run."""

from __future__ import annotations

from typing import Any

from pushbench.ci.github_answers import Annotation, Artifact
from tests.ci.recorded import Recorded

RUN = 30433642
SHA = "009b8a3a9ccbb128af87f9b1c0f4c62e8a304f6d"
MARK = "<!-- mark -->"
NEW = f"{MARK}\nnew"
ARTIFACT = Artifact(id=11, name="verdict", size_bytes=453, expired=False)


def worse(count: int) -> list[Annotation]:
    return [Annotation(path=f"servers/s{n:03d}/server.yml", message=f"server {n} got worse") for n in range(count)]


def check(recording: Recorded, count: int = 0, **changed: Any) -> str:
    given: dict[str, Any] = {
        "name": "Pushbench",
        "conclusion": "failure",
        "title": "Worse",
        "summary": "One server got worse.",
        "annotations": worse(count),
        "external_id": "42",
    }
    return recording.github.check_run(SHA, **{**given, **changed})
