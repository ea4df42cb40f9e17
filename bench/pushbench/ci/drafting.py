"""What is said of a finished run that is believed, on a pull request and on a commit. Pure.

What GitHub says of its own jobs counts first; what the artifact says can only make things worse, never better. What is
said in all other cases is in `drafting_states`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pushbench.ci.github_answers import Annotation, Conclusion, Job, Run
from pushbench.ci.github_statuses import State
from pushbench.ci.result import Outcome, Results, StepResult
from pushbench.comment import MARK, Link, Message, Part, comment
from pushbench.summary import summarize
from pushbench.text import one_line
from pushbench.verdict import Verdict

CONCLUSIONS: dict[Outcome, Conclusion] = {
    "pass": "success",
    "fail": "failure",
    "error": "failure",
    "unfinished": "failure",
    "gave-way": "action_required",
    "invalid": "action_required",
    "inconclusive": "action_required",
}
"""none but pass lets a branch that requires the check be merged"""
STATES: dict[Conclusion, State] = {
    "success": "success",
    "failure": "failure",
    "action_required": "failure",
    "cancelled": "error",
    "timed_out": "error",
    "neutral": "error",
    "skipped": "error",
}
"""of the commit status; GitHub lets a required check pass with neutral and skipped, which no draft has"""
TITLES: dict[Outcome, str] = {
    "pass": "everything that was measured passes",
    "fail": "a server got worse or broke a limit",
    "invalid": "nothing valid was measured",
    "inconclusive": "not decided",
    "gave-way": "not measured to its end yet: another run goes on with it",
}
CAUSES = {
    "Build and push": "an image could not be built",
    "Build": "an image could not be built",
    "Build the images": "an image could not be built",
    "Fetch the images": "an image could not be brought to the machine that measures",
    "Fetch what strangers built": "the images of the pull request could not be fetched",
    "Fetch the commit that is measured": "the commit could not be fetched",
    "Plan": "what is to be measured could not be planned",
}
"""what the failure of a step means"""
VERDICT_STEPS = ("Bench", "Verdict")
"""whose failure is a verdict, which the results tell"""
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
    """it is not green because a person has to act, and nothing is wrong"""
    told: bool = True
    """whether the pull request gets the comment"""
    counts: bool = True
    """whether it is a verdict or becomes one; what every other run of the commit may replace is none"""

    @property
    def summary(self) -> str:
        """Of the check run."""
        return self.comment.removeprefix(f"{MARK}\n")

    @property
    def state(self) -> State:
        """Of the commit status, which always agrees with the check run."""
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
) -> Draft:
    """`results` are None where there are none, or none that can be read, as `problem` then says. `notices` are further
    sentences that change nothing, `errors` what failed jobs said, by their names."""
    outcome = results.result.outcome if results else "error"
    sentences = problems(run, jobs)
    sentences += [
        f"the job {job.name} says: {said}" for job in jobs_to_blame(jobs) for said in errors.get(job.name, ())
    ]
    if problem:
        sentences.append(f"its results cannot be used: {problem}")
        outcome = "error"
    if sentences and outcome in ("pass", "gave-way"):
        outcome = "error"
    if run.conclusion != "success" and outcome == "pass":
        sentences.append(f"the run ended with {run.conclusion}")
        outcome = "error"
    if not sentences and outcome == "error" and not results:
        sentences.append("the run left no results")
    told = message(results) if results else Message(outcome, ())
    advice, commands = _advice(run, outcome)
    told = replace(
        told,
        outcome=outcome,
        sentences=[*sentences, *told.sentences, *notices],
        links=[*links_of(run, site), *_logs(jobs)],
        headline="cancelled" if run.conclusion == "cancelled" else "",
        advice=[*told.advice, *advice],
        commands=[*told.commands, *commands],
    )
    return Draft(
        title=one_line(f"{told.headline or outcome}: {TITLES.get(outcome) or told.sentences[0]}", 200),
        comment=comment(told),
        annotations=list(_annotations([part.summary.verdict for part in told.parts]))[:MOST_ANNOTATIONS],
        conclusion="cancelled" if run.conclusion == "cancelled" else CONCLUSIONS[outcome],
        counts=run.conclusion != "cancelled" and not (results and _is_partial(results, outcome)),
    )


def _is_partial(results: Results, outcome: Outcome) -> bool:
    """Whether nothing is wrong but that something was left out, which other runs of the commit may have measured."""
    return outcome == "inconclusive" and bool(results.result.plan.left_out)


def message(results: Results) -> Message:
    """What a job has to say of what it measured."""
    result = results.result
    parts = [Part(each.record, summarize(each.record, each.verdict)) for each in results.measured.values()]
    about = f"{'measured' if parts else 'nothing was measured of'} {result.plan.sha[:12]}"
    return Message(result.outcome, parts, [*_of_steps(result.steps), *result.plan.notes, about])


def links_of(run: Run, site: str) -> list[Link]:
    return [Link("Run and record", run.html_url), *([Link("Site", site)] if site else [])]


def problems(run: Run, jobs: Sequence[Job]) -> list[str]:
    """What GitHub says went wrong with the run, as sentences."""
    return list(_of_jobs(run, jobs))


def _of_jobs(run: Run, jobs: Sequence[Job]) -> Iterator[str]:
    """Why no verdict can be complete: jobs that were cancelled, ran out of time, or failed without one."""
    for job in jobs:
        if job.conclusion == "cancelled":
            yield f"the job {job.name} was cancelled, by somebody, by a newer push or because its time was up"
        elif job.conclusion == "timed_out":
            yield f"the job {job.name} ran out of time"
        elif job.conclusion in ("failure", "startup_failure"):
            steps = [step for step in job.failed_steps if step not in VERDICT_STEPS]
            causes = [CAUSES[step] for step in steps if step in CAUSES]
            if steps or not job.failed_steps:
                at = f" at: {', '.join(steps)}" if steps else ""
                yield f"the job {job.name} failed{at}{f': {causes[0]}' if causes else ''}"
    if run.conclusion in ("startup_failure", "stale", "timed_out", "skipped", "action_required", "neutral"):
        yield f"the run ended with {run.conclusion}"


def jobs_to_blame(jobs: Sequence[Job]) -> list[Job]:
    """Those that failed without a verdict; the first few."""
    failed = [job for job in jobs if job.conclusion in ("failure", "timed_out")]
    return [job for job in failed if not job.failed_steps or set(job.failed_steps) - set(VERDICT_STEPS)][:MOST_BLAMED]


def _logs(jobs: Sequence[Job]) -> list[Link]:
    return [Link(f"Log of {job.name}", job.html_url) for job in jobs_to_blame(jobs) if job.html_url]


def _of_steps(steps: Sequence[StepResult]) -> Iterator[str]:
    for each in steps:
        command = f"./pushbench {' '.join(each.step.arguments)}"
        if each.outcome in ("unfinished", "gave-way"):
            yield f"not finished: {command}" + (f": {each.said}" if each.said else "")
        elif each.outcome == "error":
            yield f"{command}: {each.said}"


def _advice(run: Run, outcome: Outcome) -> tuple[list[str], list[str]]:
    """What to do now, in sentences and commands."""
    if outcome in ("pass", "fail"):
        return [], []
    again = [f"gh run rerun {run.id}"]
    if run.conclusion == "cancelled":
        return ["A newer push is measured by itself. Otherwise somebody with write access runs it again:"], again
    match outcome:
        case "invalid":
            return ["The machine was disturbed, or nothing answered. Somebody with write access runs it again:"], again
        case "inconclusive":
            return ["The reasons above say what is missing. Where it is only rounds, run it again:"], again
        case _:
            why = "Read the log of the job that failed. If the change did not cause it, run it again:"
            return [why], again


def _annotations(verdicts: Sequence[Verdict]) -> Iterator[Annotation]:
    """On the server.yml of each server that failed."""
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
