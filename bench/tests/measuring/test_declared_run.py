"""A run of a server that declares its protocol: only the generator gets the declaration and the secrets."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.generator.load import Generator, LoadPlan, playing
from tests.support import FAKES, add_server, make_project
from tests.tiny_runs import measure
from tests.tiny_runs import no_real_generator as no_real_generator  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.slow

SECRET = "s3cret-t0ken"
PROTOCOL = """\
websocket: {path: "/?token={secret:token}"}
format: text
message: {send: "{id}", received: "{id}"}
secrets: {token: {env: PUSHBENCH_SECRET_TOKEN}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path / "checkout")
    suite = made.scenarios / "tiny.yml"
    suite.write_text(f"declared_protocols: websocket\n{suite.read_text()}")
    server = add_server(made, "chat")
    server.file.write_text(server.file.read_text().replace("tiny-json", "protocol.yml"))
    (server.folder / "protocol.yml").write_text(PROTOCOL)
    return made


def test_the_generator_gets_the_declaration_and_the_secret(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_SECRET_TOKEN", SECRET)
    played: list[tuple[Generator, LoadPlan]] = []

    def watched(generator: Generator, plan: LoadPlan) -> Any:
        played.append((generator, plan))
        return playing(generator, plan)

    monkeypatch.setattr("pushbench.measuring.trial.playing", watched)
    record = measure(project)
    assert record.trials[0].failure is None
    [(generator, plan)] = played
    assert generator.environment["PUSHBENCH_SECRET_TOKEN"] == SECRET
    assert plan.declaration
    assert plan.declaration.query[-1].secret == "token"
    written = [file for file in project.root.rglob("*") if file.is_file()]
    assert len(written) > 5
    assert [file for file in written if SECRET.encode() in file.read_bytes()] == []


def test_a_secret_that_is_not_there_stops_the_run_before_anything_is_built(project: Project) -> None:
    with pytest.raises(UserError, match=r"protocol\.yml:4: secrets\.token: the variable PUSHBENCH_SECRET_TOKEN is not"):
        measure(project)
    assert not (project.servers / "chat" / "target").exists()


UNHEARD = "import os, runpy, signal; signal.signal = lambda *_: None; runpy.run_path(os.environ['PROGRAM'])"
"""the fake server without its handler for SIGTERM"""


@pytest.mark.parametrize("declared", [True, False])
def test_only_a_protocol_of_the_suite_asks_for_an_exit_code(
    project: Project, monkeypatch: pytest.MonkeyPatch, declared: bool
) -> None:
    monkeypatch.setenv("PUSHBENCH_SECRET_TOKEN", SECRET)
    file = project.servers / "chat" / "server.yml"
    text = re.sub(r"start: \[(.*), (.*)\]", rf'start: [\1, -c, "{UNHEARD}"]', file.read_text())
    program = f"PROGRAM: {FAKES / 'server.py'}, FAKE_ID"
    text = text.replace("FAKE_ID", program)
    file.write_text(text if declared else text.replace("protocol.yml", "tiny-json"))
    [trial] = measure(project).trials
    wanted = None if declared else "the server ended with signal SIGTERM after SIGTERM, expected exit code 0"
    assert (trial.failure.message if trial.failure else None) == wanted
