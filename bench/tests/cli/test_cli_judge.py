"""`pushbench judge` and `pushbench show` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pushbench.cli.conclusion import conclude, thresholds_of
from pushbench.foundation.project import Project
from pushbench.judging.verdict import Verdict
from pushbench.metrics.definitions import BY_DUE
from pushbench.records import history
from tests.cli.checkouts import LIMITS, Checkout
from tests.factories import (
    CLASSROOM_SCHEDULE,
    SERVERS,
    by_method_1,
    in_classroom,
    invalid,
    make_record,
    make_trial,
    measured,
)


@pytest.fixture
def checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Checkout:
    return Checkout(tmp_path, capsys, monkeypatch)


def test_judge_ends_with_the_exit_code_of_the_verdict(checkout: Checkout) -> None:
    checkout.write(make_record([make_trial("node-ws")], id="20261121T100000Z-00000a"))
    checkout.write(make_record([measured("node-ws", {"loss_ratio": 0.02})], id="20261121T110000Z-00000b"))
    checkout.write(make_record([invalid(make_trial("node-ws"))], id="20261121T120000Z-00000c"))
    checkout.write(make_record([], planned=[make_trial("node-ws")], id="20261121T130000Z-00000d"))
    checkout.write(make_record([make_trial("node-ws")], planned=[make_trial("fastapi")], id="20261121T140000Z-00000e"))
    assert [checkout("judge", f"20261121T1{hour}")[0] for hour in "01234"] == [0, 1, 3, 3, 3]
    assert checkout("judge", "--allow-inconclusive")[0] == 0
    assert "Verdict: INCONCLUSIVE" in checkout("judge")[1]


def test_judge_prints_the_verdict_as_json_and_nothing_else(checkout: Checkout) -> None:
    checkout.write(make_record([measured("node-ws", {"loss_ratio": 0.02})]))
    code, out, err = checkout("judge", "--json")
    assert (code, err) == (1, "")
    assert Verdict.model_validate_json(out).reasons == ["node-ws: loss 2 % at 1,000 clients, limit 1 %"]


def test_judge_uses_other_thresholds_when_told(checkout: Checkout) -> None:
    checkout.write(make_record([measured("node-ws", {"loss_ratio": 0.02})]))
    loose = checkout.root / "loose.yml"
    loose.write_text(LIMITS.replace("1%", "5%"))
    assert checkout("judge", "--thresholds", str(loose))[0] == 0


def test_judge_by_the_history_says_what_it_has_and_what_it_lacks(checkout: Checkout) -> None:
    (checkout.root / "thresholds.yml").write_text(LIMITS)
    checkout.write(make_record([make_trial("node-ws")]))
    code, out, _ = checkout("judge", "--history")
    assert code == 3
    assert "not judged against the history: it has no run of whiteboard with the profile quick" in " ".join(out.split())
    for day in range(10, 20):
        run = make_record([make_trial("node-ws")], id=f"202611{day}T101500Z-000000", created=f"2026-11-{day}T10:15:00Z")
        history.append(checkout.root / "history", run)
    code, out, _ = checkout("judge", "--history")
    assert code == 3
    assert "not judged against the history: thresholds.yml has no margin for whiteboard" in " ".join(out.split())
    margin = "    regressions: {cpu_seconds_per_delivery: {margin: 5%}}\n"
    (checkout.root / "thresholds.yml").write_text(LIMITS + margin)
    code, out, _ = checkout("judge", "--history")
    assert code == 0
    assert "Against the history" in out
    assert "CPU per delivery" in out


def test_a_trend_of_method_1_says_how_it_counts(checkout: Checkout) -> None:
    record = make_record([make_trial("node-ws")])
    history.append(checkout.root / "history", by_method_1(record))
    trend = ("history", "node-ws", "--profile", "quick")
    _, out, said = checkout(*trend, "throughput_per_second", "--csv")
    assert said == f"method 1: {BY_DUE} (docs/method.md)\n"
    assert "method" not in out
    assert checkout(*trend, "delivery_seconds.p95", "--csv")[2] == ""
    history.append(checkout.root / "history", record)
    assert checkout(*trend, "throughput_per_second", "--environment", record.environment.key)[2] == ""


def test_show_prints_the_largest_stage_any_other_or_all(checkout: Checkout) -> None:
    checkout.write(make_record([make_trial(server) for server in SERVERS]))
    assert checkout("show")[1].startswith("whiteboard, profile quick, 1,000 clients")
    assert checkout("show", "latest", "--stage", "300")[1].startswith("whiteboard, profile quick, 300 clients")
    assert checkout("show", "--stage", "all")[1].count("Fan-out p99") == 4


def test_show_prints_a_stage_by_its_name(checkout: Checkout) -> None:
    checkout.write(make_record([in_classroom("node-ws")], schedule=CLASSROOM_SCHEDULE))
    shown = checkout("show", "--stage", "classroom-300")[1]
    assert shown.startswith("whiteboard, profile quick, classroom-300: 300 clients (board_size 100")
    assert shown.count("Fan-out p99") == 1
    assert checkout("show", "--stage", "all")[1].count("Fan-out p99") == 6


def test_show_separates_the_tables_of_several_stages(checkout: Checkout) -> None:
    checkout.write(make_record([make_trial(server) for server in SERVERS]))
    assert "\n\nwhiteboard, profile quick, 300 clients" in checkout("show", "--stage", "all")[1]


def test_show_prints_one_trial_with_its_stages(checkout: Checkout) -> None:
    checkout.write(make_record([make_trial("node-ws", 1), make_trial("node-ws", 2)]))
    assert "node-ws, round 2: " in checkout("show", "--trial", "node-ws:2")[1]
    assert "at 300" in checkout("show", "--trial", "node-ws")[1]


def test_show_has_json_and_markdown(checkout: Checkout) -> None:
    checkout.write(make_record([make_trial("node-ws")]))
    assert json.loads(checkout("show", "--json")[1])["servers"][0]["server"] == "node-ws"
    assert checkout("show", "--markdown")[1].startswith("# whiteboard, profile quick")


def test_show_ends_with_0_whatever_the_verdict_is(checkout: Checkout) -> None:
    checkout.write(make_record([measured("node-ws", {"loss_ratio": 0.02})]))
    assert checkout("show")[0] == 0


def test_a_run_ends_with_its_table_a_report_and_the_exit_code(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    project = Project.current()
    record = make_record([measured("node-ws", {"loss_ratio": 0.02})])
    assert conclude(project, record, thresholds_of(project), as_json=False).code == 1
    said = capsys.readouterr()
    assert said.out.endswith("Verdict: FAIL (fail: node-ws)\n")
    assert said.err == f"report out/report.md, record out/records/{record.id}.json\n"
    assert "node-ws: loss 2 % at 1,000 clients, limit 1 %" in (checkout.root / "out" / "report.md").read_text()


def test_without_thresholds_a_run_is_inconclusive(checkout: Checkout) -> None:
    (checkout.root / "thresholds.yml").unlink()
    project = Project.current()
    assert conclude(project, make_record([make_trial("node-ws")]), thresholds_of(project), as_json=True).code == 3


@pytest.mark.parametrize("command", ["show", "judge"])
def test_what_cannot_be_read_has_one_line_and_exit_2(checkout: Checkout, command: str) -> None:
    newer = checkout.root / "newer.json"
    newer.write_text('{"schema": 2}')
    broken = checkout.root / "broken.json"
    broken.write_text('{"schema": 1, "id"')
    undated = checkout.root / "undated.json"
    undated.write_text(make_record([]).model_dump_json(by_alias=True).replace("2026-11-21T10:15:00", "yesterday"))
    for arguments, said in [
        ([str(undated)], "created: "),
        ([], "there is no record yet"),
        (["nowhere"], "there is no record yet"),
        ([str(newer)], "the record has schema 2"),
        ([str(broken)], "not a record"),
    ]:
        code, out, err = checkout(command, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "--stage", "250"], "stages: 100, 300, 700, 1000, or all"),
        (["show", "--trial", "node-ws:9"], "trials: node-ws:1"),
        (["show", "--stage", "all", "--json"], "are mutually exclusive"),
        (["judge", "--thresholds", "nowhere.yml"], "nowhere.yml: no such file"),
    ],
)
def test_what_cannot_be_meant_has_one_line_and_exit_2(checkout: Checkout, arguments: list[str], said: str) -> None:
    checkout.write(make_record([make_trial("node-ws")]))
    code, out, err = checkout(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_a_mistake_in_thresholds_is_told_with_its_line(checkout: Checkout) -> None:
    checkout.write(make_record([make_trial("node-ws")]))
    (checkout.root / "thresholds.yml").write_text(LIMITS.replace("loss_ratio", "lost_ratio"))
    code, _, err = checkout("judge")
    assert code == 2
    assert "thresholds.yml:4: " in err
    assert "did you mean loss_ratio?" in err
