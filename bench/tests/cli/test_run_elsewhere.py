"""`pushbench run --url`: a server that runs elsewhere, over TLS, with a token that must stay secret."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from pushbench.building.builds import build_generator
from pushbench.catalog.elsewhere import server_at
from pushbench.cli.conclusion import thresholds_of
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.verdict import judge
from pushbench.records.record import Record
from pushbench.records.store import read_record
from pushbench.reporting import report
from pushbench.reporting.comment import Message, Part, comment
from pushbench.reporting.summary import summarize
from tests.bare_checkouts import CHECKOUT, environment_of, make_bare_checkout

pytestmark = [pytest.mark.slow]

WHITEBOARD = (CHECKOUT.root / "docs" / "examples" / "whiteboard" / "protocol.yml").read_text()
TOKEN = "s3cret-t0ken-of-the-owner"
STAGES = {
    "whiteboard": "[20]",
    "posts": "[{name: open-50, clients: 20, parameters: {requests_per_second: 50, arrivals: fixed}}]",
    "token-stream": "[{name: open-4, clients: 20, parameters: {streams_per_second: 4, arrivals: fixed}}]",
}
SMOKE = """\
  smoke:
    stages: {stages}
    warmup_seconds: 0.5
    ramp_seconds: 0.5
    settle_seconds: 0.5
    steady_seconds: 2
    drain_seconds: 1
    repeats_disturbed: false
    judges_times: false
"""
SECRETS = "secrets: {who: {file_env: PUSHBENCH_SECRET_FILE}}\n"


@dataclass(frozen=True)
class Urls:
    plain: str
    secured: str
    """empty if the server has no TLS"""
    authorities: Path


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build_generator(CHECKOUT, print)
    return build_scripted(tmp_path_factory.mktemp("scripted"))


def build_scripted(folder: Path) -> Path:
    binary = folder / "scripted"
    subprocess.run(["go", "build", "-trimpath", "-o", binary, "./cmd/scripted"], cwd=CHECKOUT.generator, check=True)
    return binary


@contextlib.contextmanager
def serving(scripted: Path, folder: Path, *arguments: str) -> Iterator[Urls]:
    authorities = folder / "authorities.pem"
    command = [str(scripted), "-tls", str(authorities), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout
        try:
            plain, *secured = program.stdout.readline().split()
            yield Urls(plain, "".join(secured), authorities)
        finally:
            program.terminate()


@pytest.fixture(scope="module")
def urls(scripted: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Urls]:
    with serving(scripted, tmp_path_factory.mktemp("authorities")) as found:
        yield found


@dataclass(frozen=True)
class Ran:
    code: int
    said: str
    """on stdout and on stderr"""
    folder: Path
    """the checkout, which has no servers"""

    @property
    def records(self) -> list[Path]:
        return list((self.folder / "out" / "records").glob("*.json"))


def make_brief_checkout(root: Path) -> Path:
    """A checkout whose profile smoke has one short stage."""
    project = Project.at(make_bare_checkout(root))
    project.generator.unlink()
    shutil.copytree(CHECKOUT.generator, project.generator)
    for suite, stages in STAGES.items():
        file = project.scenarios / f"{suite}.yml"
        before, profile, after = re.split(r"(?m)(?<=^profiles:\n)((?:  smoke:.*\n)(?:    .*\n)+)", file.read_text())
        assert "repeats_disturbed: false" in profile
        file.write_text(f"{before}{SMOKE.format(stages=stages)}{after}")
    return root


def run(folder: Path, *arguments: str, **environment: str) -> Ran:
    """Run the whole command in its own process, so that its arguments can be seen."""
    checkout = make_brief_checkout(folder / "checkout")
    command = [sys.executable, "-m", "pushbench", "run", "--wait", *arguments]
    done = subprocess.run(
        command,
        env=environment_of(checkout, **environment),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Ran(done.returncode, done.stdout + done.stderr, checkout)


class Processes(threading.Thread):
    """Reads the command lines of all processes until it is stopped."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._enough = threading.Event()
        self.seen: set[bytes] = set()

    def run(self) -> None:
        while not self._enough.wait(0.02):
            for file in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    self.seen.add(file.read_bytes())

    def stop(self) -> set[bytes]:
        self._enough.set()
        self.join()
        return self.seen


