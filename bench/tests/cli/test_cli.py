"""The command line: one clear line and exit code 2 for a mistake, JSON on stdout on request."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pushbench.cli import main
from pushbench.cli.options import names, parameters
from pushbench.cli.run import with_resume_value
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.measuring import preparation
from tests.support import FAKES, add_server, fake_generator, make_project

BENCH = FAKES.parents[1]


@dataclass(frozen=True)
class Done:
    """The output and the exit code of a command."""

    returncode: int
    stdout: str
    stderr: str


Pushbench = Callable[..., Done]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, alpha="", beta="")


@pytest.fixture
def pushbench(project: Project, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Pushbench:
    """`pushbench("plan", "--json")` runs the command line on the checkout of the test, in this process."""
    generator = fake_generator(project.root / "fake-k6")
    monkeypatch.setattr(preparation, "build_generator", lambda *_: generator)
    monkeypatch.setenv("PUSHBENCH_ROOT", str(project.root))
    monkeypatch.setenv("PUSHBENCH_LOCK", str(project.root / "lock"))

    def run(*arguments: str) -> Done:
        monkeypatch.setattr("sys.argv", ["pushbench", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        said = capfd.readouterr()
        return Done(int(exit_.value.code or 0), said.out, said.err)

    return run


def in_a_process(root: Path, *arguments: str) -> Done:
    """Run the command line on the checkout at `root` as a process, with a fake generator."""
    done = subprocess.run(
        [sys.executable, str(FAKES / "command_line.py"), str(fake_generator(root / "fake-k6")), *arguments],
        env={**os.environ, "PYTHONPATH": str(BENCH), "PUSHBENCH_ROOT": str(root), "PUSHBENCH_LOCK": str(root / "lock")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def mistake(done: Done) -> str:
    """The only line of the message."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--suite", "tiny", "--servers", "alhpa"],
            "pushbench: unknown server 'alhpa'; did you mean alpha? known: alpha, beta",
        ),
        (["--suite", "tinny"], "pushbench: unknown suite 'tinny'; did you mean tiny? known: tiny"),
        (["--suite", "tiny", "--profile", "smok"], "pushbench: unknown profile of tiny 'smok'; did you mean smoke?"),
        (["--suite", "tiny", "--parameter", "size"], "pushbench: --parameter: expected NAME=VALUE, found 'size'"),
        (["--suite", "tiny", "--parameter", "size=1"], "pushbench: unknown parameter of tiny 'size'"),
    ],
)
def test_a_name_that_does_not_exist_is_one_line(pushbench: Pushbench, arguments: list[str], told: str) -> None:
    assert mistake(pushbench("plan", *arguments)).startswith(told)


def test_accepting_what_another_commit_says_needs_that_commit(pushbench: Pushbench) -> None:
    told = mistake(pushbench("compare", "--base", "main", "--accept"))
    assert told == "pushbench: --accept needs --head; the lines of the work tree apply without --accept"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["compare", "--base", "main"], "both arms of a comparison"),
        (["bisect", "--server", "alpha", "--good", "HEAD~1", "--bad", "HEAD"], "both arms of a comparison"),
        (["calibrate", "measure"], "both arms of a comparison"),
        (["capacity"], "a search plays tens of short loads"),
    ],
)
def test_what_is_not_done_in_a_cluster_is_refused_with_the_reason(
    pushbench: Pushbench, command: list[str], why: str
) -> None:
    told = mistake(pushbench(*command, "--driver", "kubernetes"))
    assert told.startswith(f"pushbench: the driver kubernetes only runs and verifies servers: {why}")
    assert told.endswith("; choose process or docker")


def test_broken_yaml_is_one_line_with_its_place(project: Project, pushbench: Pushbench) -> None:
    file = project.servers / "beta" / "server.yml"
    file.write_text(file.read_text().replace("tier: baseline", "tier: [baseline"))
    told = mistake(pushbench("plan", "--suite", "tiny"))
    assert told.startswith(f"pushbench: {file}:7: not valid YAML: ")


