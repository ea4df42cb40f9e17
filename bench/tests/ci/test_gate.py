"""The one check that a branch requires is green only when something was measured and passed, or nothing had to be."""

from __future__ import annotations

import pytest

from pushbench.ci.gate import Job, decide, read_needs
from pushbench.errors import UserError

PLANNED = Job(result="success", outputs={"steps": "2", "said": ""})
PASSED = Job(result="success", outputs={"outcome": "pass"})


def test_measured_and_passed_is_green() -> None:
    answer = decide({"plan": PLANNED, "images": Job(result="success"), "bench": PASSED})
    assert answer.passes


def test_nothing_to_measure_is_green_and_says_why() -> None:
    plan = Job(result="success", outputs={"steps": "0", "said": "only docs changed"})
    answer = decide({"plan": plan, "images": Job(result="skipped"), "bench": Job(result="skipped")})
    assert answer.passes
    assert "only docs changed" in answer.sentence


@pytest.mark.parametrize(
    ("jobs", "said"),
    [
        ({"plan": Job(result="failure"), "bench": Job(result="skipped")}, "the job plan ended with failure"),
        ({"plan": PLANNED, "bench": Job(result="cancelled")}, "the job bench was cancelled"),
        ({"plan": Job(result="cancelled"), "bench": Job(result="skipped")}, "the job plan was cancelled"),
        ({"plan": PLANNED, "bench": Job(result="skipped")}, "the job bench was skipped"),
        (
            {"plan": PLANNED, "images": Job(result="failure"), "bench": Job(result="skipped")},
            "the job images failed",
        ),
        ({"plan": PLANNED, "bench": Job(result="failure")}, "ended with failure before it had a verdict"),
        ({"plan": PLANNED, "bench": Job(result="success")}, "ended with success before it had a verdict"),
        ({"plan": PLANNED, "bench": Job(result="failure", outputs={"outcome": "pass"})}, "ended with failure before"),
        *(
            ({"plan": PLANNED, "bench": Job(result="failure", outputs={"outcome": outcome})}, f"{outcome}: ")
            for outcome in ("fail", "error", "unfinished", "invalid", "inconclusive")
        ),
        (
            {
                "plan": Job(result="success", outputs={"steps": "1", "said": "from a fork: a maintainer ..."}),
                "bench": Job(result="skipped"),
            },
            "from a fork",
        ),
    ],
)
def test_everything_else_is_red_and_says_why(jobs: dict[str, Job], said: str) -> None:
    answer = decide(jobs)
    assert not answer.passes
    assert said in answer.sentence


def test_the_needs_of_a_job_are_read() -> None:
    needs = read_needs(
        '{"plan": {"result": "success", "outputs": {"steps": "1"}}, "bench": {"result": "skipped", "outputs": null}}'
    )
    assert needs["plan"].outputs == {"steps": "1"}
    for text in ("", "[]", '{"plan": {}}'):
        with pytest.raises(UserError, match="NEEDS"):
            read_needs(text)
    with pytest.raises(UserError, match="plan and bench"):
        decide({})
