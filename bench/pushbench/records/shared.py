"""One record of a run whose servers several machines shared. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from pushbench.foundation.errors import UserError
from pushbench.records.record import Machine, PlannedTrial, Record

Planned = TypeVar("Planned", bound=PlannedTrial)
SAME = (
    *("commit", "harness", "suite", "words", "profile", "parameters", "schedule"),
    *("repeats_disturbed", "judges_times", "thresholds_digest", "comparison", "elsewhere"),
)
"""fields that parts of one run have in common, beside the key of the environment"""


def merge(records: Sequence[Record]) -> Record:
    """The record of all their trials, as if one machine had measured them. Its id is derived from their ids.

    Raises UserError for records that cannot be parts of one run.
    """
    first = min(records, key=lambda each: (each.created, each.id))
    if len(records) == 1:
        return first
    for each in records:
        if other := [name for name in SAME if getattr(each, name) != getattr(first, name)]:
            raise UserError(f"the records of several machines are of different runs: they differ in {', '.join(other)}")
        if each.environment.key != first.environment.key:
            raise UserError("the records of several machines are of different environments")
    if len({server for each in records for server in each.servers}) != sum(len(each.servers) for each in records):
        raise UserError("the records of several machines share a server, whose trials are never split")
    digest = hashlib.sha256(" ".join(sorted(each.id for each in records)).encode()).hexdigest()[:6]
    begins = [sum(len(before.plan) for before in records[:index]) for index in range(len(records))]
    return first.model_copy(
        update={
            "id": f"{first.id.partition('-')[0]}-{digest}",
            "skipped": [skipped for each in records for skipped in each.skipped],
            "machines": _by_name([machine for each in records for machine in each.machines]),
            "plan": [_moved(one, begin) for each, begin in zip(records, begins, strict=True) for one in each.plan],
            "trials": [_moved(one, begin) for each, begin in zip(records, begins, strict=True) for one in each.trials],
        }
    )


def _moved(trial: Planned, begin: int) -> Planned:
    return trial.model_copy(update={"order": trial.order + begin})


def _by_name(machines: Sequence[Machine]) -> list[Machine]:
    """One entry for each machine, which may have measured several parts, one after the other."""
    found: dict[str, Machine] = {}
    for each in machines:
        servers = [*(found[each.name].servers if each.name in found else ()), *each.servers]
        found[each.name] = each.model_copy(update={"servers": sorted(servers)})
    return list(found.values())