def test_a_port_in_use_is_one_line(pushbench: Pushbench) -> None:
    with socket.create_server(("0.0.0.0", 0)) as taken:
        port = taken.getsockname()[1]
        told = mistake(pushbench("run", "--suite", "tiny", "--port", str(port)))
    assert (
        told
        == f"pushbench: port {port} cannot be used: Address already in use; choose another with --port, or leave it out"
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"schema": 9}', "the record has schema 9, this pushbench reads up to 1; update pushbench"),
        ("{", "not a record"),
    ],
)
def test_a_record_that_cannot_be_read_is_one_line(
    project: Project, pushbench: Pushbench, content: str, told: str
) -> None:
    file = project.root / "record.json"
    file.write_text(content)
    assert told in mistake(pushbench("run", "--resume", str(file)))


def test_wrong_usage_has_exit_code_2(pushbench: Pushbench) -> None:
    for arguments in (["rum"], ["run", "--rounds", "0"], ["run", "--port", "many"]):
        done = pushbench(*arguments)
        assert done.returncode == 2, arguments
        assert "Traceback" not in done.stderr


def test_lists_are_json_for_programs(pushbench: Pushbench) -> None:
    servers = json.loads(pushbench("servers", "--json").stdout)
    assert [(server["id"], server["missing"]) for server in servers] == [("alpha", []), ("beta", [])]
    suites = json.loads(pushbench("suites", "--json").stdout)
    assert list(suites[0]["profiles"]) == ["smoke", "quick"]
    plan = json.loads(pushbench("plan", "--suite", "tiny", "--rounds", "2", "--json").stdout)
    assert len(plan["trials"]) == 4
    assert plan["seconds"] > 0


def test_lists_are_tables_for_people(pushbench: Pushbench) -> None:
    listed = pushbench("servers").stdout.splitlines()
    assert listed[0].split() == ["id", "title", "language", "suite", "protocol", "tier", "toolchains"]
    assert "python 3." in listed[1]
    assert "board_size=10" in pushbench("suites").stdout
    assert "2      1      " in pushbench("plan", "--suite", "tiny").stdout


@pytest.mark.slow
def test_a_server_that_does_not_build_fails_the_build(project: Project, pushbench: Pushbench) -> None:
    assert pushbench("build", "--suite", "tiny").returncode == 0
    file = add_server(project, "gamma").file
    file.write_text(file.read_text().replace("import os;", "raise SystemExit(5);"))
    done = pushbench("build", "--suite", "tiny")
    assert done.returncode == 1
    assert "gamma: failed to build" in done.stderr
    assert done.stderr.splitlines()[-1] == "failed: gamma"


@pytest.mark.slow
def test_a_folder_is_tested_once_and_a_variant_with_other_tests_for_itself(
    project: Project, pushbench: Pushbench
) -> None:
    file = add_server(project, "gamma").file
    program = "import os; open('target/tested', 'a').write('{} ')"
    own = f"  test: [[python, -c, {json.dumps(program.format('own'))}]]\n  start:"
    other = f"{{test: [[python, -c, {json.dumps(program.format('other'))}]]}}"
    variants = f"variants:\n  fast: {{env: {{MODE: fast}}}}\n  odd: {{process: {other}}}\n"
    file.write_text(file.read_text().replace("  start:", own) + variants)
    done = pushbench("build", "--suite", "tiny", "--servers", "gamma*", "--test")
    assert done.returncode == 0, done.stderr
    assert (file.parent / "target" / "tested").read_text() == "own other "


def with_tests(project: Project, name: str, program: str) -> None:
    """Add a test command to a server's server.yml."""
    file = project.servers / name / "server.yml"
    file.write_text(file.read_text().replace("  start:", f"  test: [[python, -c, {json.dumps(program)}]]\n  start:"))


