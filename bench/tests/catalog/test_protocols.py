"""Declared protocols: the declaration for the generator, and the errors of a file, each with its line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from pushbench.catalog.protocol_file import TRANSPORTS
from pushbench.catalog.protocols import declared_by, read_protocol
from pushbench.catalog.servers import read_servers
from pushbench.catalog.suites import find_suite
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from tests.support import add_server, make_project

CHECKOUT = Project.at(Path(__file__).parents[3])
EXAMPLES = CHECKOUT.root / "docs" / "examples"
COMPILED = CHECKOUT.generator / "internal" / "declared" / "testdata"

CHAT = """\
websocket:
  path: /chat/{group}?user={client}
  headers: {Authorization: "Bearer {secret:token}"}
open: {acknowledged: {/type: welcome}}
join:
  send: '{"type": "join", "user": "{client}"}'
  acknowledged: {/type: joined, /user: "{client}", /ok: true}
message:
  send: '{"type": "chat", "id": "{id}", "at": {time}, "text": "{text:20}"}'
  received: {/type: chat}
  id: /id
  time: /at
  same: {/body: /text}
leave: '{"type": "leave"}'
keep_alive: {send: '{"type": "ping"}', every_seconds: 20}
error: {received: {/type: error}, reason: /why}
ignore:
  - {/type: joined}
  - {/type: pong}
secrets:
  token: {env: PUSHBENCH_SECRET_TOKEN}
