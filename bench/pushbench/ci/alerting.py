"""The causes of alerts from a finished run of main, and the causes that are fixed. Pure.

Keys come from names, never from sentences. The text about a run comes from its verdict, escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pushbench.ci.causes import OF_SERVERS, Cause
from pushbench.ci.github_answers import FAILED, Job, Run
from pushbench.ci.result import Measured, Results, StepResult
from pushbench.foundation.text import one_line
from pushbench.judging.judged_capacity import JudgedCapacity
from pushbench.reporting.judged_capacities import sentence
from pushbench.reporting.markdown import escape

VERDICT_STEPS = ("Bench", "Verdict")
"""steps that fail when a verdict does: the verdict has the causes"""
MOST_SENTENCES = 10
LONGEST_SENTENCE = 300


@dataclass(frozen=True)
class Told:
    """The outcome of a run: causes with their sentences, and the checked things that are in order."""

    causes: Mapping[Cause, Sequence[str]]
    passed: frozenset[str]
    """measured servers that passed wherever they were judged, except those with a smaller profile for lack of time"""
    compared: frozenset[str]
    """those of them that were compared with another arm"""
    decided: frozenset[str]
    """suites with a valid, decided verdict"""
    carried: frozenset[str]
    """servers whose capacity has not decreased, according to a search of three starts"""
    steps_done: frozenset[tuple[str, str]]
    """jobs and steps that succeeded"""
    jobs_done: frozenset[str]
    commands_done: frozenset[str]
    usable: bool

    def mended(self, cause: Cause) -> bool:
        """Whether this run checked it again and found it in order."""
        if cause.kind in OF_SERVERS:
            return cause.subject in (self.compared if cause.kind == "change" else self.passed)
        match cause.kind:
            case "capacity":
                return cause.subject in self.carried
            case "invalid" | "undecided":
                return cause.subject in self.decided
            case "step":
                return cause.subject in self.commands_done
            case "job":
                return (cause.subject, cause.detail) in self.steps_done or cause.subject in self.jobs_done
            case "results" | "run":
                return self.usable
        return False


def read_run(run: Run, jobs: Sequence[Job], results: Results | None, problem: str) -> Told:
    measured = list(results.measured.values()) if results and not _gave_way(results) else []
    causes: dict[Cause, list[str]] = {}
    for cause, said in _causes(run, jobs, results, problem):
        causes.setdefault(cause, []).append(said)
    servers = [server for each in measured for server in each.verdict.servers]
    red = {server.server for server in servers if server.outcome != "pass"}
    seen = {server.server for server in servers if server.valid_trials}
    both = {change.server for each in measured for change in each.verdict.changes}
    reduced = set(results.result.plan.reduced) if results else set()
    whole = [each for each in measured if not reduced.issuperset(each.record.servers)]
    ended = [job for job in jobs if job.conclusion in ("success", "failure")]
    return Told(
        {cause: list(_lines(sentences)) for cause, sentences in causes.items()},
        passed=frozenset(_named(seen - red - reduced)),
        compared=frozenset(_named((seen & both) - red)),
        decided=frozenset(_named({each.verdict.suite for each in whole if each.verdict.outcome in ("pass", "fail")})),
        carried=frozenset(_named({each.server for each in _carrying(results) if each.outcome == "pass"})),
        steps_done=frozenset(
            (Cause.of("job", job.name).subject, Cause.of("job", job.name, step.name).detail)
            for job in ended
            for step in job.steps
            if step.conclusion == "success"
        ),
        jobs_done=frozenset(_named({job.name for job in jobs if job.conclusion == "success"})),
        commands_done=frozenset(
            _named({_command(each.step.arguments) for each in results.result.steps if _left_record(each)})
            if results and not _gave_way(results)
            else ()
        ),
        usable=results is not None,
    )


def before(run: Run, *, night: bool) -> list[str]:
    return [f"Newest run that shows it: [{'a night' if night else 'a push'}]({run.html_url})."]


AFTER = (
    "Pushbench updates this text after each red run of main, without a comment. "
    "It closes the issue after the first night that checks the same thing and finds no problem. "
    "What a night does not measure stays open. You need not close anything by hand.",
)


def closing(run: Run) -> str:
    return f"Solved: [this night]({run.html_url}) checked it again and found no problem."


def _causes(run: Run, jobs: Sequence[Job], results: Results | None, problem: str) -> Iterator[tuple[Cause, str]]:
    if run.conclusion in ("startup_failure", "stale", "timed_out"):
        yield Cause.of("run", "bench", run.conclusion), f"the run ended with {run.conclusion}"
    if problem:
        yield Cause.of("results", "artifact"), problem
    of_jobs = [found for job in jobs for found in _of_job(job)]
    yield from of_jobs
    if results is None:
        if not (problem or of_jobs or run.conclusion == "cancelled"):
            yield Cause.of("run", "bench", "no-results"), "the run left no results"
        return
    if _gave_way(results):
        return
    for each in results.result.steps:
        if not _left_record(each) and each.outcome in ("error", "unfinished"):
            yield Cause.of("step", _command(each.step.arguments)), each.said or f"it ended with {each.outcome}"
    for measured in results.measured.values():
        yield from _of_verdict(measured)
    for searched in results.searched.values():
        for server in searched.verdict.servers:
            if server.outcome == "fail":
                yield Cause.of("capacity", server.server), sentence(server, searched.verdict)


def _carrying(results: Results | None) -> Iterator[JudgedCapacity]:
    if results and not _gave_way(results):
        yield from (server for each in results.searched.values() for server in each.verdict.servers)


def _left_record(step: StepResult) -> bool:
    return step.measured is not None or step.searched is not None


def _gave_way(results: Results) -> bool:
    """Another run continues this one, and will have the whole verdict."""
    return results.result.outcome == "gave-way"


def _of_job(job: Job) -> Iterator[tuple[Cause, str]]:
    """The causes in a job. A job cancelled before its first step reached no machine: `watch` reports that."""
    steps = [step for step in job.failed_steps if step not in VERDICT_STEPS]
    for step in steps:
        yield Cause.of("job", job.name, step), f"the job {job.name} failed at: {step}"
    if job.conclusion in FAILED and not job.failed_steps:
        yield Cause.of("job", job.name, job.conclusion or ""), f"the job {job.name} ended with {job.conclusion}"
    if job.conclusion == "cancelled" and job.steps:
        yield (
            Cause.of("job", job.name, "cancelled"),
            f"the job {job.name} was cancelled, by a user or because its time was up",
        )


def _of_verdict(measured: Measured) -> Iterator[tuple[Cause, str]]:
    record, verdict = measured.record, measured.verdict
    for server in verdict.servers:
        if server.outcome == "fail":
            found = set(_of_server(measured, server.server))
            for cause in found or {Cause.of("failure", server.server)}:
                yield from ((cause, reason) for reason in server.reasons or ["it failed"])
    for skipped in record.skipped:
        yield Cause.of("build", skipped.server), skipped.reason
    if verdict.outcome == "invalid":
        yield from ((Cause.of("invalid", verdict.suite), reason) for reason in verdict.reasons or ["invalid"])
    if verdict.outcome == "inconclusive":
        yield from ((Cause.of("undecided", verdict.suite), reason) for reason in verdict.reasons or ["inconclusive"])


def _of_server(measured: Measured, server: str) -> Iterator[Cause]:
    record, verdict = measured.record, measured.verdict
    for limit in verdict.limits:
        if limit.server == server and limit.outcome == "fail":
            yield Cause.of("limit", server, limit.metric)
    for level in verdict.levels:
        if level.server == server and level.word == "worse":
            yield Cause.of("history", server, level.metric)
    for change in verdict.changes:
        if change.server == server and change.word == "worse":
            # A night compares a server with itself, which shows nothing about what a push compared.
            is_control = record.comparison and record.comparison.injected
            yield Cause.of("change" if is_control else "history", server, change.metric)
    for trial in record.trials:
        if trial.server == server and trial.failure:
            yield _of_failure(server, trial.failure.step)


def _of_failure(server: str, step: str) -> Cause:
    match step:
        case "build":
            return Cause.of("build", server)
        case "verify":
            return Cause.of("rule", server)
    return Cause.of("failure", server, step)


def _lines(sentences: Sequence[str]) -> Iterator[str]:
    distinct = list(dict.fromkeys(one_line(each, LONGEST_SENTENCE) for each in sentences))
    yield from (f"- {escape(each)}" for each in distinct[:MOST_SENTENCES])
    if len(distinct) > MOST_SENTENCES:
        yield f"- and {len(distinct) - MOST_SENTENCES} more"


def _named(names: set[str]) -> set[str]:
    """The names in the form that keys use."""
    return {Cause.of("failure", name).subject for name in names}


def _command(arguments: Sequence[str]) -> str:
    return arguments[0] if arguments else "pushbench"
