"""The check and the comment for a finished, trusted run. Pure.

GitHub's own description of the jobs takes precedence; an artifact can only make the result worse, never better.
`drafting_states` covers all other cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pushbench.ci.github_answers import Annotation, Conclusion, Job, Run
from pushbench.ci.github_statuses import State
from pushbench.ci.headlines import headline, listed, not_working
from pushbench.ci.intending import NOT_KNOWN, PLAIN, Promises, with_intended
from pushbench.ci.plan import LONGEST_NOTE, Plan
from pushbench.ci.result import Outcome, Results, StepResult
from pushbench.ci.steps import Step
from pushbench.foundation.text import one_line
from pushbench.judging.judged_capacity import CapacityVerdict
from pushbench.judging.verdict import Verdict
from pushbench.reporting.comment import MARK, Link, Message, Part, comment
from pushbench.reporting.judged_capacities import sentence
from pushbench.reporting.markdown import inline
from pushbench.reporting.summary import summarize

CONCLUSIONS: dict[Outcome, Conclusion] = {
    "pass": "success",
    "fail": "failure",
    "error": "failure",
    "unfinished": "failure",
    "gave-way": "action_required",
    "invalid": "action_required",
    "inconclusive": "action_required",
}
"""only pass permits the merge of a branch that requires the check"""
STATES: dict[Conclusion, State] = {
    "success": "success",
    "failure": "failure",
    "action_required": "failure",
    "cancelled": "error",
    "timed_out": "error",
    "neutral": "error",
    "skipped": "error",
}
"""of the commit status; on GitHub, a required check also passes with neutral and skipped, which no draft has"""
CAUSES = {
    "Build and push": "an image could not be built",
    "Build": "an image could not be built",
    "Build the images": "an image could not be built",
    "Fetch the images": "an image could not be fetched by the benchmark machine",
    "Fetch what strangers built": "the images of the pull request could not be fetched",
    "Fetch the commit that is measured": "the commit could not be fetched",
    "Plan": "the measurement could not be planned",
}
"""the meaning of a step's failure"""
VERDICT_STEPS = ("Bench", "Verdict")
"""steps whose failure is a verdict, which the results contain"""
MOST_ANNOTATIONS = 100
MOST_BLAMED = 3


@dataclass(frozen=True)
class Draft:
    title: str
    """of the check run: one line; also the description of the commit status"""
    comment: str
    conclusion: Conclusion | None
    """None while it is in progress"""
    annotations: Sequence[Annotation] = ()
    waits: bool = False
    """it is not green because a person has to act, though nothing is wrong"""
    told: bool = True
    """whether the pull request gets the comment"""
    counts: bool = True
    """whether it is or becomes a verdict; otherwise every other run of the commit may replace it"""

    @property
    def summary(self) -> str:
        """The summary of the check run."""
        return self.comment.removeprefix(f"{MARK}\n")

    @property
    def state(self) -> State:
        """The state of the commit status, which always agrees with the check run."""
        return "pending" if self.conclusion is None or self.waits else STATES[self.conclusion]


def draft(
    run: Run,
    jobs: Sequence[Job],
    results: Results | None,
    problem: str = "",
    *,
    site: str = "",
    notices: Sequence[str] = (),
    errors: Mapping[str, Sequence[str]] = MappingProxyType({}),
    promises: Promises = NOT_KNOWN,
) -> Draft:
    """`results` are None if there are none or they are unreadable, as `problem` then says. `notices` are further
    sentences that change nothing, `errors` the messages of failed jobs by name, `promises` the default branch's
    thresholds.yml files.
    """
    outcome = results.result.outcome if results else "error"
    sentences = problems(run, jobs)
    cause = next(_causes(jobs), "")
    sentences += [
        f"The job `{job.name}` reports: {said}" for job in jobs_to_blame(jobs) for said in errors.get(job.name, ())
    ]
    if problem:
        sentences.append(f"The results of the run cannot be used: {problem}")
        cause = cause or "the results cannot be used"
        outcome = "error"
    if sentences and outcome in ("pass", "gave-way"):
        outcome = "error"
    if run.conclusion != "success" and outcome == "pass":
        sentences.append(f"The run ended with {_spaced(run.conclusion)}.")
        outcome = "error"
    if not sentences and outcome == "error" and not results:
        sentences.append("The run ended and left no results, so nothing is known about this commit.")
        cause = "the run left no results"
    told = message(results, promises) if results else Message(outcome, ())
    verdicts = [part.summary.verdict for part in told.parts]
    advice, commands = _advice(run, outcome, of_fork=results is not None and results.result.plan.untrusted)
    if outcome == "fail":
        advice = [*_to_verify(verdicts), *advice]
    if run.conclusion == "cancelled":
        told = replace(told, headline="cancelled, nothing was decided")
    elif outcome != told.outcome or cause or not told.headline:
        told = replace(told, headline=headline(outcome, verdicts, cause, _apart(results)))
    told = replace(
        told,
        outcome=outcome,
        sentences=[*sentences, *told.sentences, *notices],
        links=[*links_of(run, site), *_logs(jobs)],
        advice=[*told.advice, *advice],
        commands=[*told.commands, *commands],
    )
    return Draft(
        title=one_line(told.headline, 200),
        comment=comment(told),
        annotations=list(_annotations(verdicts))[:MOST_ANNOTATIONS],
        conclusion="cancelled" if run.conclusion == "cancelled" else CONCLUSIONS[outcome],
        counts=run.conclusion != "cancelled" and not (results and _is_partial(results, outcome)),
    )


