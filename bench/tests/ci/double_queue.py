"""Further runs of bench.yml, whose jobs may wait for the machine."""

from __future__ import annotations

from typing import Any

from tests.ci.github_double import job, run

OWN_LABELS = ["self-hosted", "pushbench"]


def queued(name: str = "bench", status: str = "queued", labels: list[str] | None = None) -> dict[str, Any]:
    """A job as the API lists it before it has ended."""
    return {**job(name), "status": status, "conclusion": None, "labels": OWN_LABELS if labels is None else labels}


def other(number: int, *jobs: dict[str, Any], **changed: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Another run of bench.yml and its jobs; by default, they are completed on a hosted machine."""
    ended = {"status": "completed", "labels": ["ubuntu-24.04"]}
    listed = [{**ended, **each} for each in jobs or (queued(),)]
    return run(id=number, conclusion=None, **{"status": "queued", **changed}), listed
