"""A night gives way to a waiting pull request, continues as another run on its own commit, and is published once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushbench.ci.result import Results, parse_results, unzip
from tests.ci.double_queue import other
from tests.ci.github_double import RUN, Double, run
from tests.workflows.forge import VARIABLES, Forge, Played, _git
from tests.workflows.small_suite import CLIENTS, shorten_search

pytestmark = [pytest.mark.workflows, pytest.mark.alone]

BOT = "github-actions[bot]"
SHORT = VARIABLES | {"PUSHBENCH_MAX_TIME": "10s", "PUSHBENCH_CAPACITY_TIME": "5m"}
"""the comparison of the night's server with itself may stay undecided; one server's capacity is searched"""


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    return Forge(tmp_path_factory.mktemp("forge"), change=shorten_search)


def dispatched(forge: Forge, double: Double, workflow: str, inputs: dict[str, str], run_id: int) -> Played:
    payload = {"inputs": inputs, "ref": "refs/heads/main"}
    with double.served() as url:
        return forge.act(
            "workflow_dispatch",
            payload,
            workflow,
            SHORT,
            GITHUB_API_URL=url,
            GITHUB_RUN_ID=str(run_id),
            GITHUB_TRIGGERING_ACTOR=BOT,
        )


def measured(forge: Forge, played: Played) -> Results:
    assert (forge.folder / "artifacts" / "results.zip").exists(), played.output[-8000:]
    return parse_results(unzip(forge.artifact("results")), "results")


def of_night(forge: Forge, title: str = "bench night", **changed: Any) -> dict[str, Any]:
    of = {"event": "workflow_dispatch", "head_branch": "main", "head_sha": forge.head(), "display_title": title}
    return run(**of, **changed)


def published(forge: Forge, double: Double) -> str:
    double.artifacts = {"results": forge.artifact("results")}
    played = dispatched(forge, double, "publish.yml", {"run": str(RUN)}, 1)
    assert played.passed, played.output[-8000:]
    return played.output


def move_on(forge: Forge) -> None:
    """Push another commit to main meanwhile."""
    _git(forge.work, "checkout", "--quiet", "main")
    readme = Path(forge.work / "README.md")
    readme.write_text("Something else\n")
    _git(forge.work, "commit", "--quiet", "--all", "-m", "Say something else")
    _git(forge.work, "push", "--quiet", "origin", "main")


def test_a_night_gives_way_goes_on_and_is_published_once(forge: Forge) -> None:
    commit = forge.head()
    double = Double(run=of_night(forge), others=[other(9)])
    played = dispatched(forge, double, "bench.yml", {"night": "true"}, RUN)
    first = measured(forge, played)
    assert first.result.outcome == "gave-way", played.output[-8000:]
    assert len(first.measured[1].record.trials) == 1
    assert played.jobs() >= {"plan", "bench", "continue", "tell"}
    started, *told = double.dispatched
    assert started == ("bench.yml", {"continue": str(RUN), "first": str(RUN), "head": commit})
    assert told == [(name, {"run": str(RUN)}) for name in ("report.yml", "publish.yml")]
    assert "nothing to publish: " in published(forge, double)

    move_on(forge)
    double.artifacts = {"results": forge.artifact("results")}
    double.others = []
    played = dispatched(forge, double, "bench.yml", started[1], RUN + 1)
    second = measured(forge, played)
    assert second.result.outcome in ("pass", "fail", "invalid", "inconclusive"), played.output[-8000:]
    record = second.measured[1].record
    assert record.id == first.measured[1].record.id
    assert record.complete
    assert record.servers == ["go", "node-ws"]
    assert record.trials[0] == first.measured[1].record.trials[0]
    assert record.commit
    assert record.commit.sha == commit != forge.head()
    assert second.result.plan.notes == []
    [search] = second.searched.values()
    [server] = search.record.servers
    assert [start.carried for start in server.starts] == [CLIENTS] * 3, server.failure
    assert search.record.commit == record.commit
    assert "continue" not in played.jobs()

    double.run = of_night(forge, f"bench continues {RUN} at {commit}")
    published(forge, double)
    published(forge, double)
    records = [name for name in forge.files("gh-pages") if name.startswith("records/")]
    assert records == [f"records/{record.id}.json.gz"]
    capacities = [name for name in forge.files("gh-pages") if name.endswith(".capacity.json")]
    assert [name for name in forge.files("gh-pages") if name.startswith("capacity/")] == [
        f"capacity/{search.record.id}.json.gz"
    ]
    key = search.record.environment.key
    assert capacities == [f"history/{key}/whiteboard/{search.record.id}.capacity.json"]
