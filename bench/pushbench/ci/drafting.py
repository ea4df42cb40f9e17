"""What is said of a finished workflow run, on a pull request and on a commit. Pure.

What GitHub says of its own jobs is believed; what the artifact says can only make things worse, never better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pushbench.ci.github_answers import Annotation, Conclusion, Job, Run
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
GATE = "gate"
MOST_ANNOTATIONS = 100


@dataclass(frozen=True)
class Draft:
    outcome: Outcome
    title: str
    """of the check run: one line"""
    comment: str
    annotations: Sequence[Annotation]
    conclusion: Conclusion

    @property
    def summary(self) -> str:
        """Of the check run."""
        return self.comment.removeprefix(f"{MARK}\n")


def draft(run: Run, jobs: Sequence[Job], results: Results | None, problem: str = "", site: str = "") -> Draft:
    """`results` are None where there are none, or none that can be read, as `problem` then says."""
    outcome = results.result.outcome if results else "error"
    sentences = list(_of_jobs(run, jobs))
    if problem:
        sentences.append(f"its results cannot be used: {problem}")
        outcome = "error"
    if sentences and outcome in ("pass", "gave-way"):
        outcome = "error"
    if not sentences and outcome == "error" and not results:
        sentences.append("the run left no results")
    links = [Link("Run and record", run.html_url), *([Link("Site", site)] if site else [])]
    told = message(results) if results else Message(outcome, ())
    told = replace(told, outcome=outcome, sentences=[*sentences, *told.sentences], links=links)
    return Draft(
        outcome,
        title=one_line(_title(outcome, told.sentences), 200),
        comment=comment(told),
        annotations=list(_annotations([part.summary.verdict for part in told.parts]))[:MOST_ANNOTATIONS],
        conclusion="cancelled" if run.conclusion == "cancelled" else CONCLUSIONS[outcome],
    )


def message(results: Results) -> Message:
    """What a job has to say of what it measured."""
    result = results.result
    parts = [Part(each.record, summarize(each.record, each.verdict)) for each in results.measured.values()]
    about = f"{'measured' if parts else 'about'} {result.plan.sha[:12]}"
    return Message(result.outcome, parts, [*result.plan.notes, *_of_steps(result.steps), about])


def _title(outcome: Outcome, sentences: Sequence[str]) -> str:
    said = {
        "pass": "everything that was measured passes",
        "fail": "a server got worse or broke a limit",
        "invalid": "nothing valid was measured",
        "inconclusive": "not decided",
        "gave-way": "not measured to its end yet: another run goes on with it",
    }
    return f"{outcome}: {said.get(outcome) or sentences[0]}"


def _of_jobs(run: Run, jobs: Sequence[Job]) -> Iterator[str]:
    """Why no verdict can be complete: jobs that were cancelled, ran out of time, or failed without one."""
    for job in jobs:
        if job.conclusion == "cancelled":
            yield f"the job {job.name} was cancelled, by somebody, by a newer push or because its time was up"
        elif job.conclusion == "timed_out":
            yield f"the job {job.name} ran out of time"
        elif job.conclusion in ("failure", "startup_failure") and job.name != GATE:
            steps = [step for step in job.failed_steps if step not in ("Bench", "Verdict")]
            if steps or not job.failed_steps:
                yield f"the job {job.name} failed" + (f" at: {', '.join(steps)}" if steps else "")
    if run.conclusion in ("startup_failure", "stale", "timed_out"):
        yield f"the run ended with {run.conclusion}"


def _of_steps(steps: Sequence[StepResult]) -> Iterator[str]:
    for each in steps:
        command = f"./pushbench {' '.join(each.step.arguments)}"
        if each.outcome == "unfinished":
            yield f"not finished: {command}" + (f": {each.said}" if each.said else "")
        elif each.outcome == "error":
            yield f"{command}: {each.said}"


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
