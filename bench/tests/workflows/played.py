"""Changes to measure, and the results of the workflows for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushbench.ci.result import Measured, parse_results, unzip
from tests.ci.double_reporting import Reported as Double
from tests.ci.github_double import job, pull, run
from tests.workflows.forge import Forge, Played


def change(path: str, old: str, new: str) -> Any:
    def do(work: Path) -> None:
        file = work / path
        text = file.read_text()
        assert text.count(old) == 1, f"{path} has changed: adapt this test"
        file.write_text(text.replace(old, new))

    return do


def slower(work: Path) -> None:
    """Let node-ws deliver each draw 20 ms later: four times the floor of MEDIAN in small_suite."""
    change(
        "servers/node-ws/src/client.js",
        "this.#boards.broadcast(boardId, frameText(data));",
        "const frame = frameText(data);\n      setTimeout(() => this.#boards.broadcast(boardId, frame), 20);",
    )(work)


def require(played: Played, *, passes: bool) -> None:
    assert played.passed == passes, played.output[-8000:]


def skip_where_disturbed(forge: Forge) -> None:
    """Skip the test if the machine disturbed most trials of the job and the job therefore decided nothing."""
    found = parse_results(unzip(forge.artifact("results")), "results")
    trials = [trial for each in found.measured.values() for trial in each.record.trials]
    invalid = [trial for trial in trials if not trial.validity.valid]
    if found.result.outcome in ("invalid", "inconclusive") and 2 * len(invalid) > len(trials):
        codes = sorted({reason.code for trial in invalid for reason in trial.validity.reasons})
        pytest.skip(f"the machine disturbed {len(invalid)} of {len(trials)} trials: {', '.join(codes)}")


def require_measured(forge: Forge, played: Played, artifact: str = "results") -> Measured:
    """The only run of the job. If the machine disturbs it, it is invalid, and the job must be red and say so."""
    assert forge.has_artifact(artifact), played.output[-8000:]
    found = parse_results(unzip(forge.artifact(artifact)), artifact)
    assert found.result.outcome in ("pass", "invalid"), played.output[-8000:]
    require(played, passes=found.result.outcome == "pass")
    if found.result.outcome == "invalid":
        assert "invalid" in played.output
    [measured] = found.measured.values()
    return measured


def reported(forge: Forge, double: Double) -> str:
    """The comment that the workflow report makes from the artifacts that the jobs uploaded."""
    names = ["plan", *(["results"] if (forge.folder / "artifacts" / "results.zip").exists() else [])]
    double.artifacts = {name: forge.artifact(name) for name in names}
    with double.served() as url:
        require(forge.act("workflow_run", {"workflow_run": double.run}, "report.yml", GITHUB_API_URL=url), passes=True)
    return str(double.comments[-1]["body"]) if double.comments else ""


def of(forge: Forge, payload: dict[str, Any], *, passes: bool) -> Double:
    """GitHub after the run of a pull request."""
    sha = payload["pull_request"]["head"]["sha"]
    jobs = [job("plan"), job("bench")]
    if not passes:
        jobs = [job("plan"), job("bench", "failure", "Bench")]
    conclusion = "success" if passes else "failure"
    return Double(run=run(head_sha=sha, conclusion=conclusion), jobs=jobs, pulls=[pull(sha=sha)])
