"""The chat of docs/own-server.md as a server of a catalog: verified and measured by the protocol that it declares."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.early]

CHECKOUT = Path(__file__).parents[2]
CHAT = CHECKOUT / "docs" / "examples" / "ws-chat"
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
"""
PORT = "const server = new WebSocketServer({ port: Number(process.env.PORT || 8080) });"
WITH_HEALTHZ = """\
import { createServer } from 'node:http';
const http = createServer((request, response) => {
  if (request.url !== '/healthz') return response.writeHead(404).end();
  response.end(JSON.stringify({ server: 'NAME', runtime: process.version, framework: 'ws' }));
});
const server = new WebSocketServer({ server: http });
http.listen(Number(process.env.PORT), '127.0.0.1');"""


def add_chat(catalog: Path, name: str, *, prefix: str = "") -> None:
    """A chat that puts `prefix` before each message."""
    folder = catalog / "servers" / name
    shutil.copytree(CHAT, folder, ignore=shutil.ignore_patterns("node_modules"))
    (folder / "server.yml").write_text(SERVER_YML)
    program = (folder / "server.js").read_text()
    assert PORT in program
    assert "other.send(data," in program
    program = program.replace(PORT, WITH_HEALTHZ.replace("NAME", name)).replace(
        "send(data,", f"send('{prefix}' + data,"
    )
    (folder / "server.js").write_text(program)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with nothing in it but the generator, the limits, the chat, and one that its file does not fit."""
    root = tmp_path_factory.mktemp("catalog")
    add_chat(root, "chat")
    add_chat(root, "lame", prefix="> ")
    (root / "k6").symlink_to(CHECKOUT / "k6")
    (root / ".cache" / "pushbench").mkdir(parents=True)
    (root / ".cache" / "pushbench" / "k6").symlink_to(CHECKOUT / ".cache" / "pushbench" / "k6")
    (root / "thresholds.yml").symlink_to(CHECKOUT / "thresholds.yml")
    return root


def pushbench(catalog: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PUSHBENCH_ROOT": str(catalog), "PUSHBENCH_LOCK": str(catalog / "lock")}
    environment |= {"PYTHONPATH": str(CHECKOUT / "bench"), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "pushbench", *arguments, "--driver", "process"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_run_measures_the_servers_that_speak_as_they_declare(catalog: Path) -> None:
    done = pushbench(catalog, "run", "--suite", "whiteboard", "--profile", "smoke")
    assert "chat: passed 13 rules, 2 not asked" in done.stderr, done.stderr
    [file] = (catalog / "out" / "records").glob("*.json")
    trials: dict[str, Any] = {trial["server"]: trial for trial in json.loads(file.read_text())["trials"]}
    assert trials["chat"]["failure"] is None
    warnings = trials["chat"]["validity"]["warnings"]
    assert [each for each in warnings if "verified" in each["message"]] == []
    assert "nothing lost" in done.stderr or "invalid" in done.stderr  # where the machine is too busy
    assert trials["lame"]["failure"]["step"] == "verify"
    told = trials["lame"]["failure"]["message"]
    assert "servers/lame/protocol.yml:7: message.received: client 0 never receives" in told


def test_what_the_chat_cannot_be_asked_is_named(catalog: Path) -> None:
    rules = ("--rule", "message-reaches-every-member", "--rule", "leaving-ends-deliveries")
    done = pushbench(catalog, "verify", "chat", *rules)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not asked chat: leaving-ends-deliveries: the protocol declares no `leave`" in done.stdout
    assert "chat: keeps 1 of 1 rules, 1 not asked" in done.stderr
