"""The workflows end to end: act runs them on this machine, measures real servers and reports to a forge in a folder.

`make test-workflows`. Not part of `make test`: it takes minutes and needs a quiet machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from pushbench.building.engine import Engine
from pushbench.ci.result import parse_results, unzip
from tests.ci.double_reporting import Reported as Double
from tests.ci.github_double import FORK, run
from tests.workflows.forge import VARIABLES, Forge
from tests.workflows.played import change, of, reported, require, require_measured, skip_where_disturbed, slower
from tests.workflows.small_suite import CLIENTS, COMPARED, compare_only

pytestmark = [pytest.mark.workflows]


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    return Forge(tmp_path_factory.mktemp("forge"), change=lambda work: compare_only(work, *COMPARED))


@pytest.fixture(autouse=True)
def nothing_uploaded(forge: Forge) -> Iterator[None]:
    forge.forget()
    yield
    forge.forget()


@pytest.mark.alone
def test_a_push_is_built_measured_and_published(forge: Forge) -> None:
    variables = dict(VARIABLES)
    if Engine.find():
        variables |= {"PUSHBENCH_DRIVER": "docker", "PUSHBENCH_IMAGES": "load"}
    payload = {"ref": "refs/heads/main", "before": "0" * 40, "after": forge.head()}
    played = forge.act("push", payload, "bench.yml", variables)
    measured = require_measured(forge, played)
    assert played.jobs() >= {"plan", "bench"}
    assert "images" not in played.jobs(), "the machine that measures builds them, or needs none"
    assert measured.record.servers == ["go", "node-ws"]
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


@pytest.mark.alone
def test_a_harmless_pull_request_passes(forge: Forge) -> None:
    harmless = change("servers/node-ws/src/client.js", "// One connection: turns", "// A connection: turns")
    payload = forge.pull_request(harmless, "Say it in other words")
    played = forge.act("pull_request", payload, "bench.yml", at="change")
    skip_where_disturbed(forge)
    require(played, passes=True)
    comment = reported(forge, of(forge, payload, passes=True))
    assert "### Pushbench: pass" in comment
    assert re.search(r"Nothing changed: (\d+) of \1 comparisons are the same", comment)


@pytest.mark.alone
def test_a_pull_request_that_slows_a_server_fails_and_says_which_and_how_much(forge: Forge) -> None:
    payload = forge.pull_request(slower, "Think about each draw")
    played = forge.act("pull_request", payload, "bench.yml", at="change")
    skip_where_disturbed(forge)
    require(played, passes=False)
    double = of(forge, payload, passes=False)
    comment = reported(forge, double)
    assert "### Pushbench: FAIL" in comment
    screen, _, _ = comment.partition("<details>")
    beginning = f"| node-ws: delivery p50 at {CLIENTS} clients |"
    [line] = [line for line in screen.splitlines() if line.startswith(beginning)]
    assert line.endswith("| WORSE |")
    assert re.search(r"\+[\d.,]+ %|\+[\d.,]+ ms", line)
    assert double.checks[0]["conclusion"] == "failure"
    assert double.checks[0]["output"]["annotations"][0]["path"] == "servers/node-ws/server.yml"


def test_a_pull_request_that_breaks_a_rule_fails_with_the_rule(forge: Forge) -> None:
    broken = change("servers/node-ws/src/app.js", "HTTP/1.1 404 Not Found", "HTTP/1.1 500 Not Found")
    payload = forge.pull_request(broken, "Answer otherwise")
    require(forge.act("pull_request", payload, "bench.yml", at="change"), passes=False)
    comment = reported(forge, of(forge, payload, passes=False))
    assert "### Pushbench: FAIL" in comment
    assert "node-ws: not compared: the changed server does not work: verify: breaks bad-upgrade-is-refused" in comment


@pytest.mark.alone
def test_somebody_may_ask_for_some_servers_and_two_machines_share_them(forge: Forge) -> None:
    payload = {"inputs": {"servers": "go,node-ws", "profile": "smoke"}, "ref": "refs/heads/main"}
    played = forge.act("workflow_dispatch", payload, "bench.yml", VARIABLES | {"PUSHBENCH_SHARDS": "2"})
    assert forge.has_artifact("results"), played.output[-8000:]
    joined = parse_results(unzip(forge.artifact("results")), "results")
    assert joined.result.outcome in ("pass", "invalid"), played.output[-8000:]
    assert played.passed == (joined.result.outcome == "pass"), played.output[-8000:]
    records = [each.record for each in joined.measured.values()]
    assert sorted(server for record in records for server in record.servers) == ["go", "node-ws"]
    assert {record.profile for record in records} == {"smoke"}
    assert sorted(server for each in joined.result.machines for server in each.servers) == ["go", "node-ws"]
    for number in (1, 2):
        part = parse_results(unzip(forge.artifact(f"results-{number}")), "part")
        control = part.measured[1].record
        assert (control.servers, len(control.trials)) == (["node-ws"], 4)


def test_a_pull_request_with_nothing_to_measure_passes_and_says_so(forge: Forge) -> None:
    payload = forge.pull_request(lambda work: (work / "README.md").write_text("x"), "Say less")
    played = forge.act("pull_request", payload, "bench.yml", at="change")
    require(played, passes=True)
    assert played.jobs() == {"plan"}
    assert "there is nothing to measure" in reported(forge, of(forge, payload, passes=True))


def test_a_fork_is_not_measured_and_its_check_says_how_it_will_be(forge: Forge) -> None:
    otherwise = change("servers/go/main.go", 'port = "8080"', 'port = "8081"')
    payload = forge.pull_request(otherwise, "From afar")
    payload["pull_request"]["head"]["repo"] = {"full_name": "stranger/pushbench"}
    played = forge.act("pull_request", payload, "bench.yml", at="change")
    require(played, passes=True)
    assert played.jobs() == {"plan"}
    assert f"-f pull_request=7 -f head={forge.head('change')}" in played.output
    double = of(forge, payload, passes=True)
    double.run["head_repository"], double.pulls[0]["head"]["repo"] = FORK, FORK
    double.changes("servers/go/main.go")
    assert f"\ngh workflow run bench.yml -f pull_request=7 -f head={forge.head('change')}\n" in reported(forge, double)
    assert double.checks[0]["conclusion"] == "action_required"
