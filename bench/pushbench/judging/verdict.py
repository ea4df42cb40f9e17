"""From a record and thresholds to a verdict: the judged rows, the outcome, and the reasons in sentences.

Pure: the same documents give the same verdict, on any day and in any order of trials. Limits are judged on valid trials
of the arm `head`; if there is a base, the changes against it are judged, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from pydantic import Field, NonNegativeInt

from pushbench.foundation.errors import EXIT_FAIL, EXIT_PASS, EXIT_UNDECIDED
from pushbench.foundation.model import Document
from pushbench.judging import accepting, sentences
from pushbench.judging.asking import asks, can_ask, unknown_to_method, was_killed
from pushbench.judging.breaking import is_shared
from pushbench.judging.changes import value_of, value_without_lateness
from pushbench.judging.judged import JudgedRow, JudgedWord
from pushbench.judging.judged_changes import JudgedChange, covers, judge_changes, left_out
from pushbench.judging.judged_history import JudgedLevel, judge_levels
from pushbench.judging.thresholds import Bound, Limit, Thresholds
from pushbench.metrics import lateness
from pushbench.metrics.definitions import metrics_of
from pushbench.records import sittings
from pushbench.records.record import OneSided, PlannedTrial, Record, StagePlan, Trial
from pushbench.records.runs import Past
from pushbench.statistics.trend import SHORTEST_LEVEL

Outcome = Literal["pass", "fail", "inconclusive", "invalid"]


class JudgedLimit(JudgedRow):
    """One limit of one server in one stage."""

    bound: Bound
    value: float | None = Field(
        description="worst value of the valid trials; null if one of them did not measure the metric"
    )
    round: int | None = Field(description="round of the trial with that value; null without a value")
    outcome: Literal["pass", "fail", "unknown", "invalid"] = Field(
        description="invalid: whether the limit is kept may depend on the generator's own lateness"
    )
    reason: str | None = Field(description="why thresholds.yml has a limit for this server alone; null if it has none")
    shared: bool = Field(
        default=False,
        description="whether the base also breaks the limit in most of the same rounds, so that the comparison does "
        "not fail",
    )


class ServerVerdict(Document):
    """The outcome of one server's trials."""

    server: str
    outcome: Outcome
    valid_trials: NonNegativeInt
    trials: NonNegativeInt
    reasons: list[str] = Field(description="why the outcome is not `pass`; empty if it is")


