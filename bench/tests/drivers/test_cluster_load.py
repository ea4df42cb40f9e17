"""A load in a cluster through a fake kubectl, which answers only the commands of these tests, and not always.

tests/cluster has a real cluster.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushbench.drivers import cluster_load, kubectl
from pushbench.drivers.cluster_load import Beside, ClusterLoad, playing_in
from pushbench.drivers.kubectl import Kubectl
from pushbench.generator.events import Second, Started
from pushbench.generator.load import Generator, LoadFailed, LoadPlan
from pushbench.records.record import Schedule, StagePlan
from tests.samples import load_report, stage_report

KUBECTL = """#!/bin/sh
# Each question has a file with the answer; where there are several, each is given once, and the last for ever.
cd "$ANSWERS"
case "$*" in
  "apply --filename -") cat > applied; exit 0 ;;
  "get --output json pods --selector k6_cr=load,runner=true") name=runners ;;
  "get --output json pods") name=pods ;;
  "get --output json nodes") name=nodes ;;
  "logs --follow load-1-x") name=follow ;;
  "logs load-1-x") name=log ;;
  "logs job/reach") name=reach ;;
  "delete testrun load --ignore-not-found --wait=false") exit 0 ;;
  *) echo "error: unknown command: $*" >&2; exit 1 ;;
