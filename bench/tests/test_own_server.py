"""The chat of docs/own-server.md as a server of a catalog: verified and measured with its declared protocol."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bare_checkouts import CHECKOUT, environment_of, make_bare_checkout

pytestmark = [pytest.mark.slow, pytest.mark.early]

CHAT = CHECKOUT.root / "docs" / "examples" / "ws-chat"
SERVER_YML = """\
title: Chat
link: https://github.com/websockets/ws
language: JavaScript
suite: whiteboard
protocol: protocol.yml
tier: baseline
process:
  toolchains: {node: ">=20"}
  build: [[npm, ci, --ignore-scripts, --no-audit, --no-fund, --prefer-offline]]
  start: [node, server.js]
ready: port
"""
SEND = "other.send(data,"


def add_chat(catalog: Path, name: str, *, prefix: str = "") -> None:
    """A chat that puts `prefix` before each message."""
    folder = catalog / "servers" / name
    shutil.copytree(CHAT, folder, ignore=shutil.ignore_patterns("node_modules"))
    (folder / "server.yml").write_text(SERVER_YML)
    program = folder / "server.js"
    assert SEND in program.read_text()
    if prefix:
        program.write_text(program.read_text().replace(SEND, f"other.send('{prefix}' + data,"))


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with only the chat and a server that does not match its file."""
    root = make_bare_checkout(tmp_path_factory.mktemp("catalog"))
    add_chat(root, "chat")
    add_chat(root, "lame", prefix="> ")
    return root


def pushbench(catalog: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pushbench", *arguments, "--driver", "process"]
    return subprocess.run(command, env=environment_of(catalog), capture_output=True, text=True, check=False)


def test_a_run_measures_the_servers_that_speak_as_they_declare(catalog: Path) -> None:
    done = pushbench(catalog, "run", "--suite", "whiteboard", "--profile", "smoke")
    assert "chat: passed 13 rules, 2 not asked" in done.stderr, done.stderr
    [file] = (catalog / "out" / "records").glob("*.json")
    trials: dict[str, Any] = {trial["server"]: trial for trial in json.loads(file.read_text())["trials"]}
    assert trials["chat"]["failure"] is None
    warnings = trials["chat"]["validity"]["warnings"]
    assert [each for each in warnings if "verified" in each["message"]] == []
    assert "nothing lost" in done.stderr or "invalid" in done.stderr  # if the machine is too busy
    assert trials["lame"]["failure"]["step"] == "verify"
    told = trials["lame"]["failure"]["message"]
    assert "servers/lame/protocol.yml:7: message.received: client 0 never receives" in told


def test_what_the_chat_cannot_be_asked_is_named(catalog: Path) -> None:
    rules = ("--rule", "message-reaches-every-member", "--rule", "leaving-ends-deliveries")
    done = pushbench(catalog, "verify", "chat", *rules)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not asked chat: leaving-ends-deliveries: the protocol declares no `leave`" in done.stdout
    assert "chat: keeps 1 of 1 rules, 1 not asked" in done.stderr