"""


def wrong(tmp_path: Path, text: str) -> str:
    """The error message for a file, without its path."""
    file = tmp_path / "protocol.yml"
    file.write_text(text)
    with pytest.raises(UserError) as raised:
        read_protocol(file).environment()
    return str(raised.value).removeprefix(f"{file}:")


@pytest.mark.parametrize("name", sorted(file.parent.name for file in EXAMPLES.glob("*/protocol.yml")))
def test_the_examples_are_what_the_generators_tests_play(name: str) -> None:
    """PUSHBENCH_GOLDEN=write updates the compiled examples."""
    declaration = read_protocol(EXAMPLES / name / "protocol.yml").declaration
    text = json.dumps(declaration.model_dump(exclude_defaults=True), indent=2) + "\n"
    file = COMPILED / f"{name}.json"
    if os.environ.get("PUSHBENCH_GOLDEN") == "write":
        file.write_text(text)
    assert file.read_text() == text


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*/protocol.yml")), ids=lambda file: file.parent.name)
def test_an_example_has_at_most_thirty_lines(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= 30
    assert file.read_text().startswith("# yaml-language-server: $schema=../../schemas/protocol.json\n")


DOCUMENTED = re.findall(
    r"^```yaml\n((?:#[^\n]*\n)?(?:websocket|sse|http):.*?)^```",
    (CHECKOUT.root / "docs" / "own-server.md").read_text(),
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize("text", DOCUMENTED, ids=range(len(DOCUMENTED)))
def test_a_protocol_of_the_documentation_can_be_read(text: str, tmp_path: Path) -> None:
    file = tmp_path / "protocol.yml"
    file.write_text(text)
    read_protocol(file)


def test_the_documentation_shows_each_transport() -> None:
    assert {text.partition(":")[0].splitlines()[-1] for text in DOCUMENTED if text[0] != "#"} == set(TRANSPORTS)


def test_a_chat_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_SECRET_TOKEN", "t0ken")
    file = tmp_path / "protocol.yml"
    file.write_text(CHAT)
    read = read_protocol(file)
    assert read.environment() == {"PUSHBENCH_SECRET_TOKEN": "t0ken"}
    assert "t0ken" not in read.declaration.model_dump_json(), "a secret stays in the environment"
    [same] = read.declaration.message.received.same
    assert same.at == "/body"
    assert same.json_is[0].literal == '"The quick brown fox."'
    assert read.declaration.join
    assert read.declaration.join.acknowledged
    where = read.declaration.join.acknowledged.where
    assert [(each.at, "".join(part.literal or part.value for part in each.json_is)) for each in where] == [
        ("/type", '"joined"'),
        ("/user", '"client"'),
        ("/ok", "true"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  path: /chat/{group}?user={client}", "  path: chat", "2: websocket.path: "),
        ("path: /chat/{group}", "path: /chat room/{group}", "2: websocket.path: characters that an address"),
        ("{Authorization:", "{Sec-WebSocket-Key:", "3: websocket.headers.Sec-WebSocket-Key: belongs to the opening"),
        ("websocket:", "socket:", "1: "),
        ("open: {acknowledged: {/type: welcome}}", "open: {}", "4: open: expected send, acknowledged, or both"),
        ('"user": "{client}"}', '"user": "{clint}"}', "6: join.send: no value {clint} here; did you mean {client}?"),
        ('"user": "{client}"}', '"user": {client}', "6: join.send: not JSON with values filled in"),
        ("{/type: joined, /user", "{type: joined, /user", "7: join.acknowledged"),
        ('"id": "{id}", ', "", "9: message.send: no {id}"),
        ('"at": {time}, ', "", "12: message.time: clients send no {time}"),
        ("  id: /id\n", "", "8: message: id: missing"),
        (
            "websocket:",
            "format: msgpack\nwebsocket:\n  separator: x",
            "3: websocket.separator: a MessagePack frame is",
        ),
        ("  id: /id\n", '  id: {at: /id, like: "m-{any}"}\n', "11: message.id.like: expected one {id} in it"),
        ("open: {", "open:\n - {}\n - {", "5: open.0: expected send, acknowledged, or both"),
        ("open: {", "open:\n - {acknowledged: {/a: b}}\n - {send: oh, ", "6: open.1.send: not JSON with values"),
        ("open: {", "open:\n - {acknowledge: {/a: b}}\n - {", "5: open.0.acknowledge: unknown key; did you mean ackno"),
        ("  - {/type: pong}", "  - '{\"type\": {any}}'", "19: ignore.1: no {any} in a whole message"),
        ("  path: /chat", "  separator: x\n  terminator: x\n  path: /chat", "1: websocket: expected separator or term"),
        ("  path: /chat", "  terminator: ''\n  path: /chat", "2: websocket.terminator: String should have at least 1"),
        ("{/body: /text}", "{/body: /txt}", "13: message.same./body: `send` has no value at /txt"),
        ("{/body: /text}", "[/type, /txt]", "13: message.same.1: `send` has no value at /txt"),
        ("  received: {/type: chat}", "  received: chat", "10: message.received: expected values at JSON pointers"),
        ("  received: {/type: chat}", "  received: {}", "10: message.received: expected at least one value"),
        (", every_seconds: 20", "", "15: keep_alive: expected send with every_seconds"),
        ("  - {/type: pong}", '  - {/type: "p{any}"}', "19: ignore.1./type: {any} stands for a whole value"),
        (
            '"user": "{client}"}',
            '"user": "{row:user}"}',
            "6: join.send: no column 'user'; known in the file of `rows`: no",
        ),
        ("{/type: chat}", '{/type: chat, /by: "{row:user}"}', "10: message.received./by: no value {row} here"),
        ("  - {/type: pong}", "  - {/type: [pong]}", "19: ignore.1"),
        ("{env: PUSHBENCH_SECRET_TOKEN}", "{}", "21: secrets.token: expected either env or file_env"),
        (
            "{env: PUSHBENCH_SECRET_TOKEN}",
            "{env: PUSHBENCH_SECRET_NOTHING}",
            "21: secrets.token: the variable PUSHBENCH_SECRET_NOTHING is not set",
        ),
        (
            "{env: PUSHBENCH_SECRET_TOKEN}",
            "{file_env: PUSHBENCH_SECRET_TOKEN}",
            "21: secrets.token: the file that PUSHBENCH_SECRET_TOKEN names cannot",
        ),
        (
            "{env: PUSHBENCH_SECRET_TOKEN}",
            "{file_env: PUSHBENCH_SECRET_EMPTY}",
            "21: secrets.token: the file that PUSHBENCH_SECRET_EMPTY names is empty",
        ),
        (
            "{env: PUSHBENCH_SECRET_TOKEN}",
            "{env: PUSHBENCH_SECRET_LINES}",
            "21: secrets.token: the secret from PUSHBENCH_SECRET_LINES is not one line",
        ),
        ("{env: PUSHBENCH_SECRET_TOKEN}", "{env: GITHUB_TOKEN}", "21: secrets.token.env: "),
        ("  token: {", "  other: {", "3: websocket.headers.Authorization: no secret 'token'"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    old: str, new: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUSHBENCH_SECRET_TOKEN", "t0ken")
    monkeypatch.setenv("PUSHBENCH_SECRET_LINES", "a\nb")
    monkeypatch.setenv("PUSHBENCH_SECRET_EMPTY", "/dev/null")
    assert CHAT.count(old) >= 1
    what = wrong(tmp_path, CHAT.replace(old, new, 1))
    assert what.startswith(said), what
    assert "t0ken" not in what


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('  received: "{any} says {text:9}"', "5: message.received: expected one {id} in it"),
        ('  received: "{id}"\n  id: /id', "6: message.id: the format is text"),
        ("  received: {/id: 3}", "5: message.received: expected a template of the whole message"),
    ],
)
def test_a_mistake_about_text_is_told_with_its_line(lines: str, said: str, tmp_path: Path) -> None:
    text = f'websocket: {{path: /}}\nformat: text\nmessage:\n  send: "{{id}} {{text:9}}"\n{lines}\n'
    assert wrong(tmp_path, text).startswith(said)


TOKENS = """\
sse:
  path: /v1/stream?user={client}
  headers: {Authorization: "Bearer {secret:token}", Idempotency-Key: "{id}"}
  tokens: 10
  number: /n
  end: "[DONE]"