class Verdict(Document):
    """The outcome of a run."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    record: str = Field(description="id of the judged record")
    suite: str
    profile: str
    thresholds_digest: str = Field(description="digest of the thresholds.yml that was applied")
    outcome: Outcome
    reasons: list[str] = Field(description="why the outcome is not `pass`; empty if it is")
    notes: list[str] = Field(description="remarks for readers that do not change the outcome")
    servers: list[ServerVerdict] = Field(description="outcomes, sorted by the ids of the servers")
    limits: list[JudgedLimit]
    changes: list[JudgedChange] = Field(description="changes against the base; empty for a run of one arm")
    levels: list[JudgedLevel] = Field(description="changes against the history; empty if the history was not requested")

    def exit_code(self, *, allow_inconclusive: bool = False) -> int:
        """0 pass, 1 fail, 3 inconclusive or invalid. Inconclusive may be allowed; invalid never, because nothing was
        measured.
        """
        if self.outcome == "pass" or (self.outcome == "inconclusive" and allow_inconclusive):
            return EXIT_PASS
        return EXIT_FAIL if self.outcome == "fail" else EXIT_UNDECIDED


def judge(record: Record, thresholds: Thresholds, past: Past | None = None) -> Verdict:
    """The verdict on a record, and against its `past` if one is given. The day of the run decides whether a line of
    thresholds.yml has expired.
    """
    day = datetime.fromisoformat(record.created).date()
    changes = judge_changes(record, thresholds)
    levels = judge_levels(record, thresholds, past) if past else []
    judged = []
    for server in record.servers:
        own = _Rows(
            [change for change in changes if change.server == server],
            [level for level in levels if level.server == server],
            _no_past(past, thresholds, record.suite) if past else "",
            past_required=past is None or past.required,
        )
        judged.append(_judge_server(record, thresholds, server, day, own))
    servers = sorted([*(each.verdict for each in judged), *_unmeasured_servers(record)], key=lambda each: each.server)
    outcome, reasons = _run(record, servers)
    return Verdict(
        record=record.id,
        suite=record.suite,
        profile=record.profile,
        thresholds_digest=thresholds.digest,
        outcome=outcome,
        reasons=reasons,
        notes=[
            *_acceptance_notes(record, changes, day),
            *(sentences.without_compilers(each, *out) for each in changes if (out := left_out(record, each))),
            *_run_notes(record, thresholds),
            *(note for each in judged for note in each.notes),
        ],
        servers=servers,
        limits=[limit for each in judged for limit in each.limits],
        changes=changes,
        levels=levels,
    )


def _no_past(past: Past, thresholds: Thresholds, suite: str) -> str:
    return past.missing or ("" if thresholds.suite(suite).regressions else f"thresholds.yml has no margin for {suite}")


@dataclass(frozen=True)
class _Rows:
    """The rows of a server against its base and its history."""

    changes: Sequence[JudgedChange]
    levels: Sequence[JudgedLevel]
    no_past: str
    """why there are no levels, if they were requested"""
    past_required: bool

    @property
    def worse(self) -> list[str]:
        return self._sentences("worse")

    @property
    def better(self) -> list[str]:
        return self._sentences("better")

    @property
    def invalid(self) -> list[str]:
        return self._sentences("invalid")

    @property
    def accepted(self) -> list[str]:
        found = [sentences.accepted(change) for change in self.changes if change.word == "accepted"]
        return found + [sentences.level(level) for level in self.levels if level.word == "accepted"]

    def _sentences(self, word: JudgedWord) -> list[str]:
        found = [sentences.change(change) for change in self.changes if change.word == word]
        return found + [sentences.level(level) for level in self.levels if level.word == word]

    def undecided(self) -> Iterator[str]:
        yield from (sentences.undecided(change) for change in self.changes if change.word == "unknown")
        for level in self.levels:
            if level.word == "unknown" and (level.suspected or (level.value is None and level.level is not None)):
                yield sentences.level(level)

    def unjudged(self, server: str) -> Iterator[str]:
        """The rows that the history cannot judge."""
        unknown = [level for level in self.levels if level.word == "unknown" and not level.suspected]
        if short := [level for level in unknown if level.level is None]:
            yield sentences.few_runs(server, short, SHORTEST_LEVEL)
        if wide := [level for level in unknown if level.level is not None and level.value is not None]:
            yield sentences.cannot_tell(server, wide)
        if self.no_past:
            yield sentences.no_past(server, self.no_past)


@dataclass(frozen=True)
class _Judged:
    verdict: ServerVerdict
    limits: list[JudgedLimit]
    notes: list[str]


def _judge_server(record: Record, thresholds: Thresholds, server: str, day: date, rows: _Rows) -> _Judged:
    own = (trial for trial in record.trials if trial.server == server and trial.arm == "head")
    trials = sorted(own, key=lambda trial: trial.round)
    valid = [trial for trial in trials if trial.validity.valid]
    bases = sorted((trial for trial in record.trials if trial.arm == "base"), key=lambda trial: trial.round)
    valid_bases = [trial for trial in bases if trial.server == server and trial.validity.valid]
    asked = [
        (index, stage, limit)
        for index, stage in enumerate(record.schedule.stages)
        for limit in thresholds.limits(record.suite, server, stage.name, day)
        if asks(record, limit.of) and was_killed(trials, index, limit.of)
    ]
    judged = [(_judge_limit(valid, server, *each), each[-1]) for each in asked] if valid else []
    limits = [_beside_base(record, thresholds, *each) for each in judged if _counts(record, *each)]
    expired = thresholds.expired(record.suite, server, day)
    expired_sentences = [sentences.expired(server, old) for old in expired]
    outcome: Outcome
    failures = _failures([trial for trial in trials if trial.validity.valid or trial.died])  # a busy machine kills none
    several = len(valid) > 1
    if broken := [*failures, *_breaches(limits, several=several), *rows.worse]:
        outcome, reasons = "fail", broken
    elif trials and not valid:
        outcome, reasons = "invalid", [sentences.none_valid(server, trials)]
    elif rows.changes and not valid_bases:
        outcome, reasons = "invalid", [sentences.no_pair(server)]
    else:
        doubtful = [*_doubtful(limits, several=several), *rows.invalid]
        reasons = [*doubtful, *_missing_trials(record, server), *_unmeasured(limits)]
        reasons += [*rows.undecided(), *expired_sentences]
        reasons += rows.unjudged(server) if rows.past_required else []
        if not (asked or expired or rows.changes or rows.levels or rows.no_past):
            reasons.append(f"{server}: thresholds.yml has no limit for it in {record.suite}")
        outcome = "invalid" if doubtful else "inconclusive" if reasons else "pass"
    notes = [
        *rows.accepted,
        *rows.better,
        *_failures(valid_bases),
        *(sentences.shared(each) for each in _breaches(limits, several=several, shared=True)),
        *([] if rows.past_required else rows.unjudged(server)),
    ]
    notes += [each for each in expired_sentences if each not in reasons]
    if 0 < len(valid) < len(trials):
        notes.append(sentences.some_invalid(server, len(valid), len(trials)))
    verdict = ServerVerdict(
        server=server, outcome=outcome, valid_trials=len(valid), trials=len(trials), reasons=reasons
    )
    return _Judged(verdict, limits, notes)


def _judge_limit(trials: Sequence[Trial], server: str, index: int, stage: StagePlan, limit: Limit) -> JudgedLimit:
    """One limit against every valid trial: a breach fails; otherwise a trial that the generator's lateness decides is
    invalid; otherwise a missing value leaves it unknown.
    """
    by_round = {trial.round: trial for trial in trials}
    found = {round_: value_of(trial, index, limit.metric) for round_, trial in by_round.items()}
    values = {round_: value for round_, value in found.items() if value is not None}
    without = {each: value_without_lateness(by_round[each], index, limit.of) or 0.0 for each in values}
    kept = {each: {limit.bound.allows(values[each]), limit.bound.allows(without[each])} for each in values}
    outcome: Literal["pass", "fail", "unknown", "invalid"]
    if known := [each for each, both in kept.items() if both == {False}]:
        outcome = "fail"
    elif known := [each for each, both in kept.items() if both == {True, False}]:
        outcome = "invalid"
    else:
        known = list(kept) if len(kept) == len(trials) else []
        outcome = "pass" if known else "unknown"
    worst, round_ = limit.bound.worst((values[each], each) for each in known) if known else (None, None)
    late = value_of(by_round[round_], index, limit.of.lateness or "") if round_ is not None else None
    return JudgedLimit(
        server=server,
        metric=limit.metric,
        title=limit.of.title,
        unit=limit.of.unit,
        stage=index,
        name=stage.name,
        clients=stage.clients,
        detail=lateness.sentence(limit.metric, late) if outcome == "invalid" else None,
        bound=limit.bound,
        value=worst,
        round=round_,
        outcome=outcome,
        reason=limit.reason,
    )


def _counts(record: Record, found: JudgedLimit, limit: Limit) -> bool:
    """Whether a limit applies to a record. Connect times of method 1 omit refused attempts: a limit that they break is
    broken, but a limit that they keep is not proven.
    """
    return found.outcome == "fail" or can_ask(record, found.stage, limit.of)


def _beside_base(record: Record, thresholds: Thresholds, found: JudgedLimit, limit: Limit) -> JudgedLimit:
    shared = found.outcome == "fail" and is_shared(record, thresholds, found.server, found.stage, limit)
    return found.model_copy(update={"shared": shared})


def _failures(trials: Sequence[Trial]) -> list[str]:
    return [sentences.failure(trial) for trial in trials if trial.failure]


def _breaches(limits: Sequence[JudgedLimit], *, several: bool, shared: bool = False) -> list[str]:
    return [
        _breach(each, each.value, several)
        for each in limits
        if each.outcome == "fail" and each.value is not None and each.shared == shared
    ]


def _doubtful(limits: Sequence[JudgedLimit], *, several: bool) -> list[str]:
    return [
        sentences.doubtful(_breach(each, each.value, several), each.detail)
        for each in limits
        if each.outcome == "invalid" and each.value is not None and each.detail
    ]


def _breach(limit: JudgedLimit, value: float, several: bool) -> str:
    round_ = limit.round if several else None
    return sentences.breach(limit, value=value, bound=limit.bound, round_=round_)


def _unmeasured(limits: Sequence[JudgedLimit]) -> Iterator[str]:
    unknown = [limit for limit in limits if limit.outcome == "unknown"]
    for metric in dict.fromkeys(limit.metric for limit in unknown):
        yield sentences.unmeasured([limit for limit in unknown if limit.metric == metric])


def _missing_trials(record: Record, server: str) -> Iterator[str]:
    def key(trial: PlannedTrial | Trial) -> tuple[str, str, int]:
        return trial.server, trial.arm, trial.round

    done = {key(trial) for trial in record.trials}
    for planned in record.plan:
        if planned.server == server and key(planned) not in done:
            yield sentences.missing(planned)


def _unmeasured_servers(record: Record) -> Iterator[ServerVerdict]:
    """The servers of a comparison that needed no measurement, and those that could not be compared."""
    if record.comparison:
        for server in record.comparison.identical:
            yield ServerVerdict(server=server, outcome="pass", valid_trials=0, trials=0, reasons=[])
        broken: dict[str, list[OneSided]] = {}
        for each in record.comparison.one_sided:
            broken.setdefault(each.server, []).append(each)
        for server, found in broken.items():
            # A head that breaks what works at the base got worse, by more than any number shows.
            outcome: Outcome = "fail" if [each.failed for each in found] == ["head"] else "inconclusive"
            reasons = [sentences.one_sided(each) for each in found]
            yield ServerVerdict(server=server, outcome=outcome, valid_trials=0, trials=0, reasons=reasons)


def _run(record: Record, servers: Sequence[ServerVerdict]) -> tuple[Outcome, list[str]]:
    """The run's outcome: the worst of its servers, with the reasons of all; a run that measured nothing is invalid."""
    reasons = [reason for server in servers for reason in server.reasons]
    failed = any(server.outcome == "fail" for server in servers)
    if not record.trials and not failed and not (record.comparison and record.comparison.identical):
        return "invalid", ["the run has no trial", *reasons]
    outcomes: Sequence[Outcome] = ("fail", "invalid", "inconclusive")
    return next((worst for worst in outcomes if any(each.outcome == worst for each in servers)), "pass"), reasons