def _is_partial(results: Results, outcome: Outcome) -> bool:
    """Whether the only problem is something left out, which other runs of the commit may have measured."""
    return outcome == "inconclusive" and bool(results.result.plan.left_out)


def message(results: Results, promises: Promises = NOT_KNOWN) -> Message:
    """The message of a job about its results. `promises` has the default branch's files."""
    result = results.result
    parts = [
        with_intended(
            Part(each.record, summarize(each.record, each.verdict), explanations=each.explanations),
            result.plan,
            promises,
        )
        for each in results.measured.values()
    ]
    found = [each.verdict for each in results.searched.values()]
    steps = [
        *_of_steps(result.steps),
        *(_sentence(sentence(server, verdict)) for verdict in found for server in verdict.servers),
        *(_sentence(note) for note in result.plan.notes),
    ]
    first = headline(result.outcome, [part.summary.verdict for part in parts], _less(found), _apart(results))
    return Message(result.outcome, parts, steps, about=_about(result.plan, parts), headline=first)


def _apart(results: Results | None) -> list[str]:
    """The machines that differ from the others, for the first line."""
    return [one_line(each.name, 60) for each in results.result.machines if each.apart] if results else []


def of_plan(plan: Plan) -> str:
    """The plan and its reasons, as Markdown for the summary of the planning job."""
    steps = [f"{_named(step)}: {', '.join(step.servers)}; {step.why}" for step in plan.steps]
    said = [one_line(_sentence(each), LONGEST_NOTE) for each in (*steps, *plan.notes)]
    return "\n".join(["### Plan", "", *(f"- {inline(each)}" for each in said)])


def _named(step: Step) -> str:
    if step.kind == "capacity":
        return f"capacity in the suite {step.argument('--suite')}"
    return f"{step.kind} with the profile {step.argument('--profile')}"


def _about(plan: Plan, parts: Sequence[Part]) -> str:
    if not any(part.record.trials for part in parts):
        return f"Nothing was measured of {plan.sha[:12]}."
    compared = any(part.record.comparison for part in parts)
    base = f" and compared it with {plan.base[:12]}" if plan.base and compared else ""
    return f"Pushbench measured {plan.sha[:12]}{base}."


def _sentence(text: str) -> str:
    """The text with a capital letter, except for names such as `node-ws: ...`, and a full stop."""
    first, _, _ = text.partition(" ")
    begun = text if first.endswith(":") else text[:1].upper() + text[1:]
    return begun if begun.endswith((".", "`", ":")) else f"{begun}."


def links_of(run: Run, site: str) -> list[Link]:
    return [Link("Run and record", run.html_url), *([Link("Site", site)] if site else [])]


def problems(run: Run, jobs: Sequence[Job]) -> list[str]:
    """The problems of the run according to GitHub's description, as sentences."""
    return list(_of_jobs(run, jobs))


