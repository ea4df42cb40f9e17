"""A search on fresh starts of fake servers becomes a record with a result, even if other servers fail."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pushbench.capacity import finding
from pushbench.capacity.answering import limits_of
from pushbench.capacity.finding import CapacityRequest, SearchInterrupted, find_capacities
from pushbench.cli import main
from pushbench.cli.conclusion import thresholds_of
from pushbench.drivers.choice import DriverChoice
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.measuring.common import Options
from pushbench.metrics.carrying import CapacityReport, results_of
from pushbench.records.capacity import CapacityRecord, ServerCapacity
from pushbench.records.capacity_store import read_capacity
from tests.support import make_project
from tests.tiny_runs import Notebook
from tests.tiny_runs import no_real_generator as no_real_generator  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.slow

CARRIES = 87
CAPACITY = """\
capacity:
  first: 80
  step: 40
  most: 160
  parameters: {carries: %d}
  clients_per_second: 100000
  ramp_seconds: 0.01
  warmup_seconds: 0
  settle_seconds: 0
  steady_seconds: 0.1
  hold_seconds: 0.1
  drain_seconds: 1
"""
UNVERIFIED = Options(DriverChoice("process"), verify=False)


def project_of(root: Path, carries: int = CARRIES, **servers: str) -> Project:
    project = make_project(root, **servers)
    suite = project.scenarios / "tiny.yml"
    text = suite.read_text().replace("behaviour: normal}", "behaviour: normal, carries: 0}")
    suite.write_text(text + CAPACITY % carries)
    return project


def find(project: Project, watch: Notebook | None = None, *, starts: int = 1, seconds: float = 60.0) -> CapacityRecord:
    request = CapacityRequest("tiny", starts=starts, seconds=seconds)
    return find_capacities(project, request, UNVERIFIED, thresholds_of(project), watch or Notebook())


def test_a_set_capacity_is_found_on_every_start_and_the_record_is_on_disk(tmp_path: Path) -> None:
    project = project_of(tmp_path / "checkout", x="")
    watch = Notebook()
    record = find(project, watch, starts=2)
    assert read_capacity(project.capacities / f"{record.id}.json") == record
    (server,) = record.servers
    assert [(start.carried, start.refused, start.end, start.confirmed) for start in server.starts] == [
        (80, 120, "limit", True),
        (80, 120, "limit", True),
    ]
    assert server.reported
    assert server.reported.server == "x"
    (found,) = results_of(record)
    assert (found.carried, found.low, found.high, found.at_least, found.end) == (80, 80, 120, False, "limit")
    assert found.reason == "loss 10 %, limit 1 %"
    assert found.per_1000["cpu_cores"] is not None
    assert "[1/2] x: 80 clients: carried, delivery p95 2 ms" in watch.notes
    assert all(len(note) <= 60 for note in watch.notes), watch.notes


def test_a_server_that_does_not_start_keeps_its_place_and_the_others_go_on(tmp_path: Path) -> None:
    record = find(project_of(tmp_path / "checkout", late="exits", good=""))
    found = {each.server: each for each in results_of(record)}
    assert found["late"].carried is None
    assert found["late"].reason.startswith("failed to start: ")
    assert found["good"].carried == 80


def test_a_server_that_ends_under_a_load_is_started_again_and_the_load_is_not_carried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_of(tmp_path / "checkout", x="")
    suite = project.scenarios / "tiny.yml"
    suite.write_text(suite.read_text().replace("{carries: 87}", "{behaviour: 'kills:0'}"))
    (server,) = find(project, seconds=5).servers
    probes = server.starts[0].probes
    assert len(probes) > 1, "it goes on, on another server"
    assert probes[0].failure
    assert {probe.answer for probe in probes} == {"broken"}
    assert server.starts[0].carried == 0


def test_where_the_generator_ends_first_there_is_no_number_of_the_server(tmp_path: Path) -> None:
    project = project_of(tmp_path / "checkout", x="")
    suite = project.scenarios / "tiny.yml"
    suite.write_text(suite.read_text().replace("{carries: 87}", "{behaviour: short}"))
    (found,) = results_of(find(project))
    assert (found.carried, found.at_least, found.end, found.high) == (0, True, "generator", 40)
    assert "open file" in found.reason
    assert found.binding is None


def test_all_that_is_asked_and_carried_is_a_lower_bound(tmp_path: Path) -> None:
    (found,) = results_of(find(project_of(tmp_path / "checkout", 5000, x="")))
    assert (found.carried, found.at_least, found.end, found.high) == (160, True, "most", None)


def test_servers_take_turns_a_start_each(tmp_path: Path) -> None:
    watch = Notebook()
    record = find(project_of(tmp_path / "checkout", x="", y=""), watch, starts=2)
    began = [note.split(":")[0] for note in watch.notes if "carried" in note]
    assert list(dict.fromkeys(began)) == ["[1/2] x", "[1/2] y", "[2/2] x", "[2/2] y"]
    assert [[start.number for start in server.starts] for server in record.servers] == [[1, 2], [1, 2]]


def test_the_time_of_a_server_is_what_its_own_starts_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, list[float]] = {"x": [], "y": []}
    search = finding._OneStart.search

    def watched(one: finding._OneStart, server: ServerCapacity, seconds: float) -> ServerCapacity:
        given[server.server].append(seconds)
        done = search(one, server, seconds)
        took = [*done.starts[:-1], done.starts[-1].model_copy(update={"seconds": 30.0})]
        return done.model_copy(update={"starts": took})

    monkeypatch.setattr(finding._OneStart, "search", watched)
    find(project_of(tmp_path / "checkout", x="", y=""), starts=3, seconds=150)
    assert given == {"x": [67.5, 60.0, 90.0], "y": [67.5, 60.0, 90.0]}


@pytest.mark.timed  # three seconds, in which the first load has to be carried
def test_no_time_is_no_number(tmp_path: Path) -> None:
    project = project_of(tmp_path / "checkout", 1_000_000, x="")
    suite = project.scenarios / "tiny.yml"
    longer = suite.read_text().replace("steady_seconds: 0.1", "steady_seconds: 0.3")  # no fast machine reaches the most
    suite.write_text(longer.replace("most: 160", "most: 1000000"))
    (found,) = results_of(find(project, seconds=3))
    assert found.at_least
    assert found.end == "time"


def test_a_search_that_is_ended_keeps_the_starts_that_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = project_of(tmp_path / "checkout", x="")
    plan = finding._plan

    def interrupt(*arguments: object) -> object:
        if arguments[1]:
            raise KeyboardInterrupt
        return plan(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(finding, "_plan", interrupt)
    with pytest.raises(SearchInterrupted) as ended:
        find(project, starts=3)
    assert [len(server.starts) for server in read_capacity(ended.value.path).servers] == [1]


def test_a_suite_without_a_search_and_one_without_limits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the suite tiny has no section `capacity`"):
        find(make_project(tmp_path / "without", x=""))
    project = project_of(tmp_path / "limits", x="")
    project.thresholds.unlink()
    with pytest.raises(UserError, match="tiny has no limits"):
        find(project)


def test_limits_of_single_servers_are_not_asked(tmp_path: Path) -> None:
    project = project_of(tmp_path, x="")
    own = "servers:\n  x:\n    tiny:\n      limits:\n        loss_ratio: {max: 50%, reason: it may}\n"
    project.thresholds.write_text(project.thresholds.read_text() + own)
    found = limits_of(thresholds_of(project), "tiny")
    assert [(each.metric, each.side, each.value) for each in found] == [("loss_ratio", "max", 0.01)]


def test_the_command_says_it_in_a_few_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = project_of(tmp_path / "checkout", x="", late="exits")
    monkeypatch.setenv("PUSHBENCH_ROOT", str(project.root))
    assert call(monkeypatch, "x") == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(
        "tiny: the most clients within the limits of the suite\n\nx: 80 clients [80 to 120]\n"
    )
    assert "  ended by  loss 10 %, limit 1 %\n" in printed.out
    assert max(map(len, printed.out.splitlines())) <= 80
    assert "record out/capacity/" in printed.err
    assert call(monkeypatch, "x", "late", "--json") == 1, "a server failed"
    report = CapacityReport.model_validate(json.loads(capsys.readouterr().out))
    assert report.results == results_of(report.record)
    assert {each.server: each.carried for each in report.results} == {"late": None, "x": 80}


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    options = ("--driver", "process", "--skip-verify", "--starts", "1")
    monkeypatch.setattr(sys, "argv", ["pushbench", "capacity", *arguments, *options])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)
