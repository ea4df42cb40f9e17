"""A server that runs elsewhere has an address without secrets, and nothing to build or start."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.building.images import images_of
from pushbench.catalog.addresses import checked_url, name_of
from pushbench.catalog.elsewhere import server_at
from pushbench.catalog.servers import Server, here, read_catalog, read_servers
from pushbench.foundation.errors import UserError
from tests.support import make_project

ELSEWHERE = """\
title: Chat
link: https://example.org
language: Elixir
suite: tiny
protocol: protocol.yml
tier: baseline
url: wss://chat.example.org
ca: own-ca.pem
variants:
  staging: {url: "wss://staging.example.org:8443"}
"""


def described(tmp_path: Path, text: str = ELSEWHERE) -> list[Server]:
    folder = tmp_path / "checkout" / "servers" / "chat"
    folder.mkdir(parents=True)
    (folder / "server.yml").write_text(text)
    return read_servers(folder)


@pytest.mark.parametrize(
    ("url", "known"),
    [
        ("wss://chat.example.org", "wss://chat.example.org"),
        ("wss://chat.example.org/v1/", "wss://chat.example.org/v1"),
        ("ws://127.0.0.1:8080", "ws://127.0.0.1:8080"),
        ("https://[::1]:8443/x", "https://[::1]:8443/x"),
    ],
)
def test_an_address_is_a_url_of_a_server(url: str, known: str) -> None:
    assert checked_url(url) == known


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("chat.example.org", "expected something like"),
        ("ftp://chat.example.org", "expected something like"),
        ("wss://", "expected something like"),
        ("wss://h:99999", "expected something like"),
        ("wss://h:0", "expected something like"),
        ("wss://h/\x1b[31m", "expected something like"),
        ("wss://h /x", "expected something like"),
        ("wss://anna:s3cret@chat.example.org", "a name or a password"),
        ("wss://s3cret@chat.example.org", "a name or a password"),
        ("wss://chat.example.org/?token=s3cret", "a query or a fragment"),
        ("wss://chat.example.org/?", "a query or a fragment"),
        ("wss://chat.example.org/#s3cret", "a query or a fragment"),
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(url: str, what: str) -> None:
    with pytest.raises(ValueError, match=what) as refused:
        checked_url(url)
    assert "s3cret" not in str(refused.value)


def test_a_server_without_a_name_has_that_of_its_host(tmp_path: Path) -> None:
    assert name_of("wss://Chat.Example.org/v1") == "chat-example-org"
    assert name_of("wss://[::1]:8443") == "1-8443"
    server = server_at("wss://chat.example.org", "tiny", str(tmp_path / "my_chat.yaml"))
    assert (server.id, server.protocol_file) == ("chat-example-org", tmp_path / "my_chat.yaml")
    assert server_at("ws://h", "tiny", "x.yml", name="mine").id == "mine"


def test_a_folder_may_describe_a_server_elsewhere(tmp_path: Path) -> None:
    chat, staging = described(tmp_path)
    assert (chat.spec.url, staging.spec.url) == ("wss://chat.example.org", "wss://staging.example.org:8443")
    assert chat.authorities == chat.folder / "own-ca.pem"
    with pytest.raises(
        UserError, match=r"chat runs elsewhere, at wss://chat.example.org; only `pushbench run` measure"
    ):
        _ = chat.process


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("url: wss://chat.example.org\nca: own-ca.pem\n", "", "expected either process, compose or url"),
        ("ca: own-ca.pem", "process: {toolchains: {}, start: [x]}", "expected either process, compose or url"),
        ("protocol: protocol.yml", "protocol: tiny-json", "a server that runs elsewhere declares it in a file"),
        ("ca: own-ca.pem", "services: [redis]", "a server that runs elsewhere has its own"),
        ("wss://chat.example.org\n", "wss://u:p@chat.example.org\n", ":7: url: .*a name or a password"),
    ],
)
def test_what_cannot_be_elsewhere_is_refused(old: str, new: str, what: str, tmp_path: Path) -> None:
    assert old in ELSEWHERE
    with pytest.raises(UserError, match=what):
        described(tmp_path, ELSEWHERE.replace(old, new, 1))


def test_only_servers_that_run_here_have_images_and_are_meant_by_all(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", fake="")
    described(tmp_path)
    catalog = read_catalog(project.servers)
    assert [server.id for server in catalog] == ["chat", "chat/staging", "fake"]
    assert [server.id for server in here(catalog)] == ["fake"]
    assert [image.name for image in images_of(catalog)] == ["fake"]
