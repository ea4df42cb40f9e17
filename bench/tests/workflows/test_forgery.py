"""A fork with a forged workflow: neither its uploads nor the names of its jobs turn anything green.

`make test-workflows`: act runs the fork's own bench.yml, and then report.yml of the default branch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pushbench.ci.result import parse_results, unzip
from pushbench.foundation.yamlfile import read_yaml
from tests.ci.double_reporting import Reported
from tests.ci.github_double import FORK, job, pull, run
from tests.fuzz.artifacts import artifact
from tests.workflows.forge import ROOT, Forge

pytestmark = [pytest.mark.workflows]
WORKFLOWS = ROOT / ".github" / "workflows"


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    return Forge(tmp_path_factory.mktemp("forge"))


@pytest.fixture(autouse=True)
def nothing_uploaded(forge: Forge) -> Iterator[None]:
    forge.forget()
    yield
    forge.forget()


def forging(work: Path, *artifacts: str) -> None:
    """Replace bench.yml by a workflow whose only job has the required name and uploads the author's files."""
    file = work / ".github" / "workflows" / "bench.yml"
    used = dict(re.findall(r"uses: (actions/([\w-]+)@[0-9a-f]{40})", file.read_text()))
    check_out, upload = (next(each for each in used if f"/{name}@" in each) for name in ("checkout", "upload-artifact"))
    steps = [{"uses": check_out, "with": {"ref": "${{ github.event.pull_request.head.sha }}"}}]
    steps += [{"uses": upload, "with": {"name": name, "path": f"forged-{name}/"}} for name in artifacts]
    made = {"runs-on": "ubuntu-24.04", "name": "Pushbench", "steps": steps}
    file.write_text(yaml.safe_dump({"name": "bench", "on": "pull_request", "jobs": {"Pushbench": made}}))
    for name in artifacts:
        (work / f"forged-{name}").mkdir()
        for path, content in artifact("pass").items():
            (work / f"forged-{name}" / path).write_bytes(content)
    (work / "servers" / "node-ws" / "src" / "client.js").write_text("process.exit(1);\n")


def github_after(forge: Forge, payload: dict[str, Any], *changed: str, **of_run: Any) -> Reported:
    """GitHub after the fork's run, with the rights that report.yml asks for."""
    sha = payload["pull_request"]["head"]["sha"]
    double = Reported(run=run(head_sha=sha, head_repository=FORK, actor={"login": "stranger"}, **of_run))
    double.jobs = [job("Pushbench")]
    double.pulls = [pull(sha=sha, repository=FORK)]
    double.changes(*changed)
    double.has_job("Pushbench", sha=sha)
    double.permissions = read_yaml(WORKFLOWS / "report.yml").data["jobs"]["report"]["permissions"]
    uploaded = sorted((forge.folder / "artifacts").glob("*.zip"))
    double.artifacts = {file.stem: file.read_bytes() for file in uploaded}
    return double


@pytest.mark.parametrize("artifacts", [("results",), ("plan",), ("plan", "results")])
def test_a_fork_that_uploads_a_pass_and_has_a_job_of_the_required_name_is_not_green(
    forge: Forge, artifacts: tuple[str, ...]
) -> None:
    payload = forge.pull_request(lambda work: forging(work, *artifacts), "Be green")
    payload["pull_request"]["head"]["repo"] = {"full_name": "stranger/pushbench"}
    played = forge.act("pull_request", payload, "bench.yml", at="change")
    assert played.passed, played.output[-4000:]
    for name in artifacts:
        assert parse_results(unzip(forge.artifact(name)), name).result.outcome == "pass", "the forgery itself is good"
    double = github_after(forge, payload, "servers/node-ws/src/client.js", ".github/workflows/bench.yml")
    sha = payload["pull_request"]["head"]["sha"]
    with double.served() as url:
        event = {"action": "completed", "workflow_run": double.run}
        reported = forge.act("workflow_run", event, "report.yml", GITHUB_API_URL=url)
    assert reported.passed, reported.output[-4000:]
    assert not double.required_passes(sha)
    [comment] = double.comments
    assert comment["body"].splitlines()[1] == "### Pushbench: Waiting for a maintainer. Nothing is wrong."
    assert "Another check run of this commit is also called Pushbench. It is not ours" in comment["body"]
    double.has_job("Pushbench", sha=sha)
    assert not double.required_passes(sha), "not by a later attempt of that job either"
