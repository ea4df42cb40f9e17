"""Whether a verdict belongs to its record: references between two untrusted documents. Pure.

Reports follow these references without checks; a document that passes can be rendered.
"""

from __future__ import annotations

from collections.abc import Iterator

from pushbench.judging.judged import JudgedRow
from pushbench.judging.judged_capacity import CapacityVerdict
from pushbench.judging.verdict import Outcome, Verdict
from pushbench.metrics.definitions import metrics_of
from pushbench.metrics.kept import entry_of
from pushbench.records.capacity import CapacityRecord
from pushbench.records.record import Record

MOST_CLIENTS = 10_000_000
WORST_FIRST: tuple[Outcome, ...] = ("fail", "invalid", "inconclusive", "pass")


class UnknownMetric(Exception):
    """The name of a metric that this version does not have."""


def disagreement(record: Record, verdict: Verdict) -> str:
    """The first contradiction, as a sentence; empty if there is none. Raises UnknownMetric."""
    return next(_disagreements(record, verdict), "")


def capacity_disagreement(record: CapacityRecord, verdict: CapacityVerdict) -> str:
    """The same for a search and its verdict. The record's results are derived again."""
    own = entry_of(record)
    if (verdict.record, verdict.suite, verdict.environment, verdict.searched) != (
        own.record,
        own.suite,
        own.environment,
        own.searched,
    ):
        return "it belongs to another search"
    if {each.server: each.now for each in verdict.servers} != own.servers or len(verdict.servers) != len(own.servers):
        return "it has other servers or numbers"
    worst = {each.outcome for each in verdict.servers} | {"fail" for each in verdict.servers if each.word == "worse"}
    return "a server fails, but the verdict does not" if "fail" in worst and verdict.outcome != "fail" else ""


def _disagreements(record: Record, verdict: Verdict) -> Iterator[str]:
    yield from _of_record(record)
    if (verdict.suite, verdict.profile) != (record.suite, record.profile):
        yield "it belongs to another suite or profile"
    yield from _of_servers(record, verdict)
    rows: list[JudgedRow] = [*verdict.limits, *verdict.changes, *verdict.levels]
    for row in rows:
        yield from _of_row(record, row)
    if verdict.changes and not record.comparison:
        yield "it has changes, but the record is not a comparison"


def _of_record(record: Record) -> Iterator[str]:
    stages = record.schedule.stages
    counts = [stage.clients for stage in stages] + [stage.clients for trial in record.trials for stage in trial.stages]
    if any(not 0 <= count <= MOST_CLIENTS for count in counts):
        yield "a stage has an impossible number of clients"
    for trial in record.trials:
        if len(trial.stages) > len(stages):
            yield f"a trial has {len(trial.stages)} stages, and the schedule has {len(stages)}"
        for finding in (*trial.validity.reasons, *trial.validity.warnings, *trial.repeated):
            if finding.stage is not None and not 0 <= finding.stage < len(stages):
                yield f"a finding names the stage {finding.stage}, which does not exist"


def _of_servers(record: Record, verdict: Verdict) -> Iterator[str]:
    compared = record.comparison
    others = [*compared.identical, *(each.server for each in compared.one_sided)] if compared else []
    judged = [each.server for each in verdict.servers]
    for server in sorted(set(judged) - {*record.servers, *others}):
        yield f"it judges {server[:100]!r}, which is not in the record"
    for server in sorted(set(record.servers) - set(judged)):
        yield f"it does not judge {server[:100]!r}"
    worst = next((each for each in WORST_FIRST if any(each == one.outcome for one in verdict.servers)), "pass")
    if WORST_FIRST.index(verdict.outcome) > WORST_FIRST.index(worst):
        yield f"its outcome is {verdict.outcome}, but the worst of its servers is {worst}"


def _of_row(record: Record, row: JudgedRow) -> Iterator[str]:
    if row.metric not in metrics_of(record.words):
        raise UnknownMetric(row.metric)
    if row.server not in record.servers:
        yield f"a row names {row.server[:100]!r}, which is not in the record"
    if row.stage >= len(record.schedule.stages):
        yield f"a row names the stage {row.stage}, which does not exist"
        return
    stage = record.schedule.stages[row.stage]
    if (row.name, row.clients) != (stage.name, stage.clients):
        yield f"a row describes the stage {row.stage} differently"
