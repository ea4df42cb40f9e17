"""The workflows end to end: act runs them on this machine, real servers are measured, and a forge in a folder is told.

`make test-workflows`. Not part of `make test`: it takes minutes, and a quiet machine.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushbench.ci.admitting import artifact_name
from pushbench.ci.result import Measured, parse_results, unzip
from pushbench.engine import Engine
from tests.ci.double_reporting import Reported as Double
from tests.ci.github_double import FORK, job, pull, run
from tests.workflows.forge import VARIABLES, Forge, Played

pytestmark = [pytest.mark.workflows]


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    return Forge(tmp_path_factory.mktemp("forge"))


@pytest.fixture(autouse=True)
def nothing_uploaded(forge: Forge) -> Iterator[None]:
    forge.forget()
    yield
    forge.forget()


def change(path: str, old: str, new: str) -> Any:
    def do(work: Path) -> None:
        file = work / path
        text = file.read_text()
        assert text.count(old) == 1, f"{path} has changed: adapt this test"
        file.write_text(text.replace(old, new))

    return do


def require(played: Played, *, passes: bool) -> None:
    assert played.passed == passes, played.output[-8000:]


def skip_where_disturbed(forge: Forge) -> None:
    """Skip the test where the machine disturbed most trials of the job, which then decided nothing and said so."""
    found = parse_results(unzip(forge.artifact("results")), "results")
    trials = [trial for each in found.measured.values() for trial in each.record.trials]
    invalid = [trial for trial in trials if not trial.validity.valid]
    if found.result.outcome in ("invalid", "inconclusive") and 2 * len(invalid) > len(trials):
        codes = sorted({reason.code for trial in invalid for reason in trial.validity.reasons})
        pytest.skip(f"the machine disturbed {len(invalid)} of {len(trials)} trials: {', '.join(codes)}")


def require_measured(forge: Forge, played: Played, artifact: str = "results") -> Measured:
    """The one run of the job. A machine that disturbs it makes it invalid, and then the job must be red and say so."""
    assert forge.has_artifact(artifact), played.output[-8000:]
    found = parse_results(unzip(forge.artifact(artifact)), artifact)
    assert found.result.outcome in ("pass", "invalid"), played.output[-8000:]
    require(played, passes=found.result.outcome == "pass")
    if found.result.outcome == "invalid":
        assert "invalid" in played.output
    [measured] = found.measured.values()
    return measured


def reported(forge: Forge, double: Double) -> str:
    """The comment that the workflow report makes; its artifacts are what the jobs uploaded."""
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


def test_a_push_is_built_measured_and_published(forge: Forge) -> None:
    variables = dict(VARIABLES)
    if Engine.find():
        variables |= {"PUSHBENCH_DRIVER": "docker", "PUSHBENCH_IMAGES": "load"}
    payload = {"ref": "refs/heads/main", "before": "0" * 40, "after": forge.head()}
    played = forge.act("push", payload, "bench.yml", variables)
    measured = require_measured(forge, played)
    assert played.jobs() >= {"plan", "bench"}
    assert "images" not in played.jobs(), "the machine that measures builds them, or needs none"
    assert measured.record.servers == ["fastapi", "node-ws"]
    assert measured.record.environment.driver == variables["PUSHBENCH_DRIVER"]

    double = Double(run=run(event="push", head_sha=forge.head(), head_branch="main"))
    double.artifacts = {"results": forge.artifact("results")}
    with double.served() as url:
        published = forge.act("workflow_run", {"workflow_run": double.run}, "publish.yml", GITHUB_API_URL=url)
    require(published, passes=True)
    files = forge.files("gh-pages")
    record = measured.record
    assert f"records/{record.id}.json.gz" in files
    assert f"history/{record.environment.key}/whiteboard/smoke/{record.id}.json" in files
    assert "index.html" in files
    assert f"data/runs/{record.id}.js" in files
    assert (forge.folder / "pages" / "index.html").exists()
    if any(trial.validity.valid for trial in record.trials):
        data = json.loads(forge.read("gh-pages", "dev/bench/data.js").removeprefix("window.BENCHMARK_DATA = "))
        assert set(data["entries"]) == {"Pushbench", "Pushbench throughput"}
        [point] = data["entries"]["Pushbench"]
        assert point["commit"]["id"] == forge.head()


def test_a_harmless_pull_request_passes(forge: Forge) -> None:
    harmless = change("servers/node-ws/src/client.js", "// One connection: turns", "// A connection: turns")
    payload = forge.pull_request(harmless, "Say it in other words")
    played = forge.act("pull_request", payload, "bench.yml", at="change")
    skip_where_disturbed(forge)
    require(played, passes=True)
    comment = reported(forge, of(forge, payload, passes=True))
    assert "### Pushbench: pass" in comment
    assert re.search(r"Nothing changed: (\d+) of \1 comparisons are the same", comment)


def test_a_pull_request_that_slows_a_server_fails_and_says_which_and_how_much(forge: Forge) -> None:
    slower = change(
        "servers/node-ws/src/client.js",
        "    if (isBinary) throw",
        "    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);\n      if (isBinary) throw",
    )
    payload = forge.pull_request(slower, "Think before each message")
    played = forge.act("pull_request", payload, "bench.yml", at="change")
    skip_where_disturbed(forge)
    require(played, passes=False)
    double = of(forge, payload, passes=False)
    comment = reported(forge, double)
    assert "### Pushbench: FAIL" in comment
    screen, _, _ = comment.partition("<details>")
    [line] = [line for line in screen.splitlines() if line.startswith("| node-ws: delivery p50 at 260 clients |")]
    assert line.endswith("| WORSE |")
    assert re.search(r"\+[\d.,]+ %|\+[\d.,]+ ms", line)
    assert double.checks[0]["conclusion"] == "failure"
    assert double.checks[0]["output"]["annotations"][0]["path"] == "servers/node-ws/server.yml"


def test_a_pull_request_that_breaks_a_rule_fails_with_the_rule(forge: Forge) -> None:
    broken = change("servers/fastapi/app/main.py", "Response(status_code=404)", "Response(status_code=500)")
    payload = forge.pull_request(broken, "Answer otherwise")
    require(forge.act("pull_request", payload, "bench.yml", at="change"), passes=False)
    comment = reported(forge, of(forge, payload, passes=False))
    assert "### Pushbench: FAIL" in comment
    assert "fastapi: not compared: the changed server does not work: verify: breaks bad-upgrade-is-refused" in comment


def test_somebody_may_ask_for_some_servers(forge: Forge) -> None:
    payload = {"inputs": {"servers": "fastapi", "profile": "smoke"}, "ref": "refs/heads/main"}
    measured = require_measured(forge, forge.act("workflow_dispatch", payload, "bench.yml"))
    assert (measured.record.servers, measured.record.profile) == (["fastapi"], "smoke")


def test_a_pull_request_with_nothing_to_measure_passes_and_says_so(forge: Forge) -> None:
    payload = forge.pull_request(lambda work: (work / "README.md").write_text("x"), "Say less")
    played = forge.act("pull_request", payload, "bench.yml", at="change")
    require(played, passes=True)
    assert played.jobs() == {"plan"}
    assert "there is nothing to measure" in reported(forge, of(forge, payload, passes=True))


def test_a_fork_is_not_measured_and_its_check_says_how_it_will_be(forge: Forge) -> None:
    slower = change("servers/fastapi/app/main.py", "openapi_url=None", "openapi_url=None, debug=False")
    payload = forge.pull_request(slower, "From afar")
    payload["pull_request"]["head"]["repo"] = {"full_name": "stranger/pushbench"}
    played = forge.act("pull_request", payload, "bench.yml", at="change")
    require(played, passes=True)
    assert played.jobs() == {"plan"}
    assert f"-f pull_request=7 -f head={forge.head('change')}" in played.output
    double = of(forge, payload, passes=True)
    double.run["head_repository"], double.pulls[0]["head"]["repo"] = FORK, FORK
    double.changes("servers/fastapi/app/main.py")
    assert f"\ngh workflow run bench.yml -f pull_request=7 -f head={forge.head('change')}\n" in reported(forge, double)
    assert double.checks[0]["conclusion"] == "action_required"


CALLER = """\
on: push
jobs:
  benchmark:
    uses: ./.github/workflows/own-server.yml
    with: {folder: bench/mine, pushbench: acme/pushbench@main, profile: smoke, runs-on: ubuntu-24.04}
"""


def test_another_repository_has_a_server_of_its_own_benchmarked(forge: Forge) -> None:
    def add(work: Path) -> None:
        shutil.copytree(work / "servers" / "node-ws", work / "bench" / "mine")
        change("bench/mine/src/app.js", "server: 'node-ws'", "server: 'mine'")(work)
        (work / ".github" / "workflows" / "own.yml").write_text(CALLER)

    payload = forge.pull_request(add, "Have our server benchmarked")
    sha = payload["pull_request"]["head"]["sha"]
    played = forge.act("push", {"ref": "refs/heads/change", "after": sha}, "own.yml", at="change")
    measured = require_measured(forge, played, artifact_name("bench/mine"))
    assert measured.record.servers == ["mine"]
    assert measured.record.commit
    assert measured.record.commit.subject == f"mine at {sha[:12]}: Have our server benchmarked"