def documents(record: Record) -> list[str]:
    """The reports of a record for readers."""
    verdict = judge(record, thresholds_of(CHECKOUT))
    part = Part(record, summarize(record, verdict))
    return [
        report.render_terminal(record, verdict),
        report.markdown(record, verdict),
        report.html(record, verdict),
        json.dumps(report.as_json(record, verdict)),
        comment(Message("pass", [part])),
    ]


def test_a_token_is_sent_and_found_nowhere(urls: Urls, tmp_path: Path) -> None:
    token, protocol = tmp_path / "token", tmp_path / "protocol.yml"
    token.write_text(f"{TOKEN}\n")
    joining = "acknowledged: {/type: joined}"
    assert joining in WHITEBOARD
    # The server answers a join with the token. The protocol treats that as an error, which is in the record.
    text = WHITEBOARD.replace('"userId": "u-{client}"', '"userId": "{secret:who}"', 1).replace(f"  {joining}\n", "", 1)
    text = text.replace("{/type: error}", "{/type: joined}", 1).replace("reason: /reason", "reason: /userId", 1)
    headers = 'headers: {Authorization: "Bearer {secret:who}"}'
    protocol.write_text(text.replace("path: /ws", f'path: "/ws?token={{secret:who}}", {headers}', 1) + SECRETS)
    processes = Processes()
    processes.start()
    how = ["--url", urls.secured, "--ca", str(urls.authorities), "--protocol", str(protocol), "--name", "my-chat"]
    ran = run(tmp_path, *how, PUSHBENCH_SECRET_FILE=str(token))
    seen = processes.stop()
    assert ran.code == 0, ran.said
    assert "profile smoke: quick is above the ceiling of 100 clients and 1,000 deliveries/s, which" in ran.said
    [file] = ran.records
    record = read_record(file)
    assert record.profile == "smoke"
    assert any("{secret:who}" in error.reason for error in record.trials[0].errors), "the token did not come back"
    assert any(b"whiteboard.js" in each for each in seen), "the generator was not seen"
    assert [each for each in seen if TOKEN.encode() in each] == []
    assert TOKEN not in ran.said
    assert [each for each in documents(record) if TOKEN in each] == []
    written = [each for each in ran.folder.rglob("*") if each.is_file()]
    assert {"report.md", "load.json", "k6-0.log", file.name} <= {each.name for each in written}
    assert [each for each in written if TOKEN.encode() in each.read_bytes()] == []
    measured_elsewhere(record, urls)


def measured_elsewhere(record: Record, urls: Urls) -> None:
    """Check that everything visible to clients is measured, and nothing of the server itself."""
    [trial] = record.trials
    metrics = trial.stages[0].metrics
    assert (trial.server, trial.failure, trial.reported, trial.validity.valid) == ("my-chat", None, None, True)
    assert metrics["throughput_per_second"] == pytest.approx(200, rel=0.02)
    assert metrics["loss_ratio"] == 0
    unknown = {"cpu_cores", "cpu_seconds_per_delivery", "memory_bytes.peak", "threads", "instructions_per_delivery"}
    assert {name for name in unknown if metrics[name] is not None} == set()
    assert trial.resources
    assert {*trial.resources.cpu_cores, *trial.resources.memory_bytes} == {None}
    assert metrics["generator_cpu_cores"]
    assert record.elsewhere
    assert record.elsewhere["my-chat"].url == urls.secured
    assert record.environment.driver == "remote"
    rows = [line.split() for line in documents(record)[0].splitlines()]
    assert ["Memory", "peak", "MB", "-"] in rows