def _of_jobs(run: Run, jobs: Sequence[Job]) -> Iterator[str]:
    """Why no verdict can be complete: jobs that were cancelled, timed out, or failed without a verdict."""
    for job in jobs:
        if job.conclusion == "cancelled":
            yield f"The job `{job.name}` was cancelled: by a user, by a newer push, or because its time was up."
        elif job.conclusion == "timed_out":
            yield f"The job `{job.name}` ran out of time."
        elif job.conclusion in ("failure", "startup_failure"):
            steps = [step for step in job.failed_steps if step not in VERDICT_STEPS]
            causes = [CAUSES[step] for step in steps if step in CAUSES]
            if steps or not job.failed_steps:
                at = f" in the step {', '.join(f'`{step}`' for step in steps)}" if steps else ""
                yield f"The job `{job.name}` failed{at}{f': {causes[0]}' if causes else ''}."
    if run.conclusion in ("startup_failure", "stale", "timed_out", "skipped", "action_required", "neutral"):
        yield f"The run ended with {_spaced(run.conclusion)}."


def _causes(jobs: Sequence[Job]) -> Iterator[str]:
    """Reasons for an incomplete measurement, each in words for a first line."""
    for job in jobs:
        if job.conclusion == "timed_out":
            yield "the time for the measurement was up"
    for job in jobs_to_blame(jobs):
        yield from (CAUSES[step] for step in job.failed_steps if step in CAUSES)
        yield f"the job {one_line(job.name, 60)} failed"


def _spaced(conclusion: str | None) -> str:
    return str(conclusion).replace("_", " ")


def jobs_to_blame(jobs: Sequence[Job]) -> list[Job]:
    """The jobs that failed without a verdict; only the first few."""
    failed = [job for job in jobs if job.conclusion in ("failure", "timed_out")]
    return [job for job in failed if not job.failed_steps or set(job.failed_steps) - set(VERDICT_STEPS)][:MOST_BLAMED]


def _logs(jobs: Sequence[Job]) -> list[Link]:
    return [Link(f"Log of {job.name}", job.html_url) for job in jobs_to_blame(jobs) if job.html_url]


def _of_steps(steps: Sequence[StepResult]) -> Iterator[str]:
    for each in steps:
        command = f"`./pushbench {' '.join(each.step.arguments)}`"
        if each.outcome in ("unfinished", "gave-way"):
            yield f"Not finished: {command}" + (f": {each.said}" if each.said else "")
        elif each.outcome == "error":
            yield f"{command} failed: {each.said}"


def _less(found: Sequence[CapacityVerdict]) -> str:
    """The servers whose capacity fails the job, for the first line; empty if there are none."""
    names = [server.server for verdict in found for server in verdict.servers if server.outcome == "fail"]
    return f"{listed(names)} {'carry' if len(names) > 1 else 'carries'} less or nothing" if names else ""


def _advice(run: Run, outcome: Outcome, *, of_fork: bool) -> tuple[list[str], list[str]]:
    """The next steps, in sentences and commands."""
    again = [f"gh run rerun {run.id}"]
    if run.conclusion == "cancelled":
        return ["A newer push is measured automatically. Otherwise, a user with write access starts it again:"], again
    match outcome:
        case "pass":
            return [], []
        case "fail":
            after = "when a maintainer starts it again" if of_fork else "automatically"
            return [
                'If you did not expect this, look for the cause: the command under "Reproduce" does the same on your '
                f"machine. When you push a fix, it is measured {after}."
            ], []
        case "invalid":
            return [
                "Your change is probably not the cause: the machine was disturbed, or the load generator was too "
                "slow. A user with write access starts the run again:"
            ], again
        case "inconclusive":
            return [
                "Nothing is known to be wrong; the points above say what is missing. A round measures both commits "
                "once, and a change counts if it reaches its margin. If a few more rounds would decide, a user with "
                "write access starts the run again:"
            ], again
        case _:
            return [
                "The log, linked below, has details. If your change is not the cause, a user with write access starts "
                "the run again:"
            ], again


def _to_verify(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The command that shows why servers do not work, for copying: it contains only names that a server can have."""
    if names := [name for name in not_working(verdicts) if PLAIN.fullmatch(name)][:MOST_BLAMED]:
        command = f"`./pushbench verify {' '.join(names)}`"
        yield f"On your machine, {command} builds and starts it, and shows which rules of its protocol it breaks."


def _annotations(verdicts: Sequence[Verdict]) -> Iterator[Annotation]:
    """Annotations on the server.yml of each server that failed."""
    for verdict in verdicts:
        for server in verdict.servers:
            if server.outcome == "fail":
                folder = server.server.partition("/")[0]
                for reason in server.reasons:
                    yield Annotation(
                        path=f"servers/{folder}/server.yml",
                        title=one_line(f"Pushbench: {server.server}", 100),
                        message=one_line(reason, 1000),
                    )
