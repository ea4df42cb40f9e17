"""`pushbench protocol check` with the real generator, against servers with known behaviour."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushbench.building.builds import build_generator
from pushbench.cli import main
from pushbench.foundation.project import Project
from pushbench.machine.ports import free_port

pytestmark = [pytest.mark.slow]

CHECKOUT = Project.at(Path(__file__).parents[3])
EXAMPLES = CHECKOUT.root / "docs" / "examples"
WHITEBOARD = (EXAMPLES / "whiteboard" / "protocol.yml").read_text()
SECRET = "s3cret-t0ken"


@pytest.fixture(scope="module", autouse=True)
def k6() -> None:
    build_generator(CHECKOUT, print)


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    binary = tmp_path_factory.mktemp("scripted") / "scripted"
    subprocess.run(["go", "build", "-trimpath", "-o", binary, "./cmd/scripted"], cwd=CHECKOUT.generator, check=True)
    return binary


@contextlib.contextmanager
def serving(*command: str | Path) -> Iterator[str]:
    """The URL that a program prints."""
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout
        try:
            yield program.stdout.readline().strip()
        finally:
            program.terminate()


@pytest.fixture(scope="module")
def right(scripted: Path) -> Iterator[str]:
    with serving(scripted) as url:
        yield url


class Said:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(*arguments: str | Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["pushbench", "protocol", "check", *map(str, arguments)])
        code: Any = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run


def test_a_declared_protocol_is_understood_to_the_end(check: Any, right: str) -> None:
    said = check(EXAMPLES / "whiteboard" / "protocol.yml", "--to", right, "--json")
    assert said.code == 0, said.err
    told = said.json
    assert told["fault"] is None
    received = [line for line in told["lines"] if line["kind"] == "received"]
    assert [line["meaning"] for line in received].count("join.acknowledged") == 2
    for message in ("message 0 of client 0", "message 0 of client 1", "message 1 of client 0"):
        assert sorted(line["client"] for line in received if line["meaning"] == message) == [0, 1]
    assert all(line["understood"] for line in received)
    sent = [json.loads(line["text"])["type"] for line in told["lines"] if line["kind"] == "sent"]
    assert sent == ["join", "join", "draw", "draw", "draw", "leave", "leave"]


def test_people_see_every_message(check: Any, right: str) -> None:
    said = check(EXAMPLES / "whiteboard" / "protocol.yml", "--to", right)
    assert said.code == 0, said.err
    assert 'client 1 <- {"type":"draw"' in said.out
    assert "is message 0 of client 0" in said.out
    assert said.out.splitlines()[-1] == "8 of 8 received messages understood"


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("{/type: joined}", "{/type: welcome}", 6, "join.acknowledged: the acknowledgement never comes within 3 s"),
        ("id: /seq", "id: /nr", 13, "message.id: the pointer /nr finds nothing in"),
        ("id: /seq", "id: /boardId", 13, 'message.id: no id at /boardId: "\\"check-'),
        ("time: /sentAt", "time: /seq", 14, "message.time: "),
        ("same: [/boardId, /userId, /stroke]", "same: {/type: /boardId}", 15, "message.same: message 0 with"),
        ("{/type: draw}", "{/type: paint}", 12, "message 0 of client 0 within 3 s; what came is a message that is not"),
        ("  acknowledged: {/type: joined}\n", "", 1, "ignore: a message that is not declared"),
        ("path: /ws", "path: /socket", 3, "websocket.path: opening handshake: HTTP 404"),
    ],
)
def test_a_fault_of_the_file_is_one_line_with_its_place(
    old: str, new: str, line: int, what: str, check: Any, right: str, tmp_path: Path
) -> None:
    assert old in WHITEBOARD
    file = tmp_path / "protocol.yml"
    file.write_text(WHITEBOARD.replace(old, new, 1))
    said = check(file, "--to", right)
    assert said.code == 2
    [error] = said.err.splitlines()
    assert error.startswith(f"pushbench: {file}:{line}: "), error
    assert what in error


def test_a_message_that_nobody_receives_is_told(check: Any, right: str, tmp_path: Path) -> None:
    file = tmp_path / "protocol.yml"
    file.write_text(WHITEBOARD.replace("{/type: draw}", "{/type: paint}", 1) + "ignore: [{/type: draw}]\n")
    said = check(file, "--to", right)
    assert said.code == 2
    assert f"{file}:12: message.received: client 0 never receives message 0 of client 0 within 3 s" in said.err


def test_an_id_that_comes_twice_is_told(check: Any, scripted: Path) -> None:
    with serving(scripted, "-duplicate-every", "1") as url:
        said = check(EXAMPLES / "whiteboard" / "protocol.yml", "--to", url)
    assert said.code == 2
    assert "protocol.yml:13: message.id: the id is not unique: client " in said.err
    assert "receives that of message 0 of client 0 2 times" in said.err


@pytest.fixture(scope="module")
def over_http(scripted: Path) -> Iterator[str]:
    with serving(scripted, "-http") as url:
        yield url


@pytest.mark.parametrize(
    ("example", "old", "new", "what"),
    [
        ("token-stream", "tokens: 213", "tokens: 214", "3: sse.tokens: request 0 of client 0 gets 213 of 214 tokens"),
        ("token-stream", "GET,", "GET, end: over,", "3: sse.end: a stream without its end"),
        (
            "token-stream",
            '"{any}"',
            '"zz{any}"',
            "5: message.received: request 0 of client 0 gets nothing of that; what ",
        ),
        ("posts", "status: 201", "status: 200", "3: http.status: request 0 of client 0 is refused: HTTP 201"),
        ("posts", "message: {", "message: {id: /nr, ", "4: message.id: the pointer /nr finds nothing in"),
        ("posts", "message: {", "message: {id: /content, ", "4: message.id: another id than that of the request at"),
    ],
)
def test_what_an_answer_does_not_say_is_told_with_the_line(
    example: str, old: str, new: str, what: str, check: Any, over_http: str, tmp_path: Path
) -> None:
    file = tmp_path / "protocol.yml"
    text = (EXAMPLES / example / "protocol.yml").read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    said = check(file, "--to", over_http)
    assert said.code == 2
    [error] = said.err.splitlines()
    assert error.startswith(f"pushbench: {file}:{what}"), error


def test_people_see_the_first_and_the_last_tokens(check: Any, over_http: str) -> None:
    said = check(EXAMPLES / "token-stream" / "protocol.yml", "--to", over_http)
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert [line.split()[1:3] for line in lines if "is token" in line] == 3 * [
        ["token", "0"],
        ["token", "1"],
        ["token", "212"],
    ]
    assert lines.count(f"{'':22}... 210 more tokens") == 3
    assert lines[-1] == "642 of 642 received messages understood"


def test_a_server_that_is_not_there_is_told(check: Any) -> None:
    said = check(EXAMPLES / "whiteboard" / "protocol.yml", "--to", f"ws://127.0.0.1:{free_port()}")
    assert said.code == 2
    assert "no server answers" in said.err
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["protocol.yml"], "protocol.yml: no such file"),
        (["node-ws"], "node-ws speaks whiteboard-json, which is built in"),
        (["node-*"], "name one"),
        ([EXAMPLES / "ws-chat" / "protocol.yml"], "no server to talk to"),
        ([EXAMPLES / "ws-chat" / "protocol.yml", "--to", "ftp://127.0.0.1:1"], "--to: expected something like wss://"),
        (
            [EXAMPLES / "ws-chat" / "protocol.yml", "--to", "ws://127.0.0.1:1", "--ca", "x.pem"],
            "no certificate to verify",
        ),
    ],
)
def test_what_cannot_be_checked_is_told(arguments: list[str | Path], what: str, check: Any) -> None:
    said = check(*arguments)
    assert said.code == 2
    assert what in said.err


def test_a_secret_is_sent_and_nowhere_to_be_read(
    check: Any, right: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "protocol.yml"
    with_secret = WHITEBOARD.replace('"userId": "u-{client}"', '"userId": "{secret:who}"', 1)
    file.write_text(f"{with_secret}secrets: {{who: {{env: PUSHBENCH_SECRET_WHO}}}}\n")
    monkeypatch.setenv("PUSHBENCH_SECRET_WHO", SECRET)
    said = check(file, "--to", right, "--json")
    assert said.code == 0, said.err
    joined = [line["text"] for line in said.json["lines"] if '"joined"' in line["text"]]
    assert ["{secret:who}" in each for each in joined] == [True, True], "the server answers with it"
    assert SECRET not in said.out + said.err


@pytest.mark.parametrize("receipt", ["", "  received: {/nothing: 1}\n"])
def test_a_secret_of_a_request_is_nowhere_to_be_read(
    receipt: str, check: Any, over_http: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "protocol.yml"
    headers = 'headers: {Authorization: "Bearer {secret:who}"}'
    text = f'http: {{path: "/post?key={{secret:who}}", status: 201, {headers}}}\nmessage:\n'
    text += f"""  send: '{{"title": "{{id}}", "by": "{{secret:who}}"}}'\n{receipt}"""
    file.write_text(f"{text}secrets: {{who: {{env: PUSHBENCH_SECRET_WHO}}}}\n")
    monkeypatch.setenv("PUSHBENCH_SECRET_WHO", SECRET)
    said = check(file, "--to", over_http, "--json")
    assert said.code == (2 if receipt else 0), said.err
    requests = [line["text"] for line in said.json["lines"] if line["kind"] == "sent"]
    assert all(each.count("{secret:who}") == 3 for each in requests)
    assert '{"title":"0","by":"{secret:who}"}' in said.out.replace("\\", "") + said.err, "the server answers with it"
    assert SECRET not in said.out + said.err