esac
found=$(ls | grep "^$name[.]" | head -1)
[ -n "$found" ] || { echo "error: no answer to $name" >&2; exit 1; }
cat "$found"
[ "$(ls | grep -c "^$name[.]")" = 1 ] || rm "$found"
case "$found" in *hangs) exec sleep 30 ;; *fails) echo "The connection to the server was refused" >&2; exit 1 ;; esac
"""
START = {
    "at": 5_000_000,
    "event": "start",
    "end_of_load": 9_000_000,
    "stages": [{"begin": 6_000_000, "end": 9_000_000}],
}
SECOND = {"at": 6_000_000, "event": "second", "clients": 4, "sent": 1, "received": 2, "owed": 2, "cpu_us": 90_000}


def pod(phase: str, **state: Any) -> dict[str, Any]:
    labels = {"app": "k6", "k6_cr": "load", "runner": "true"}
    container = {"name": "k6", "restartCount": 0, "state": state or {"running": {}}}
    return {
        "metadata": {"name": "load-1-x", "uid": "1", "labels": labels},
        "spec": {"nodeName": "two"},
        "status": {"phase": phase, "conditions": [], "containerStatuses": [container]},
    }


def lines(*events: dict[str, Any]) -> str:
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "answers"
    folder.mkdir()
    monkeypatch.setenv("ANSWERS", str(folder))
    monkeypatch.setattr(cluster_load, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(kubectl, "PATIENCE_SECONDS", 0.0)
    ready = {"metadata": {"name": "two"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    (folder / "nodes.1").write_text(json.dumps({"items": [ready]}))
    give(folder, "runners", [pod("Running")])
    give(folder, "pods", [pod("Running")])
    return folder


def give(answers: Path, name: str, *pods: list[dict[str, Any]]) -> None:
    for number, items in enumerate(pods, 1):
        (answers / f"{name}.{number}").write_text(json.dumps({"items": items}))


@pytest.fixture
def load(answers: Path, tmp_path: Path) -> Iterator[ClusterLoad]:
    program = tmp_path / "kubectl"
    program.write_text(KUBECTL)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    stage = StagePlan(clients=4, ramp_seconds=0, settle_seconds=0, steady_seconds=3)
    schedule = Schedule(warmup_seconds=1, stages=[stage], drain_seconds=1)
    plan = LoadPlan(url="http://10.0.0.1:8080", protocol="tiny-json", seed=1, parameters={}, schedule=schedule)
    generator = Generator(Path("k6"), tmp_path, tmp_path / "a.js", [0], tmp_path / "load")
    with playing_in(Kubectl(str(program)), generator, plan, image="k6:1", not_on=["one"], beside=Beside()) as playing:
        yield playing
    assert "TestRun" in (answers / "applied").read_text()


@pytest.mark.slow
def test_a_log_that_breaks_off_while_the_cluster_is_away_is_read_again(load: ClusterLoad, answers: Path) -> None:
    report = load_report([stage_report()]).model_dump_json(by_alias=True)
    over = pod("Succeeded", terminated={"exitCode": 0})
    (answers / "follow.1.fails").write_text(lines(START))
    (answers / "follow.2").write_text(lines(START, SECOND))
    (answers / "log.1").write_text(lines(START, SECOND) + report + "\n")
    running = json.dumps({"items": [pod("Running")]})
    (answers / "runners.1").write_text(running)
    (answers / "runners.2.fails").write_text("")
    (answers / "runners.3").write_text(running)
    (answers / "runners.4").write_text(json.dumps({"items": [over]}))
    give(answers, "pods", [pod("Running")], [over])
    told = [event for event in load.events() if event]
    assert [type(event) for event in told] == [Started, Second], "each once, and the start but once"
    assert load.report().stages == load_report([stage_report()]).stages
    assert load.account.reasons == []
    for said, wanted in (("true", "enforces no NetworkPolicy"), ("false", ""), ("?", "is not known")):
        (answers / "reach.1").write_text(f"{said}\n")
        found = " ".join(each.message for each in load.account.warnings if each.code == "open_network")
        assert bool(found) is bool(wanted)
        assert wanted in found


def test_a_generator_that_is_removed_ends_the_load_at_once(load: ClusterLoad, answers: Path) -> None:
    (answers / "follow.1").write_text(lines(START))
    give(answers, "runners", [pod("Running")], [])
    with pytest.raises(LoadFailed, match=r"^the pod of the generator load-1-x was removed$"):
        list(load.events())


def test_a_generator_that_is_killed_is_named_with_its_end(load: ClusterLoad, answers: Path) -> None:
    (answers / "follow.1").write_text(lines(START))
    give(answers, "runners", [pod("Running")], [pod("Failed", terminated={"exitCode": 137, "reason": "OOMKilled"})])
    with pytest.raises(LoadFailed, match=r"^the generator load-1-x ended with exit code 137 \(OOMKilled\)$"):
        list(load.events())


def test_a_generator_that_is_silent_is_looked_for_and_ends_the_load_where_its_node_is_gone(
    load: ClusterLoad, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_load, "SILENT_SECONDS", 0.05)
    (answers / "follow.1.hangs").write_text(lines(START))
    lost = {"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status."}
    (answers / "nodes.2").write_text(
        json.dumps({"items": [{"metadata": {"name": "two"}, "status": {"conditions": [lost]}}]})
    )
    with pytest.raises(LoadFailed, match=r"^the node two of the generator load-1-x is not ready: Kubelet stopped"):
        list(load.events())


def test_a_generator_that_tells_nothing_measured_nothing(load: ClusterLoad, answers: Path) -> None:
    (answers / "follow.1").write_text("level=error msg=hello\n")
    give(answers, "runners", [pod("Running")], [pod("Succeeded", terminated={"exitCode": 0})])
    with pytest.raises(LoadFailed, match=r"did not report when they began; their last output: .*hello"):
        list(load.events())


def test_a_cluster_that_stays_away_after_the_load_is_named(load: ClusterLoad, answers: Path) -> None:
    (answers / "follow.1").write_text(lines(START))
    give(answers, "runners", [pod("Running")], [pod("Succeeded", terminated={"exitCode": 0})])
    assert len([event for event in load.events() if event]) == 1
    (answers / "nodes.1").unlink()
    with pytest.raises(LoadFailed, match="no answer to log"):
        load.report()
    [reason] = load.account.reasons
    assert (reason.code, "no answer to nodes" in reason.message) == ("cluster_lost", True)
