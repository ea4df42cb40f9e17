"""Commands over servers of several suites: one record each, in the words of each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from pushbench.cli.conclusion import Conclusion, exit_with, thresholds_of
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.measuring.preparation import by_suite
from tests.cli.test_cli import Pushbench, mistake, pushbench
from tests.support import SUITE, add_server, make_project

pytestmark = pytest.mark.slow

__all__ = ["pushbench"]

LETTERS = """\
title: Letters
description: Nothing is really sent.
protocols: [letters-http]
parameters: {}
words:
  work: {name: reply, plural: Replies}
  exchanges: {letter: {plural: Letters, latencies: {reply: {title: Reply, until: last}}}}
  headline: reply_seconds.p95
limits:
  loss_ratio: {max: 2%}
  reply_seconds.p95: {max: 1s}
""" + SUITE[SUITE.index("profiles:") :]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A checkout with two servers of the suite tiny, and one of letters, which has limits only in its own file."""
    project = make_project(tmp_path, alpha="", beta="")
    (project.scenarios / "letters.yml").write_text(LETTERS)
    (project.scenarios / "letters.js").write_text("")
    add_server(project, "post")
    file = project.servers / "post" / "server.yml"
    file.write_text(file.read_text().replace("suite: tiny", "suite: letters").replace("tiny-json", "letters-http"))
    return project


def test_servers_are_of_the_suites_that_they_name(project: Project) -> None:
    assert by_suite(project, "", []) == {"tiny": ["alpha", "beta"], "letters": ["post"]}
    assert by_suite(project, "letters", ["tier:baseline"]) == {"letters": ["post"]}
    assert by_suite(project, "", ["post"]) == {"letters": ["post"]}
    with pytest.raises(UserError, match="alpha belongs to the suite 'tiny', not to 'letters'"):
        by_suite(project, "letters", ["alpha"])
    with pytest.raises(UserError, match="unknown suite 'leters'; did you mean letters"):
        by_suite(project, "leters", [])


def test_a_plan_tells_each_suite_and_programs_get_a_list(pushbench: Pushbench) -> None:
    said = pushbench("plan").stdout
    assert "tiny, quick: 10, 20 clients" in said
    assert "letters, quick: 10, 20 clients" in said
    plans = json.loads(pushbench("plan", "--json").stdout)
    assert {each["suite"]: len(each["trials"]) for each in plans} == {"tiny": 2, "letters": 1}
    assert json.loads(pushbench("plan", "--servers", "post", "--json").stdout)["suite"] == "letters"


def test_the_reasons_of_all_suites_stand_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    failed = Conclusion(1, None, ["tiny: alpha: loss 2 % at 10 clients, limit 1 %", "tiny: beta: not built"])
    with pytest.raises(typer.Exit) as ended:
        exit_with([failed, Conclusion(0, None)], as_json=False)
    assert ended.value.exit_code == 1
    assert capsys.readouterr().out.splitlines() == [
        "",
        "Reasons, all 2 suites",
        *(f"  {each}" for each in failed.reasons),
    ]
    for silent in ([failed], [Conclusion(0, None), Conclusion(0, None)]):
        with pytest.raises(typer.Exit):
            exit_with(silent, as_json=False)
        assert not capsys.readouterr().out, "one suite has said its reasons, and none has nothing to say"


def test_a_run_makes_a_record_of_each_suite_in_its_words(pushbench: Pushbench, project: Project) -> None:
    done = pushbench("run", "--servers", "alpha,post", "--profile", "smoke", "--skip-verify", "--driver", "process")
    letters = done.stdout[done.stdout.index("letters, profile smoke") :]
    assert "Letters in" in letters
    assert "Replies out" in letters
    assert "Reply p50" in letters
    assert "CPU / 1,000 replies" in letters
    assert "eliver" not in letters, "a word of another suite"
    records = [json.loads(path.read_text()) for path in (project.out / "records").glob("*.json")]
    [own] = [record for record in records if record["suite"] == "letters"]
    assert own["words"]["work"]["name"] == "reply"
    metrics = own["trials"][0]["stages"][0]["metrics"]
    assert metrics["reply_seconds.p95"] is not None
    assert "cpu_seconds_per_reply" in metrics
    assert not [name for name in metrics if "deliver" in name or "echo" in name]


def test_the_limits_of_a_suites_own_file_hold_until_thresholds_yml_has_others(project: Project) -> None:
    def limits() -> dict[str, float]:
        return {limit.of.title: limit.bound.value for limit in thresholds_of(project).suite("letters").limits}

    assert limits() == {"Loss": 0.02, "Reply p95": 1.0}
    before = thresholds_of(project).digest
    with project.thresholds.open("a") as file:
        file.write("  letters: {limits: {reply_seconds.p95: {max: 2s}}}\n")
    assert limits() == {"Loss": 0.02, "Reply p95": 2.0}
    (project.scenarios / "letters.yml").write_text(LETTERS.replace("2%", "3%"))
    assert limits() == {"Loss": 0.03, "Reply p95": 2.0}
    assert len({before, thresholds_of(project).digest}) == 2
    (project.scenarios / "letters.yml").write_text(
        LETTERS.replace("reply_seconds.p95: {max", "replay_seconds.p95: {max")
    )
    with pytest.raises(UserError, match=r"letters.yml:\d+: limits.replay_seconds.p95: unknown metric"):
        thresholds_of(project)


def test_a_suite_that_cannot_run_here_is_left_out_and_told(pushbench: Pushbench, project: Project) -> None:
    file = project.servers / "post" / "server.yml"
    file.write_text(file.read_text().replace('python: ">=3.11"', 'nosuchthing: ">=1"'))
    arguments = ["run", "--profile", "smoke", "--skip-verify", "--driver", "process"]
    done = pushbench(*arguments)
    assert "letters: left out: no server of letters can be built here" in done.stderr
    assert "tiny, profile smoke" in done.stdout
    assert pushbench(*arguments, "--suite", "letters").returncode == 2


def test_what_takes_one_suite_asks_for_it(pushbench: Pushbench) -> None:
    said = mistake(pushbench("calibrate", "measure"))
    assert said == "pushbench: servers of 2 suites: tiny, letters; choose one with --suite"