def _acceptance_notes(record: Record, changes: Sequence[JudgedChange], day: date) -> Iterator[str]:
    """The new lines of thresholds.yml that accept nothing, and why."""
    if not record.comparison:
        return
    broken = {each.server for each in record.comparison.one_sided}
    metrics = metrics_of(record.words)
    for line in record.comparison.accepting:
        match accepting.state(line, day):
            case "unconfirmed":
                yield sentences.not_confirmed(line, metrics, record.commit.sha if record.commit else "SHA")
            case "expired":
                yield sentences.acceptance_expired(line, metrics)
            case "early":
                yield sentences.too_early(line, metrics)
            case "holds":
                words = {change.word for change in changes if covers(line, change)}
                if line.server not in broken and not words & {"worse", "accepted", "unknown"}:
                    yield sentences.not_needed(line, metrics, measured=bool(words))


def _run_notes(record: Record, thresholds: Thresholds) -> Iterator[str]:
    if pauses := sittings.note(record):
        yield pauses
    for machine in record.machines:
        if machine.apart:
            yield sentences.apart(machine)
    for skipped in record.skipped:
        yield sentences.skipped(skipped)
    for server in record.comparison.identical if record.comparison else ():
        yield sentences.identical(server)
    if record.thresholds_digest not in (None, thresholds.digest):
        yield "thresholds.yml is not the one of the run: judged by what it says now"
    if not record.judges_times and any(limit.of.is_time for limit in thresholds.suite(record.suite).limits):
        yield sentences.times_not_asked(record.profile)
    if record.environment.remote:
        yield sentences.NOT_METERED
    if not_asked := unknown_to_method(record, thresholds):
        yield sentences.older_method(record.environment.method_number, not_asked)
