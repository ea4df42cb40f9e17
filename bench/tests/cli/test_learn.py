"""`pushbench learn` with real servers: their clients' messages become a protocol.yml that `protocol check` accepts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect as async_connect
from websockets.exceptions import InvalidMessage
from websockets.sync.client import ClientConnection, connect

from pushbench.authoring.drafting import draft
from pushbench.building.builds import build_generator
from pushbench.catalog.protocols import protocol_in
from pushbench.foundation.yamlfile import parse_yaml
from pushbench.generator.talking import converse
from pushbench.machine.ports import free_port
from tests.cli.test_protocol_check import CHECKOUT, EXAMPLES
from tests.cli.test_run_elsewhere import build_scripted
from tests.cli.test_run_elsewhere import serving as tls_server
from tests.scripted_http import SECRET, chat, heard_by_proxy, order, read_letters, scripted_http
from tests.serving import await_port

pytestmark = [pytest.mark.slow]

BENCH = Path(__file__).parents[2]
JSON_CHAT = """\
import { WebSocketServer } from 'ws';
const rooms = new Map();
new WebSocketServer({ port: process.env.PORT }).on('connection', (socket) => {
  const send = (to, message) => to.send(JSON.stringify(message));
  send(socket, { type: 'hello', version: 1 });
  socket.on('message', (data) => {
    const { type, room, name, nr, text } = JSON.parse(data);
    if (type === 'join') {
      rooms.set(room, [...(rooms.get(room) ?? []), socket]);
      Object.assign(socket, { room, name });
      send(socket, { type: 'joined', room, name, members: rooms.get(room).length });
    } else {
      for (const member of rooms.get(socket.room)) send(member, { type: 'said', from: socket.name, nr, text });
    }
  });
  socket.on('close', () => rooms.set(socket.room, (rooms.get(socket.room) ?? []).filter((each) => each !== socket)));
});
"""


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chats") / "ws-chat"
    shutil.copytree(EXAMPLES / "ws-chat", folder)
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--silent"]
    subprocess.run(install, cwd=folder, check=True)
    (folder / "json.js").write_text(JSON_CHAT)
    return folder


@pytest.fixture(params=["server.js", "json.js"])
def server(request: pytest.FixtureRequest, chats: Path) -> Iterator[tuple[str, int]]:
    port = free_port()
    environment = {**os.environ, "PORT": str(port)}
    with subprocess.Popen(["node", request.param], cwd=chats, env=environment) as program:
        try:
            await_port(port)
            yield request.param, port
        finally:
            program.terminate()


def pushbench(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-P", "-m", "pushbench", *map(str, arguments)]


def client_of(stack: contextlib.ExitStack, program: str, url: str, name: str) -> ClientConnection:
    """A client in the same room as the other one."""
    client = stack.enter_context(connect(f"{url}{'/' if program == 'json.js' else '/chat/lobby'}", proxy=None))
    if program == "json.js":
        client.recv(timeout=60)
        client.send(f'{{"type": "join", "room": "lobby", "name": "{name}"}}')
        client.recv(timeout=60)
    return client


def await_both(learn: subprocess.Popen[str]) -> None:
    """Wait until the server has both clients: `learn` accepts a client before it connects to the server for it."""
    assert learn.stderr
    for _ in range(2):
        next(line for line in learn.stderr if "has connected" in line)


def test_what_two_clients_say_becomes_a_protocol(server: tuple[str, int], tmp_path: Path) -> None:
    program, port = server
    to, own, file = f"ws://127.0.0.1:{port}", free_port(), tmp_path / "protocol.yml"
    environment = {**os.environ, "PYTHONPATH": str(BENCH)}
    command = pushbench("learn", "--to", to, "--port", str(own), "--into", file)
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as learn:
        try:
            await_port(own)
            names = ("alice", "bob")
            with contextlib.ExitStack() as stack:
                clients = [client_of(stack, program, f"ws://127.0.0.1:{own}", name) for name in names]
                await_both(learn)
                for number, words in enumerate(("good morning", "how do you do", "it rains", "see you soon")):
                    text = f"{names[number % 2]} {number} {words}"
                    if program == "json.js":
                        text = f'{{"type": "say", "nr": {number}, "text": "{words}"}}'
                    clients[number % 2].send(text)
                    assert all(words in str(client.recv(timeout=60)) for client in clients)
            out, errors = learn.communicate(timeout=60)
        finally:
            learn.kill()
    assert learn.returncode == 0, errors
    assert out == f"written   {file}\nnext: ./pushbench protocol check {file} --to {to}\n"
    check = subprocess.run(
        pushbench("protocol", "check", file, "--to", to), env=environment, capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stderr + file.read_text()


@pytest.mark.parametrize(("clients", "receipts"), [(order, 1), (chat, 5), (read_letters, 7)])
async def test_what_requests_say_becomes_a_protocol(
    clients: Callable[[str], Awaitable[None]], receipts: int, tmp_path: Path
) -> None:
    k6 = build_generator(CHECKOUT, print)
    with scripted_http() as url:
        text = draft(await heard_by_proxy(f"{url}/shop", clients))
        declared = protocol_in(parse_yaml(text, tmp_path / "protocol.yml"))
        secrets = {"PUSHBENCH_SECRET_AUTHORIZATION": SECRET}
        talked = await asyncio.to_thread(converse, k6, CHECKOUT.generator, f"{url}/shop", declared.declaration, secrets)
    assert talked.fault is None, text
    meanings = [line.meaning for line in talked.lines or [] if line.kind == "received"]
    answers = [each for each in meanings if "answer to request" in each]
    assert len(answers) == 3 * receipts


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    command = pushbench("learn", "--to", "http2://x")
    said = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(BENCH)}, capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stdout) == (2, "")
    assert "--to: expected something like wss://chat.example.org" in said.stderr


async def test_a_server_with_tls_is_heard_by_its_own_authority(tmp_path: Path) -> None:
    def compact(**message: Any) -> str:
        return json.dumps(message, separators=(",", ":"))

    async def draw(url: str) -> None:
        async with async_connect(f"{url}/ws", proxy=None) as one, async_connect(f"{url}/ws", proxy=None) as other:
            for name, client in (("ann", one), ("ben", other)):
                await client.send(compact(type="join", boardId="tea", userId=name))
                await client.recv()
            for seq in range(4):
                name, client = (("ann", one), ("ben", other))[seq % 2]
                await client.send(compact(type="draw", boardId="tea", userId=name, seq=seq, stroke=[[1, 2]]))
                await asyncio.gather(one.recv(), other.recv())

    with tls_server(build_scripted(tmp_path), tmp_path) as urls:
        notes: list[str] = []
        hearing = heard_by_proxy(urls.secured, draw, notes, authorities=urls.authorities)
        talks = await asyncio.wait_for(hearing, 20)
        assert '"type": "draw"' in draft(talks)
        assert notes[1:3] == ["client 0 has connected", "client 1 has connected"]
        notes.clear()
        with pytest.raises(InvalidMessage):
            await asyncio.wait_for(heard_by_proxy(urls.secured, draw, notes), 20)
    assert notes[1].startswith(f"a connection ends: {urls.secured} cannot be reached: its certificate is not trusted, ")
    assert notes[1].endswith("; --ca FILE trusts another authority")


def test_an_authority_that_verifies_nothing_is_told(tmp_path: Path) -> None:
    for to, what in (("ws://127.0.0.1:1", "--ca: ws:// has no certificate"), ("wss://127.0.0.1:1", "No such file")):
        command = pushbench("learn", "--to", to, "--ca", tmp_path / "none.pem")
        said = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": str(BENCH)}, capture_output=True, text=True, check=False
        )
        assert (said.returncode, said.stdout) == (2, "")
        assert what in said.stderr


def test_a_file_that_is_there_is_kept_unless_that_is_wanted(tmp_path: Path) -> None:
    """With --force, the command continues until it fails to open its port."""
    file = tmp_path / "protocol.yml"
    file.write_text("mine")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        own = taken.getsockname()[1]
        for force, what in (([], "already exists; --force replaces it"), (["--force"], "cannot be used")):
            command = pushbench("learn", "--to", "ws://127.0.0.1:1", "--port", str(own), "--into", file, *force)
            said = subprocess.run(
                command, env={**os.environ, "PYTHONPATH": str(BENCH)}, capture_output=True, text=True, check=False
            )
            assert (said.returncode, file.read_text()) == (2, "mine")
            assert what in said.stderr