@pytest.mark.slow
def test_servers_are_tested_two_at_a_time(project: Project, pushbench: Pushbench) -> None:
    waits = "import os, time; open('target/tested', 'w').close(); end = time.monotonic() + 60\n"
    waits += "while not os.path.exists('../{}/target/tested'): assert time.monotonic() < end; time.sleep(0.005)"
    with_tests(project, "alpha", waits.format("beta"))
    with_tests(project, "beta", waits.format("alpha"))
    done = pushbench("build", "--suite", "tiny", "--test")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_server_whose_tests_fail_is_named_with_their_output_and_others_are_tested(
    project: Project, pushbench: Pushbench
) -> None:
    with_tests(project, "alpha", "print('what was wrong'); raise SystemExit(3)")
    with_tests(project, "beta", "open('target/tested', 'w').close()")
    done = pushbench("build", "--suite", "tiny", "--test")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "failed: alpha"
    assert "alpha: `python -c" in done.stderr and "what was wrong" in done.stderr
    assert (project.servers / "beta" / "target" / "tested").exists()


@pytest.mark.slow
def test_a_run_ends_with_the_report_and_the_exit_code_of_its_verdict(project: Project) -> None:
    done = in_a_process(
        project.root, "run", "--suite", "tiny", "--profile", "smoke", "--servers", "alpha", "--skip-verify"
    )
    assert done.returncode in (0, 3), done.stderr  # 3: the machine is too busy for a valid trial
    assert "Loss" in done.stdout
    assert "[1/1] alpha: starting" in done.stderr
    record = next(project.records.glob("*.json"))
    last = done.stderr.splitlines()[-1]
    assert "out/report.md" in last
    assert f"out/records/{record.name}" in last
    assert "alpha" in (project.out / "report.md").read_text()


@pytest.mark.slow
def test_a_broken_limit_fails_the_run_and_json_has_stdout_for_itself(project: Project) -> None:
    project.thresholds.write_text(
        "version: 1\nsuites: {tiny: {limits: {delivery_seconds.p95: {max: 1ms}}}}\n"  # the fake's values are 2 ms
    )
    done = in_a_process(
        project.root,
        "run",
        "--suite",
        "tiny",
        "--servers",
        "alpha",
        "--skip-verify",
        "--json",
        "--watch",
        "--out",
        f"{project.root}/x",
    )
    assert json.loads(done.stdout)["verdict"]["outcome"] in ("fail", "invalid")
    assert "--watch: stderr is not a terminal; showing the usual progress instead" in done.stderr.splitlines()
    assert done.returncode in (1, 3)
    assert (project.root / "x" / "report.md").exists()


def test_a_mistake_in_the_thresholds_is_told_before_anything_is_measured(
    project: Project, pushbench: Pushbench
) -> None:
    project.thresholds.write_text("version: 1\nsuites: {tiny: {limits: {los_ratio: {max: 1%}}}}\n")
    told = mistake(pushbench("run", "--suite", "tiny"))
    assert told.startswith(f"pushbench: {project.thresholds}:2: ")
    assert not project.records.exists()


@pytest.mark.timed
def test_help_answers_within_half_a_second() -> None:
    """Half a second of CPU time, since other tests may use the CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pushbench", "--help"],
        env={**os.environ, "PYTHONPATH": str(BENCH)},
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not imported & {"pydantic", "rich", "hdrh.histogram", "yaml", "websockets"}


def test_resume_alone_means_the_latest() -> None:
    assert with_resume_value(["run", "--resume"]) == ["run", "--resume", "latest"]
    assert with_resume_value(["run", "--resume", "--json"]) == ["run", "--resume", "latest", "--json"]
    assert with_resume_value(["run", "--resume", "2026", "--json"]) == ["run", "--resume", "2026", "--json"]


def test_lists_of_names_and_parameters_are_read_leniently() -> None:
    assert names(" a, b ,,c") == ["a", "b", "c"]
    assert parameters(["a=1", "b=x=y"]) == {"a": "1", "b": "x=y"}
    with pytest.raises(UserError, match="expected NAME=VALUE, found '=1'"):
        parameters(["=1"])
