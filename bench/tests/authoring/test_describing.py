"""The commands that follow `init` can read the files that it writes, whatever the answers are."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.authoring.describing import ANYTHING, Answers, protocol_yml, server_yml, web_address, workflow_yml
from pushbench.catalog.protocols import DeclaredProtocol, protocol_in
from pushbench.catalog.servers import ServerFile
from pushbench.catalog.templates import joined
from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import parse_yaml

ROOT = Path(__file__).parents[3]


def answers(message: str = ANYTHING["websocket"], path: str = "/") -> Answers:
    return Answers("chat", "whiteboard", [["npm", "ci"]], ["node", "server.js"], path, message)


def protocol(message: str, path: str = "/") -> DeclaredProtocol:
    return protocol_in(parse_yaml(protocol_yml(answers(message, path)), Path("protocol.yml")))


def test_the_description_has_the_commands_and_where_they_run() -> None:
    text = server_yml(
        Answers("chat", "whiteboard", [["npm", "ci"], ["sh", "-c", "a && b # c"]], ["node", "a: b.js", "-1", "yes", ""])
    )
    found = parse_yaml(text, Path("server.yml")).validate(ServerFile)
    assert found.process
    assert found.process.build == [["npm", "ci"], ["sh", "-c", "a && b # c"]]
    assert found.process.start == ["node", "a: b.js", "-1", "yes", ""]
    assert (found.source, found.ready, found.protocol, found.language) == (
        "../..",
        "port",
        "protocol.yml",
        "JavaScript",
    )
    assert found.process.toolchains == {"node": ">=20"}


def test_a_server_that_needs_no_build_has_none() -> None:
    text = server_yml(Answers("chat", "whiteboard", [], ["bin/chat"]))
    found = parse_yaml(text, Path("server.yml")).validate(ServerFile)
    assert found.process
    assert found.process.build == []
    assert "build" not in text.partition("process:")[2]


def test_a_message_of_text_is_received_as_it_is_sent() -> None:
    found = protocol(ANYTHING["websocket"], "/rooms/{group}").declaration
    assert found.format == "text"
    assert joined(found.message.received.like) == joined(found.message.send)
    assert [part.value for part in found.path if part.value] == ["group"]


def test_a_message_of_json_has_the_places_of_its_values() -> None:
    found = protocol('{"type": "say", "nr": {id}, "at": {time}, "body": {"text": "{text:20}"}}').declaration
    receipt = found.message.received
    assert found.format == "json"
    assert [each.at for each in receipt.where] == ["/type"]
    assert receipt.id
    assert receipt.time
    assert (receipt.id.at, receipt.time.at) == ("/nr", "/at")
    assert [each.at for each in receipt.same] == ["/body/text"]


def test_an_id_within_a_value_and_a_message_without_constants() -> None:
    receipt = protocol('{"text": "say \'{id}\' {text:20}"}').declaration.message.received
    assert receipt.id
    assert receipt.id.at == "/text"
    assert [part.value for part in receipt.id.like if part.value] == ["id"]


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ("hello", r"the message has no \{id\}"),
        ('{"id": {id}', "the message cannot be played: not JSON with values filled in"),
        ('{"id": {number}}', r"no value \{number\} here"),
    ],
)
def test_a_message_that_cannot_be_played_is_refused(message: str, what: str) -> None:
    with pytest.raises(UserError, match=what):
        protocol_yml(answers(message))


def test_the_workflow_is_that_of_the_documentation() -> None:
    document = (ROOT / "docs" / "github.md").read_text()
    assert f"```yaml\n{workflow_yml('bench/my-server', 'OWNER/pushbench@TAG')}```" in document


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        ("https://github.com/me/chat.git", "https://github.com/me/chat"),
        ("https://me:s3cret@github.com/me/chat", "https://github.com/me/chat"),
        ("git@github.com:me/chat.git", "https://github.com/me/chat"),
        ("ssh://git@github.com/me/chat.git", "https://github.com/me/chat"),
        ("/srv/git/chat", None),
        ("", None),
    ],
)
def test_the_page_of_a_repository_has_no_credentials(remote: str, page: str | None) -> None:
    assert web_address(remote) == page