message:
  send: '{"id": {id}, "at": {time}, "prompt": "{text:20}"}'
  received: {/choices/0/delta/content: "{any}"}
  id: /id
  same: {/text: /prompt}
error: {received: {/error/code: 429}, reason: /error/message}
ignore: [{/choices/0/finish_reason: stop}]
secrets: {token: {env: PUSHBENCH_SECRET_TOKEN}}
"""
PLAIN = 'sse: {path: /, tokens: 10, number: event-id}\nformat: text\nmessage: {received: "{any}"}\n'
ORDERS = """\
http:
  path: /orders
  method: PUT
  status: 201
message:
  send: '{"order": "{id}"}'
  id: /order
"""


def test_streams_and_answers_are_read(tmp_path: Path) -> None:
    file = tmp_path / "protocol.yml"
    file.write_text(TOKENS)
    read = read_protocol(file)
    assert read.transport == "sse"
    assert read.declaration.request
    assert read.declaration.request.model_dump() == {
        "method": "POST",
        "status": 200,
        "stream": {"receipts": 10, "number": "/n", "end": "[DONE]"},
    }
    assert read.declaration.message.received.id
    assert [header.value[-1].value or header.value[-1].secret for header in read.declaration.headers] == ["token", "id"]
    file.write_text(ORDERS)
    read = read_protocol(file)
    assert read.transport == "http"
    assert read.declaration.request
    assert (read.declaration.request.method, read.declaration.request.status) == ("PUT", 201)
    assert read.declaration.request.stream is None


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (TOKENS, "sse:", "websocket: {path: /}\nsse:", "1: expected one of websocket, sse, http"),
        (TOKENS, "  tokens: 10\n", "", "1: sse.tokens: missing"),
        (TOKENS, "tokens: 10", "tokens: 0", "4: sse.tokens: "),
        (TOKENS, "number: /n", "number: n", "5: sse.number: "),
        (TOKENS, "path: /v1", "path: /v 1", "2: sse.path: characters that an address cannot have"),
        (TOKENS, "user={client}", "user={text:9}", "2: sse.path: no value {text} here"),
        (TOKENS, "{Authorization:", "{Content-Length:", "3: sse.headers.Content-Length: belongs to the request itself"),
        (TOKENS, "{secret:token}", "{secret:tok}", "3: sse.headers.Authorization: no secret 'tok'"),
        (TOKENS, "Bearer {", "Bearer\\n{", "3: sse.headers.Authorization: not one line of text"),
        (TOKENS, "sse:\n", "sse:\n  method: GET\n", "9: message.send: a GET has no body"),
        (TOKENS, "sse:\n", "sse:\n  method: PUT\n", "2: sse.method: "),
        (TOKENS, '  received: {/choices/0/delta/content: "{any}"}\n', "", "7: message: received: missing"),
        (TOKENS, "  id: /id\n", "  id: /id\n  receivers: others\n", "11: message.receivers: applies only to groups"),
        (
            TOKENS,
            "error:",
            "leave: '{}'\nerror:",
            "12: leave: applies only to groups over websocket; found sse",
        ),
        (TOKENS, "error:", "open: {send: '{}'}\nerror:", "12: open: applies only to groups"),
        (TOKENS, "error:", "join: {send: '{}'}\nerror:", "12: join: applies only to groups"),
        (TOKENS, "error:", "keep_alive: {send: '{}', every_seconds: 1}\nerror:", "12: keep_alive: applies only"),
        (PLAIN, "format: text", "format: msgpack", "2: format: MessagePack works over websocket only; found sse"),
        (PLAIN, "event-id", "/n", "1: sse.number: the format is text: expected event-id"),
        (TOKENS, "same: {/text: /prompt}", "same: [/text]", "11: message.same.0: `send` has no value at /text"),
        (
            TOKENS,
            "PUSHBENCH_SECRET_TOKEN",
            "PUSHBENCH_SECRET_NONE",
            "14: secrets.token: the variable PUSHBENCH_SECRET_NO",
        ),
        (ORDERS, "method: PUT", "method: HEAD", "3: http.method: "),
        (ORDERS, "status: 201", "status: 101", "4: http.status: "),
        (ORDERS, '"{id}"', '"{client}"', "7: message.id: clients send no {id}"),
        (ORDERS, "  id: /order", "  time: /order", "7: message.time: clients send no {time}"),
        (ORDERS, "http:", "ignore: [{/a: b}]\nhttp:", "1: ignore: a request has one answer"),
        (ORDERS, '  send: \'{"order": "{id}"}\'\n  id: /order\n', "  same: [/a]\n", "6: message.same: there is no"),
        (ORDERS, '"{id}"}', '"{id}"', "6: message.send: not JSON with values filled in"),
    ],
)
def test_a_mistake_about_requests_is_told_with_its_line(
    text: str, old: str, new: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUSHBENCH_SECRET_TOKEN", "t0ken")
    assert text.count(old) >= 1
    what = wrong(tmp_path, text.replace(old, new, 1))
    assert what.startswith(said), what
    assert "t0ken" not in what


def test_what_ends_messages_is_behind_all_that_is_sent(tmp_path: Path) -> None:
    file = tmp_path / "protocol.yml"
    file.write_text(CHAT.replace("websocket:\n", 'websocket:\n  terminator: "\\x1e"\n'))
    declaration = read_protocol(file).declaration
    assert declaration.join
    assert declaration.keep_alive
    sent = [declaration.join.send, declaration.message.send, declaration.leave, declaration.keep_alive.send]
    assert [each[-1].literal[-2:] for each in sent] == ["}\x1e"] * 4
    assert declaration.separator == "\x1e"


def rows_of(tmp_path: Path, table: str) -> Path:
    """A protocol whose clients have rows of this table."""
    (tmp_path / "users.csv").write_text(table)
    file = tmp_path / "protocol.yml"
    text = CHAT.replace('"user": "{client}"}\'', '"user": "{row:user}"}\'').replace(
        '/user: "{client}"', '/user: "{row:user}"'
    )
    file.write_text(f"{text}rows: users.csv\n")
    return file


def test_clients_have_rows(tmp_path: Path) -> None:
    declaration = read_protocol(rows_of(tmp_path, 'user,age\nAnn,17\n"Bo ""B""",18\n')).declaration
    assert declaration.rows == {"user": ["Ann", 'Bo "B"'], "age": ["17", "18"]}
    assert declaration.join
    assert declaration.join.acknowledged
    assert declaration.join.send[1].row == "user"
    assert declaration.join.acknowledged.where[1].json_is[1].row == "user"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("name\nAnn\n", "protocol.yml:6: join.send: no column 'user'; known in the file of `rows`: name"),
        ("", "users.csv: expected distinct column names in the first line, and at least one row"),
        ("user\n", "users.csv: expected distinct column names in the first line, and at least one row"),
        ("user,user\na,b\n", "users.csv: expected distinct column names"),
        ("User\nAnn\n", "users.csv:1: expected column names such as user"),
        ("user\nAnn\n\nBo,17\n", "users.csv:4: expected 1 values, found 2"),
        ("user\nAnn\n''\x07\n", "users.csv:3: a value that is empty, or not one line of text"),
        ('user\n"Ann\n', "users.csv:2: not CSV"),
        ("user\n" + "x" * (1 << 20), "users.csv: larger than 1,048,576 bytes"),
    ],
)
def test_a_mistake_in_a_table_is_told_with_its_line(table: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        read_protocol(rows_of(tmp_path, table))
    assert str(raised.value).removeprefix(f"{tmp_path}/").startswith(said), raised.value


def test_a_table_is_a_file_of_the_folder(tmp_path: Path) -> None:
    file = rows_of(tmp_path, "user\nAnn\n")
    outside = tmp_path / "users.csv"
    (tmp_path / "folder").mkdir()
    file = file.rename(tmp_path / "folder" / "protocol.yml")
    with pytest.raises(UserError, match=r"folder/users\.csv: no such file"):
        read_protocol(file)
    (tmp_path / "folder" / "users.csv").symlink_to(outside)
    with pytest.raises(UserError, match=r"folder/users\.csv: is a link"):
        read_protocol(file)
    file.write_text(file.read_text().replace("rows: users.csv", "rows: ../users.csv"))
    with pytest.raises(UserError, match=r"protocol\.yml:22: rows: "):
        read_protocol(file)


def test_a_server_names_the_file_of_its_folder(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    server = add_server(project, "chat")
    assert declared_by(server) is None
    server.file.write_text(server.file.read_text().replace("tiny-json", "protocol.yml"))
    [server] = read_servers(server.folder)
    suite = find_suite(project.scenarios, "tiny")
    with pytest.raises(UserError, match="the suite tiny has no declared protocols"):
        suite.check(server)
    suite_file = project.scenarios / "tiny.yml"
    suite_file.write_text("declared_protocols: websocket\n" + suite_file.read_text())
    suite = find_suite(project.scenarios, "tiny")
    with pytest.raises(UserError, match=r"protocol\.yml: no such file"):
        suite.check(server)
    (server.folder / "protocol.yml").write_text((EXAMPLES / "ws-chat" / "protocol.yml").read_text())
    suite.check(server)
    declared = declared_by(server)
    assert declared and declared.declaration.format == "text"
    (server.folder / "protocol.yml").write_text(ORDERS)
    with pytest.raises(
        UserError, match=r"protocol\.yml:1: http: the suite tiny plays protocols over websocket: choose another `suite`"
    ):
        suite.check(server)
