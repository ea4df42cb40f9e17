"""The output of the doctor's findings for maintainers and for programs."""

from __future__ import annotations

import json
import shlex

import pytest
from typer.testing import CliRunner

from pushbench.ci.doctor import gathering
from pushbench.ci.doctor.diagnosis import CHECKS, not_there
from pushbench.ci.doctor.finding import Diagnosis
from pushbench.ci.doctor.showing import render
from pushbench.cli import app
from tests.ci.double_doctor import NAME, Installation

WIDTHS = (60, 80, 160)
HOSTILE = "\x1b]0;owned\x07\x1b[31mred\nok       runner\u202e[bold]x[/bold] `$(id)` ::error::x"


def broken() -> Diagnosis:
    installation = Installation(rules=[], runners=[], labels=[], checks=[])
    installation.permissions["allowed_actions"] = "local_only"
    installation.grants -= {"Variables", "Packages"}
    return installation.diagnosis()


@pytest.mark.parametrize("width", WIDTHS)
def test_lines_fit_the_terminal_but_for_addresses_and_single_words(width: int) -> None:
    text = render(broken(), width=width, color=False)
    for line in text.splitlines():
        alone = len(line.strip(" \\").split()) <= 1 or line.strip().startswith(("--description", "-f "))
        assert len(line) <= width or alone, line
    assert "\x1b" not in text


@pytest.mark.parametrize("width", WIDTHS)
def test_each_check_has_one_line_with_its_state_as_a_word(width: int) -> None:
    text = render(broken(), width=width, color=False)
    heads = [line.split()[:2] for line in text.splitlines() if line[:1].strip()]
    assert [check for _, check in heads[: len(CHECKS)]] == list(CHECKS)
    assert {state for state, _ in heads[: len(CHECKS)]} == {"ok", "missing", "unknown"}
    assert text.splitlines()[-1] == "acme/pushbench: 16 ok, 4 missing, 5 unknown"


@pytest.mark.parametrize("width", WIDTHS)
def test_a_command_is_one_that_a_shell_reads_as_it_is_meant(width: int) -> None:
    diagnosis = broken()
    lines = render(diagnosis, width=width, color=False).replace("\\\n", " ").splitlines()
    shown = [shlex.split(line) for line in lines if line.strip().startswith("gh ")]
    assert shown == [
        fix.command for finding in diagnosis.findings for fix in finding.fixes if fix.command[:1] == ["gh"]
    ]


def test_words_say_what_colours_say() -> None:
    plain = render(broken(), width=80, color=False)
    colored = render(broken(), width=80, color=True)
    assert "\x1b[1;31mmissing" in colored
    assert "missing" in plain


def test_what_others_wrote_is_inert_in_the_terminal() -> None:
    installation = Installation()
    installation.repository["default_branch"] = "main"
    installation.runners[0].update(name=HOSTILE, labels=[{"name": "pushbench"}])
    installation.variables[f"PUSHBENCH_{HOSTILE}"] = HOSTILE
    installation.variables["PUSHBENCH_MAX_TIME"] = HOSTILE
    installation.selected["patterns_allowed"] = [HOSTILE]
    installation.packages[0].update(name=f"pushbench/{HOSTILE}", repository=None, html_url="javascript:x" + HOSTILE)
    installation.rules = [f"{HOSTILE} / gate"]
    installation.owners_errors = [{"line": 1, "column": 1, "kind": HOSTILE, "source": HOSTILE, "path": HOSTILE}]
    diagnosis = installation.diagnosis()
    for width in WIDTHS:
        text = render(diagnosis, width=width, color=False)
        assert not set(text) & {"\x1b", "\x07", "\u202e"}
        assert "[bold]x" in text
        checks = [line.split()[1] for line in text.splitlines() if line[:1].strip()]
        assert checks[: len(CHECKS)] == list(CHECKS)
        assert "javascript:" not in text
        commands = [line for line in text.replace("\\\n", " ").splitlines() if line.strip().startswith("gh ")]
        assert any("$(id)" in word for line in commands for word in shlex.split(line))
    assert "\x1b" not in json.dumps(diagnosis.model_dump(), ensure_ascii=False)


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "code"), [([], 1), (["--json"], 1)])
def test_the_command_tells_people_and_programs(
    arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "github_pat_x")
    monkeypatch.setenv("COLUMNS", "80")
    asked = []

    def gather(name: str, token: str, **_: object) -> None:
        asked.append((name, token))
        raise gathering.NoRepository(name)

    monkeypatch.setattr(gathering, "gather", gather)
    done = CliRunner().invoke(app, ["ci", "doctor", "--repository", NAME, *arguments])
    assert done.exit_code == code
    assert asked == [(NAME, "github_pat_x")]
    assert "github_pat_x" not in done.output
    if arguments:
        data = json.loads(done.stdout)
        assert (data["schema"], data["repository"], data["state"]) == (1, NAME, "missing")
        assert set(data["findings"][0]) == {"check", "state", "said", "fixes"}
        assert set(data["findings"][0]["fixes"][0]) == {"do", "command", "page"}
    else:
        assert "GitHub shows this token no repository acme/pushbench" in done.stdout.replace("\n" + " " * 27, " ")


def test_a_repository_that_is_not_there_is_one_line_and_all_else_unknown() -> None:
    installation = Installation(visible=False)
    with pytest.raises(gathering.NoRepository):
        installation.diagnosis()
    diagnosis = not_there(NAME)
    assert diagnosis.exit_code == 1
    assert [each.check for each in diagnosis.findings if each.state == "missing"] == ["repository"]


def test_without_a_token_it_says_how_to_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    done = CliRunner().invoke(app, ["ci", "doctor", "--repository", NAME])
    assert "GITHUB_TOKEN=$(gh auth token)" in str(done.exception)
