"""Other repositories call own-server.yml: several times in one run, and for pull requests of strangers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pushbench.ci.admitting import artifact_name
from pushbench.ci.result import parse_results, unzip
from tests.workflows.forge import Forge
from tests.workflows.played import change

pytestmark = [pytest.mark.workflows]

TWO = """\
on: push
jobs:
  one:
    uses: ./.github/workflows/own-server.yml
    with: {folder: bench/mine, pushbench: acme/pushbench@main, profile: smoke}
  two:
    uses: ./.github/workflows/own-server.yml
    with: {folder: bench/yours, pushbench: acme/pushbench@main, profile: smoke, runs-on: ubuntu-24.04}
"""
ELSEWHERE = """\
on: [push, pull_request]
jobs:
  one:
    uses: ./.github/workflows/own-server.yml
    with: {folder: bench/mine, pushbench: acme/pushbench@main, profile: smoke, runs-on: self-hosted}
"""


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    return Forge(tmp_path_factory.mktemp("forge"))


def add(work: Path, workflow: str) -> None:
    for name in ("mine", "yours"):
        copy = shutil.copytree(work / "servers" / "node-ws", work / "bench" / name)
        (copy / "thresholds.yml").unlink()  # it applies to node-ws alone
        change(f"bench/{name}/src/app.js", "server: 'node-ws'", f"server: '{name}'")(work)
    (work / ".github" / "workflows" / "own.yml").write_text(workflow)


@pytest.mark.alone
def test_two_callers_in_one_run_are_both_measured_and_both_keep_their_results(forge: Forge) -> None:
    event = forge.pull_request(lambda work: add(work, TWO), "Have two servers benchmarked")
    sha = event["pull_request"]["head"]["sha"]
    played = forge.act("push", {"ref": "refs/heads/change", "after": sha}, "own.yml", at="change")
    for name in ("mine", "yours"):
        artifact = artifact_name(f"bench/{name}")
        assert (forge.folder / "artifacts" / f"{artifact}.zip").exists(), played.output[-8000:]
        [measured] = parse_results(unzip(forge.artifact(artifact)), artifact).measured.values()
        assert measured.record.servers == [name]
        assert measured.record.commit
        assert measured.record.commit.subject == f"{name} at {sha[:12]}: Have two servers benchmarked"
    assert not list((forge.folder / "artifacts").glob("pushbench-results.zip"))


def test_a_fork_is_not_built_on_a_machine_that_github_does_not_host(forge: Forge) -> None:
    event = forge.pull_request(lambda work: add(work, ELSEWHERE), "From afar")
    event["pull_request"]["head"]["repo"] = {"full_name": "stranger/pushbench"}
    played = forge.act("pull_request", event, "own.yml", at="change")
    assert not played.passed
    assert "a fork's pull request is not built on 'self-hosted'" in played.output
    assert "Check out the server" not in played.output