@pytest.mark.parametrize(
    ("old", "new", "server", "what"),
    [
        ("id: /seq", "id: /nr", [], ":13: message.id: the pointer /nr finds nothing in"),
        ("{/type: joined}", "{/type: in}", [], ":6: join.acknowledged: the acknowledgement never comes within 3 s"),
        ("{/type: draw}", "{/type: paint}", [], ":12: message.received: client 0 never receives message 0 of client 0"),
        ("id: /seq", "id: /seq", ["-duplicate-every", "1"], ":13: message.id: the id is not unique: client "),
        ("u-{client}", "{secret:who}", [], ": secrets.who: the file that PUSHBENCH_SECRET_FILE names is empty"),
    ],
)
def test_bad_input_is_one_line_before_any_load(
    old: str, new: str, server: list[str], what: str, scripted: Path, tmp_path: Path
) -> None:
    assert old in WHITEBOARD
    protocol, token = tmp_path / "protocol.yml", tmp_path / "token"
    protocol.write_text(WHITEBOARD.replace(old, new, 1) + (SECRETS if "secret" in new else ""))
    token.write_text("")
    with serving(scripted, tmp_path, *server) as urls:
        ran = run(tmp_path, "--url", urls.plain, "--protocol", str(protocol), PUSHBENCH_SECRET_FILE=str(token))
    assert ran.code == 2
    errors = [line for line in ran.said.splitlines() if line.startswith("pushbench: ")]
    assert len(errors) == 1
    assert errors[0].startswith(f"pushbench: {protocol}:")
    assert what in errors[0]
    assert ran.said.splitlines()[-1] == errors[0]
    assert ran.records == []


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ([], "x509: certificate signed by unknown authority; --ca FILE trusts another authority"),
        (["--profile", "quick"], "1,000 clients and 10,000 deliveries/s is above the ceiling of 100 clients and 1,000"),
        (["--ca", __file__], "no PEM certificates"),
        (["--driver", "process"], "--url measures one server: leave out SERVER, --servers, --resume and --driver"),
        (["node-ws"], "--url measures one server: leave out SERVER, --servers, --resume and --driver"),
        (["--name", "My Chat"], "expected small letters, digits and hyphens"),
    ],
)
def test_what_cannot_be_meant_is_one_line(more: list[str], what: str, urls: Urls, tmp_path: Path) -> None:
    protocol = tmp_path / "protocol.yml"
    protocol.write_text(WHITEBOARD)
    ran = run(tmp_path, "--url", urls.secured, "--protocol", str(protocol), *more)
    assert ran.code == 2
    assert what in ran.said.splitlines()[-1]
    assert ran.records == []


@pytest.mark.parametrize(("example", "work", "per_second"), [("posts", "response", 50), ("token-stream", "token", 852)])
def test_streams_and_requests_are_measured(
    example: str, work: str, per_second: float, scripted: Path, tmp_path: Path
) -> None:
    """`posts` runs without a database, and `token-stream` has 4 streams of 213 tokens per second.

    The server waits before each answer, so that a generator delayed by other tests does not mainly measure itself.
    """
    protocol = CHECKOUT.root / "docs" / "examples" / example / "protocol.yml"
    with serving(scripted, tmp_path, "-http", "-delay", "100ms") as urls:
        how = ["--profile", "smoke", "--owner-agreed"]
        ran = run(tmp_path, "--url", urls.plain, "--protocol", str(protocol), *how)
    assert ran.code == 0, ran.said
    [file] = ran.records
    record = read_record(file)
    [trial] = record.trials
    assert (record.suite, record.words.work.name) == (example, work)
    assert (trial.failure, trial.validity.valid) == (None, True)
    metrics = trial.stages[0].metrics
    assert metrics["throughput_per_second"] == pytest.approx(per_second, rel=0.05)
    assert (metrics["loss_ratio"], metrics["cpu_cores"]) == (0, None)
    assert (metrics[record.words.headline] or 0.0) >= 0.1


LIMITS = """\
version: 1
servers:
  my-chat:
    whiteboard:
      limits: {delivery_seconds.p95: {max: 80ms, reason: its owner says so}}
"""
DESCRIBED = """\
title: My chat
link: https://chat.example.org
language: Elixir
suite: whiteboard
protocol: protocol.yml
tier: baseline
url: wss://chat.example.org
"""


def test_limits_by_name_hold_once_the_catalog_knows_the_name(tmp_path: Path) -> None:
    project = Project.at(make_bare_checkout(tmp_path))
    project.thresholds.unlink()
    project.thresholds.write_text(LIMITS)
    with pytest.raises(UserError, match=r"unknown server 'my-chat'; .*needs a folder in servers/: docs/"):
        thresholds_of(project)
    folder = project.servers / "my-chat"
    folder.mkdir(parents=True)
    (folder / "server.yml").write_text(DESCRIBED)
    by_name = server_at("ws://127.0.0.1:1", "whiteboard", "protocol.yml", name="my-chat")
    limits = thresholds_of(project).limits("whiteboard", by_name.id, "20", date(2026, 11, 24))
    assert [limit.bound.value for limit in limits if limit.metric == "delivery_seconds.p95"] == [0.08]
