"""Reports of a record: at 80 and 160 columns, in Markdown, and whatever servers write into it.

The whole reports are in tests/golden. After an intended change, `PUSHBENCH_GOLDEN=write pytest
tests/reporting/test_report.py` rewrites them. Review the diff.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from pushbench.judging.verdict import Verdict, judge
from pushbench.records.record import Finding, Record, StagePlan, Trial, Validity
from pushbench.reporting import notes, report
from tests.factories import (
    CLASSROOM_SCHEDULE,
    ENVIRONMENT,
    SERVERS,
    by_method_1,
    failed,
    in_classroom,
    invalid,
    make_record,
    make_thresholds,
    make_trial,
    measured,
)
from tests.reporting.shown_records import CONTROL, bad, hostile, widest

GOLDEN = Path(__file__).parents[1] / "golden"

Judged = Callable[[Record], tuple[Record, Verdict]]


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    return lambda record: (record, judge(record, make_thresholds(tmp_path)))


def good() -> Record:
    return make_record([make_trial(server) for server in SERVERS])


def rounds() -> Record:
    return make_record(
        [
            measured(server, {"delivery_seconds.p99": 0.00412 * factor, "loss_ratio": 0.0001 * index}, round_=round_)
            for round_, factor in enumerate((1.0, 1.31, 1.13), start=1)
            for index, server in enumerate(SERVERS)
        ]
    )


def classroom() -> Record:
    """A record with stages on large boards, too; a server fell behind in one of them."""
    late = {"loss_ratio": 0.131, "delivery_seconds.p95": 2.1}
    swapped = [Finding(code="other_process", message="cc1plus (pid 31) worked", stage=stage) for stage in (1, 3, 5)]
    return make_record(
        [
            in_classroom("fastapi", late),
            in_classroom("node-ws").model_copy(
                update={"validity": Validity(valid=True, reasons=[], warnings=swapped)},
            ),
            in_classroom("spring-stomp"),
            in_classroom("spring-websocket"),
        ],
        profile="full",
        schedule=CLASSROOM_SCHEDULE,
    )


def method_1() -> Record:
    """A record from before throughput counted arrivals."""
    return by_method_1(make_record([make_trial("fastapi"), make_trial("node-ws")]))


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("PUSHBENCH_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("of", [good, bad, rounds, classroom, method_1])
def test_looks_on_a_terminal(judged: Judged, of: Callable[[], Record], width: int) -> None:
    text = report.render_terminal(*judged(of()), width=width)
    golden(f"{of.__name__}-{width}.txt", text)
    assert widest(text) <= width


@pytest.mark.parametrize("of", [good, bad, classroom])
def test_looks_in_markdown(judged: Judged, of: Callable[[], Record]) -> None:
    golden(f"{of.__name__}.md", report.markdown(*judged(of())))


def test_looks_of_a_verdict(judged: Judged) -> None:
    golden("verdict-80.txt", report.render_verdict(*judged(bad())))


def test_looks_of_one_trial(judged: Judged) -> None:
    record, verdict = judged(bad())
    golden("trial-80.txt", report.render_trial(record, verdict, record.trials[0]))


def test_looks_of_one_trial_with_stages_that_have_names(judged: Judged) -> None:
    record, verdict = judged(classroom())
    golden("classroom-trial-80.txt", report.render_trial(record, verdict, record.trials[0]))


@pytest.mark.parametrize(
    ("throughput", "shown"),
    [(9_901.0, ["9,901"]), (9_899.0, ["9,899", "of 10,000"]), (4_000.0, ["4,000", "of 10,000"])],
)
def test_what_was_due_stands_beside_throughput_where_a_server_fell_short(
    judged: Judged, throughput: float, shown: list[str]
) -> None:
    text = report.render_terminal(*judged(make_record([measured("node-ws", {"throughput_per_second": throughput})])))
    lines = text.splitlines()
    [at] = [at for at, line in enumerate(lines) if line.startswith("Deliveries out")]
    assert [line.split("/s")[-1].strip() for line in lines[at : at + len(shown)]] == shown
    assert ("of N: so many deliveries per second were due" in text) == (len(shown) == 2)


def test_several_generators_are_in_what_is_said_of_a_run() -> None:
    record = good()
    shared = record.model_copy(update={"environment": record.environment.model_copy(update={"generators": 2})})
    assert notes.environment(shared.environment).endswith("process driver, 2 generators")
    assert "generators" not in notes.environment(record.environment)
    awake = record.environment.model_copy(update={"awake": True})
    assert notes.environment(awake) == f"{notes.environment(record.environment)}, CPUs kept awake"


@pytest.mark.parametrize(
    ("awake", "code", "helps"), [(None, "steal", True), (True, "steal", False), (None, "swap", False)]
)
def test_a_run_that_the_hypervisor_disturbed_says_what_may_help(
    judged: Judged, awake: bool | None, code: str, helps: bool
) -> None:
    found = Finding(code=code, message="the hypervisor took 2.5 % of the CPU time, above 1 %", stage=0)
    trial = make_trial("go").model_copy(update={"validity": Validity(valid=False, reasons=[found], warnings=[])})
    record = make_record([trial], environment=ENVIRONMENT.model_copy(update={"awake": awake}))
    text = report.render_terminal(*judged(record))
    assert ("kept awake: see docs/method.md" in text) is helps


def test_hostile_text_reaches_neither_the_terminal_nor_the_layout(judged: Judged) -> None:
    record, verdict = judged(hostile())
    for text in (
        report.render_terminal(record, verdict),
        report.render_verdict(record, verdict),
        report.render_trial(record, verdict, record.trials[0]),
    ):
        assert CONTROL.search(text) is None
        assert "[red]" in text  # as text, not as a style
        assert widest(text) <= 80


def test_hostile_text_is_text_in_markdown(judged: Judged) -> None:
    text = report.markdown(*judged(hostile()))
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert CONTROL.search(text) is None
    assert "<script" not in html
    assert "<a " not in html
    assert "@team" not in text.replace("```", "").split("## Reproduce")[0].split("text\n")[0]
    for table in re.findall(r"(?:^\| .*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1
    assert html.count("<h1>") == 1


def test_a_log_cannot_end_its_code_block(judged: Judged) -> None:
    text = report.markdown(*judged(make_record([failed("node-ws", log="a\n```\n# not a heading")])))
    assert "not a heading" not in "".join(re.findall(r"<h1>.*?</h1>", MarkdownIt().render(text)))


def test_without_colour_there_is_no_control_code(judged: Judged) -> None:
    assert CONTROL.search(report.render_terminal(*judged(bad()))) is None


def test_colour_adds_nothing_but_style(judged: Judged) -> None:
    plain = report.render_terminal(*judged(bad()), color=False)
    coloured = report.render_terminal(*judged(bad()), color=True)
    assert "\x1b[" in coloured
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in stripped.splitlines()] == plain.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_more_servers_than_fit_go_below(judged: Judged, width: int) -> None:
    names = [*SERVERS, "node-cluster-redis", "fastapi-workers-redis", "socketio-game/node-uws", "socketio-game/bun-ws"]
    record, verdict = judged(make_record([make_trial(name) for name in names]))
    text = report.render_terminal(record, verdict, width=width)
    assert widest(text) <= width
    blocks = text.count("Clients ")
    assert len(re.findall(r"10,000", text)) == len(names)
    assert blocks >= 2 or width == 160


VARIANTS = [f"socketio-game/{each}" for each in ("bun-native", "bun-ws", "node-uws", "node-ws")]


@pytest.mark.parametrize(
    ("servers", "width", "headings"),
    [
        (VARIANTS, 80, [["socketio-game/", "bun-native", "bun-ws", "node-uws", "node-ws"]]),
        (VARIANTS, 60, [["socketio-game/", "bun-native", "bun-ws", "node-uws"]]),
        (VARIANTS, 64, [["bun-", "bun-", "node-", "node-"], ["socketio-game/", "native", "ws", "uws", "ws"]]),
        (VARIANTS, 160, [VARIANTS]),
        (
            ["go", *VARIANTS[:3]],
            80,
            [["socketio-game/", "socketio-game/"], ["go", "bun-native", "bun-ws"]],
        ),
        (
            ["go", "fastapi-workers-redis", "node-cluster-redis", "spring-websocket"],
            80,
            [["fastapi-", "node-", "spring-"], ["workers-redis", "go", "cluster-redis", "websocket"]],
        ),
    ],
)
def test_ids_that_are_too_long_take_two_lines_at_most(
    judged: Judged, servers: list[str], width: int, headings: list[list[str]]
) -> None:
    record, verdict = judged(make_record([make_trial(server) for server in servers]))
    before, rule, _ = report.render_terminal(record, verdict, width=width).partition("\nClients ")
    assert rule
    assert [line.split() for line in before.split("\n\n")[-1].splitlines()] == headings


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ({"clients": 500, "name": "open-200", "parameters": {"streams_per_second": 200}}, "500 clients, 200 streams/s"),
        ({"clients": 10, "closed": True, "name": "closed-10"}, "closed-10: 10 clients in a closed loop"),
        (
            {"clients": 500, "closed": True, "name": "paced", "parameters": {"tokens_per_second": 50}},
            "paced: 500 clients in a closed loop, 50 tokens/s",
        ),
        ({"clients": 1}, "1 client"),
    ],
)
def test_a_heading_says_the_load_of_its_stage(stage: dict[str, Any], said: str) -> None:
    planned = StagePlan(**stage, ramp_seconds=1, settle_seconds=1, steady_seconds=1)
    given: dict[str, Any] = {"streams_per_second": 0, "tokens_per_second": 0, "arrivals": "poisson"}
    schedule = good().schedule.model_copy(update={"stages": [planned]})
    record = make_record([], suite="token-stream", parameters=given, schedule=schedule)
    assert notes.stage_heading(planned).endswith(said)
    assert notes.heading(record, 0).endswith(said + ("" if planned.closed else " (arrivals poisson)"))
    assert notes.heading(record) == "token-stream, profile quick (arrivals poisson)"


def test_a_stage_is_chosen_by_its_index(judged: Judged) -> None:
    record, verdict = judged(good())
    text = report.render_terminal(record, verdict, stages=[1])
    assert "300 clients" in text
    assert "1,000 clients" not in text


def test_where_all_stages_have_parameters_of_their_own_the_largest_is_shown(judged: Judged) -> None:
    of = classroom()
    schedule = of.schedule.model_copy(update={"stages": of.schedule.stages[-2:]})
    trials = [trial.model_copy(update={"stages": trial.stages[-2:]}) for trial in of.trials]
    text = report.render_terminal(*judged(of.model_copy(update={"schedule": schedule, "trials": trials})))
    assert text.startswith("whiteboard, profile full, classroom-1000: 1,000 clients (board_size 100")
    assert text.count("Loss") == 1


def test_a_metric_with_a_broken_limit_is_shown_even_where_it_usually_is_not(tmp_path: Path) -> None:
    limits = "version: 1\nsuites:\n  whiteboard:\n    limits: {duplicate_ratio: {max: 0%}}\n"
    record = make_record([measured("node-ws", {"duplicate_ratio": 0.02})])
    text = report.render_terminal(record, judge(record, make_thresholds(tmp_path, limits)))
    assert re.search(r"Duplicates +% +2 !", text)


def test_warnings_that_differ_in_more_than_their_numbers_are_told_apart(tmp_path: Path) -> None:
    late = [
        Finding(code="send_lateness", message=f"the generator sent {number} ms late at {point}", stage=stage)
        for stage, number in ((2, 0.5), (3, 0.62))
        for point in ("p95", "p99")
    ]
    record = make_record([make_trial("go", validity=Validity(valid=True, reasons=[], warnings=late))])
    text = report.render_terminal(record, judge(record, make_thresholds(tmp_path, servers=["go"])), width=160)
    for point in ("p95", "p99"):
        told = f"go: the generator sent 0.62 ms late at {point}, at 1,000 clients (also at 700 clients)"
        assert text.count(told) == 1


def test_json_has_the_numbers_in_base_units_and_the_verdict(judged: Judged) -> None:
    data = report.as_json(*judged(rounds()))
    node = next(server for server in data["servers"] if server["server"] == "node-ws")
    largest = node["stages"][-1]
    assert (largest["clients"], node["trials"], node["valid_trials"]) == (1000, 3, 3)
    spread = largest["metrics"]["delivery_seconds.p99"]
    assert (spread["min"], spread["median"]) == (0.00412, pytest.approx(0.00412 * 1.13))
    assert largest["metrics"]["services_cpu_cores"] is None
    assert data["verdict"]["outcome"] == "pass"
    assert data["verdict"]["schema"] == 1


def test_numbers_of_invalid_trials_are_used_only_where_no_trial_is_valid(judged: Judged) -> None:
    def loss(*trials: Trial) -> float:
        (server,) = report.as_json(*judged(make_record(trials)))["servers"]
        return float(server["stages"][-1]["metrics"]["loss_ratio"]["median"])

    disturbed = invalid(measured("node-ws", {"loss_ratio": 0.5}, round_=2))
    assert loss(make_trial("node-ws"), disturbed) == 0.0
    assert loss(disturbed) == 0.5
