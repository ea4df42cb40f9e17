"""What the jobs of a workflow amount to, as the one check that a branch may require. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, field_validator

from pushbench.errors import UserError


class Job(BaseModel):
    """One of `needs`, as Actions gives it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    result: str
    """success, failure, cancelled or skipped"""
    outputs: dict[str, str] = {}

    @field_validator("outputs", mode="before")
    @classmethod
    def _none(cls, outputs: object) -> object:
        """A job that was skipped has none, and not every runner says that with an empty object."""
        return {} if outputs is None else outputs


@dataclass(frozen=True)
class Answer:
    passes: bool
    sentence: str


Jobs = TypeAdapter(dict[str, Job])

SAID = {
    "fail": "a server got worse or broke a limit",
    "error": "a step could not be carried out",
    "unfinished": "a step did not end",
    "invalid": "nothing valid was measured",
    "inconclusive": "it was not decided",
}


def read_needs(text: str) -> dict[str, Job]:
    """`toJSON(needs)`. Raises UserError."""
    try:
        return Jobs.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(str(part) for part in first["loc"])
        raise UserError(f"NEEDS is not what toJSON(needs) gives: {location}: {first['msg']}") from None


def decide(jobs: Mapping[str, Job]) -> Answer:
    """Green only when everything that was planned was measured and passed, or when nothing was to be measured."""
    plan, bench = jobs.get("plan"), jobs.get("bench")
    if plan is None or bench is None:
        raise UserError("the gate needs the jobs plan and bench")
    for name, job in jobs.items():
        if job.result == "cancelled":
            return Answer(False, f"the job {name} was cancelled: nothing is known; run it again")
    if plan.result != "success":
        return Answer(False, f"the job plan ended with {plan.result}: nothing was measured")
    if plan.outputs.get("steps") == "0":
        return Answer(True, f"nothing was measured: {plan.outputs.get('said') or 'there was nothing to measure'}")
    for name, job in jobs.items():
        if name not in ("plan", "bench") and job.result == "failure":
            return Answer(False, f"the job {name} failed: nothing was measured")
    if bench.result == "skipped":
        return Answer(False, f"nothing was measured: {plan.outputs.get('said') or 'the job bench was skipped'}")
    outcome = bench.outputs.get("outcome", "")
    if bench.result == "success" and outcome == "pass":
        return Answer(True, "everything that was measured passes")
    if outcome in SAID:
        return Answer(False, f"{outcome}: {SAID[outcome]}; the summary of the job bench says more")
    return Answer(False, f"the job bench ended with {bench.result} before it had a verdict: see its log")
