"""Resuming a run that gave way in another one on the default branch. Its results are validated first.

The later run has the default branch's workflow file, but checks out, builds and measures the commit of the first run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pushbench.ci.event import Inputs
from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import Run
from pushbench.ci.github_changes import home
from pushbench.ci.github_dispatch import Started, dispatch
from pushbench.ci.plan import Plan
from pushbench.ci.reporting import expected_run, fetch_results
from pushbench.ci.result import Result, Results, StepResult
from pushbench.ci.steps import NIGHTLY, Step
from pushbench.ci.trend import TREND, Origin, origin
from pushbench.ci.trust import BENCH
from pushbench.foundation.errors import UserError

WORD = r"[a-z0-9][a-z0-9._/-]{0,99}"
COMMANDS: Mapping[str, re.Pattern[str]] = {
    "run": re.compile(rf"run --suite {WORD} --profile {WORD}( --servers {WORD}(,{WORD})*)?", re.ASCII),
    "control": re.compile(
        rf"calibrate measure( --fault ({'|'.join(NIGHTLY)}))? --servers {WORD} --profile {WORD} --max-time {WORD}",
        re.ASCII,
    ),
    "capacity": re.compile(rf"capacity --suite {WORD} --servers {WORD}(,{WORD})* --max-time {WORD}", re.ASCII),
}
"""the measurements of pushes and nights, as made by `plan`"""
DRIVERS = ("auto", "docker", "process")


def start(github: GitHub, run_id: int, planned: Plan, inputs: Inputs) -> Started:
    """Start the run that continues this one, which has `inputs`."""
    values = {"continue": str(run_id), "first": inputs.first or str(run_id), "head": planned.sha}
    return dispatch(github, BENCH, home(github).default_branch, values)


def take_up(github: GitHub, inputs: Inputs) -> Results:
    """The results and the plan of the named run. Raises UserError if it cannot be resumed."""
    if given := inputs.besides("continue_", "first", "head"):
        raise UserError(f"a run that continues another one takes no {', '.join(given)}", hint="leave them empty")
    run = expected_run(github, int(inputs.continue_))
    begun = origin(run, home(github))
    if (inputs.first, inputs.head) != (str(begun.first), begun.sha):
        raise UserError(
            f"the run {run.id} measures {begun.sha[:12]} and began with the run {begun.first}",
            hint="set the inputs first and head accordingly",
        )
    results, problem = fetch_results(github, run)
    if results is None:
        raise UserError(f"the run {run.id} left no results to continue from{f': {problem}' if problem else ''}")
    if results.result.outcome != "gave-way":
        raise UserError(f"the run {run.id} did not give way ({results.result.outcome}), so it cannot be continued")
    _require_plan(results, begun, run)
    return _reopened(results)


def _require_plan(results: Results, begun: Origin, run: Run) -> None:
    """Raises UserError for a plan that bench.yml would not have made for a push or a night of that commit."""
    plan = results.result.plan
    steps = [each.step for each in results.result.steps]
    expected = {
        "event": plan.event == begun.event or (not begun.event and plan.event in TREND),
        "commit": plan.sha == begun.sha,
        "base": plan.base is None and plan.pull_request is None and not plan.untrusted,
        "driver": plan.driver in DRIVERS,
        "steps": steps == plan.steps and bool(steps) and all(_is_ours(step) for step in steps),
        "reduced": set(plan.reduced) <= set(plan.images),
        "images": plan.images == sorted({server for step in steps for server in step.servers}),
        "records": all(_belongs(each, results, plan) for each in results.result.steps),
    }
    if wrong := [name for name, right in expected.items() if not right]:
        raise UserError(f"the plan of the run {run.id} does not fit a push or a night: {', '.join(wrong)}")


def _is_ours(step: Step) -> bool:
    pattern = COMMANDS.get(step.kind)
    names = all(re.fullmatch(WORD, server, re.ASCII) for server in step.servers)
    return bool(pattern and pattern.fullmatch(" ".join(step.arguments)) and names)


def _belongs(each: StepResult, results: Results, plan: Plan) -> bool:
    """Whether a step's record, if there is one, matches the commit and the step's request."""
    if each.searched is not None:
        found = results.searched[each.searched].record
        of_commit = found.commit is not None and found.commit.sha == plan.sha
        return of_commit and {server.server for server in found.servers} <= set(each.step.servers)
    if each.measured is None:
        return True
    record = results.measured[each.measured].record
    if record.commit is None or record.commit.sha != plan.sha:
        return False
    asked = ["run", "--suite", record.suite, "--profile", record.profile]
    named = ["--servers", ",".join(each.step.servers)]
    return each.step.kind != "run" or each.step.arguments in (asked, asked + named)


def _reopened(results: Results) -> Results:
    """Mark the steps that gave way as unfinished."""
    steps = [
        each.model_copy(update={"outcome": "unfinished"}) if each.outcome == "gave-way" else each
        for each in results.result.steps
    ]
    return Results(Result(plan=results.result.plan, steps=steps), results.measured, results.searched)
