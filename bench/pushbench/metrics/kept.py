"""What a history keeps of a capacity record. Pure."""

from __future__ import annotations

from pushbench.foundation.errors import UserError
from pushbench.foundation.text import one_line
from pushbench.metrics.carrying import CapacityResult, counted_starts, results_of
from pushbench.records.capacity import CapacityRecord, ServerCapacity
from pushbench.records.capacity_history import LONGEST_REASON, CapacityEntry, KeptCapacity, asked_of


def entry_of(record: CapacityRecord) -> CapacityEntry:
    """The record in a few hundred bytes for each server."""
    results = zip(record.servers, results_of(record), strict=True)
    return CapacityEntry(
        record=record.id,
        created=record.created,
        commit=record.commit.sha if record.commit else None,
        subject=record.commit.subject if record.commit else "",
        environment=record.environment.key,
        method=record.environment.method_number,
        suite=record.suite,
        searched=record.search.searched,
        asked=asked_of(record),
        servers={server.server: _kept(server, found) for server, found in results},
    )


def require_whole(record: CapacityRecord) -> None:
    """Raise UserError for a search that a history does not keep: of uncommitted sources, or interrupted."""
    if record.commit is None or record.commit.dirty:
        raise UserError(f"{record.id}: not added: its sources are no commit", hint="commit them and search again")
    if not record.servers:
        raise UserError(f"{record.id}: not added: nothing was searched")
    for server in record.servers:
        done = len(server.starts)
        if server.failure is None and done < record.wanted_starts:
            raise UserError(f"{record.id}: not added: {server.server} has {done} of {record.wanted_starts} starts")


def _kept(server: ServerCapacity, found: CapacityResult) -> KeptCapacity:
    counted, _ = counted_starts(server)
    return KeptCapacity(
        build=server.build,
        carried=found.carried,
        low=found.low,
        high=found.high,
        at_least=found.at_least,
        end=found.end,
        reason=one_line(found.reason, LONGEST_REASON),
        binds=found.binding.resource if found.binding else None,
        starts=[start.carried for start in counted],
        failure=one_line(found.failure, LONGEST_REASON) if found.failure else None,
    )
