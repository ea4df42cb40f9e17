"""A run of a server elsewhere is judged like every other, except for metrics that could not be measured."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from pushbench.cli import app
from pushbench.judging.verdict import judge
from pushbench.metrics.definitions import metrics_of
from pushbench.records import history
from pushbench.records.record import Elsewhere, Record
from pushbench.records.runs import past_of
from pushbench.records.vocabulary import ORIGINAL
from pushbench.reporting.again import command
from pushbench.reporting.notes import origin, split
from pushbench.reporting.report import html, markdown, render_terminal
from tests.factories import ENVIRONMENT, STAGES, make_record, make_stage, make_thresholds, make_trial

REMOTE = ENVIRONMENT.model_copy(
    update={"driver": "remote", "server_cpus": [], "generator_cpus": [0, 1, 2, 3], "key": "e15e1e15e1e1"}
)
CHAT = Elsewhere(url="wss://chat.example.org", protocol="chat/protocol.yml", ca="own-ca.pem", owner_agreed=True)
LIMITS = """\
version: 1
suites:
  whiteboard:
    limits:
      loss_ratio: {max: 1%}
      cpu_cores: {max: 0.001}
      memory_bytes.peak: {max: 1MB}
    regressions:
      cpu_seconds_per_delivery: {margin: 5%}
      delivery_seconds.p95: {margin: 15%}
servers:
  my-chat:
    whiteboard:
      limits:
        delivery_seconds.p95: {max: 3ms, reason: its owner says so}
"""
METERED = {name for name, metric in metrics_of(ORIGINAL).items() if metric.metered}


def record(number: int = 1, p95: float = 0.0021, *, driver: str = "remote") -> Record:
    unknown: dict[str, float | None] = dict.fromkeys(METERED) if driver == "remote" else {}
    stages = [make_stage(clients, {**unknown, "delivery_seconds.p95": p95}) for clients in STAGES]
    changed: dict[str, Any] = {"environment": REMOTE, "elsewhere": {"my-chat": CHAT}} if driver == "remote" else {}
    created, id_ = f"2026-11-{number:02d}T10:15:00+00:00", f"202611{number:02d}T101500Z-000000"
    trial = make_trial("my-chat", results=stages, reported=None)
    return make_record([trial], created=created, id=id_, **changed)


def test_limits_on_what_nobody_metered_are_not_asked(tmp_path: Path) -> None:
    thresholds = make_thresholds(tmp_path, LIMITS, ["my-chat"])
    verdict = judge(record(), thresholds)
    assert (verdict.outcome, verdict.reasons) == ("pass", [])
    assert {limit.metric for limit in verdict.limits} == {"loss_ratio", "delivery_seconds.p95"}
    assert "it runs elsewhere: its CPU and memory are not known" in " ".join(verdict.notes)
    here = judge(record(driver="process"), thresholds)
    assert here.outcome == "fail"
    assert not any("elsewhere" in note for note in here.notes)


def test_a_limit_of_its_name_is_judged(tmp_path: Path) -> None:
    verdict = judge(record(p95=0.004), make_thresholds(tmp_path, LIMITS, ["my-chat"]))
    assert verdict.outcome == "fail"
    assert verdict.reasons[0] == "my-chat: delivery p95 4 ms at 100 clients, limit 3 ms"


@pytest.mark.slow
@pytest.mark.parametrize(("p95", "outcome"), [(0.0021, "pass"), (0.0029, "fail")])
def test_its_history_is_that_of_its_name(p95: float, outcome: str, tmp_path: Path) -> None:
    for number in range(1, 16):
        history.append(tmp_path, record(number, 0.0021 + number % 3 * 1e-5))
    for number in range(16, 20):
        history.append(tmp_path, record(number, p95 + number % 3 * 1e-5))
    run = record(20, p95)
    verdict = judge(run, make_thresholds(tmp_path, LIMITS, ["my-chat"]), past_of(tmp_path, run, tmp_path / "cache"))
    assert verdict.outcome == outcome, verdict.reasons
    assert {level.metric for level in verdict.levels} == {"delivery_seconds.p95"}


def test_readers_see_where_it_runs_and_a_dash_for_what_is_not_known(tmp_path: Path) -> None:
    run = record()
    verdict = judge(run, make_thresholds(tmp_path, LIMITS, ["my-chat"]))
    assert split(run.environment) == "server elsewhere, generator on CPUs 0-3"
    assert origin(run).endswith("1 round, my-chat at wss://chat.example.org")
    for text in (render_terminal(run, verdict), markdown(run, verdict), html(run, verdict)):
        assert "wss://chat.example.org" in text
        assert "None" not in text
    rows = [line.split() for line in render_terminal(run, verdict).splitlines()]
    assert ["CPU", "cores", "-"] in rows
    assert ["Memory", "peak", "MB", "-"] in rows


def test_the_command_that_repeats_it_names_the_server_as_the_first_one_did() -> None:
    again = command(record())
    assert again.startswith(
        "./pushbench run --suite whiteboard --profile quick --url wss://chat.example.org --protocol chat/protocol.yml "
        "--name my-chat --ca own-ca.pem --owner-agreed "
    )
    _, _, *arguments = shlex.split(again)
    found: Any = typer.main.get_command(app)
    found.commands["run"].make_context("pushbench", arguments)


def test_the_command_that_repeats_one_of_the_catalog_names_its_folder() -> None:
    run = record().model_copy(update={"elsewhere": {"my-chat": Elsewhere(url="wss://chat.example.org")}})
    assert "--servers my-chat" in command(run)
    assert "--driver" not in command(run)
