"""A proxy for HTTP and WebSocket clients forwards everything, and a draft of the recorded conversations can be read."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from pushbench.authoring import overhearing
from pushbench.authoring.drafting import draft
from pushbench.authoring.overhearing import MOST_BESIDE
from pushbench.catalog.protocols import protocol_in
from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import parse_yaml
from pushbench.machine.ports import free_port
from tests.scripted_http import SECRET, chat, client_of, heard_by_proxy, order, read_letters, scripted_http


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with scripted_http() as url:
        yield url


def read(text: str) -> Any:
    file = parse_yaml(text, Path("protocol.yml"))
    protocol_in(file)
    return file.data


async def test_requests_with_one_answer_each_are_drafted(server: str) -> None:
    notes: list[str] = []
    talks = await heard_by_proxy(f"{server}/shop", order, notes)
    text = draft(talks)
    assert SECRET.split()[1] not in text
    assert read(text) == {
        "http": {
            "path": "/orders",
            "status": 201,
            "headers": {"X-Tenant": "tea", "Authorization": "{secret:authorization}"},
        },
        "message": {
            "send": '{"item": "{text:20}", "reference": "{id}"}',
            "received": {"/state": "accepted"},
            "id": "/order/reference",
            "same": {"/order/item": "/item"},
        },
        "secrets": {"authorization": {"env": "PUSHBENCH_SECRET_AUTHORIZATION"}},
    }
    assert notes[1:3] == ["POST /orders: HTTP 401", "POST /orders: HTTP 201"]


async def test_streams_of_json_are_drafted(server: str) -> None:
    talks = await heard_by_proxy(server, chat)
    text = draft(talks)
    assert read(text) == {
        "sse": {"path": "/chat", "headers": {"Authorization": "{secret:authorization}"}, "tokens": 5, "end": "[DONE]"},
        "message": {
            "send": '{"stream": true, "max_tokens": 5, "messages": [{"role": "user", "content": "{text:20}"}]}',
            "received": {"/choices/0/delta/content": "{any}"},
        },
        "ignore": [
            {"/choices/0/delta/role": "assistant", "/choices/0/delta/content": ""},
            {"/choices/0/finish_reason": "length"},
        ],
        "secrets": {"authorization": {"env": "PUSHBENCH_SECRET_AUTHORIZATION"}},
    }
    assert "tokens: 5 # as the request says at /max_tokens" in text


async def test_streams_of_text_are_drafted(server: str) -> None:
    talks = await heard_by_proxy(server, read_letters)
    assert read(draft(talks)) == {
        "sse": {"path": "/letters?reader={client}&lang=en%20gb", "method": "GET", "tokens": 7, "number": "event-id"},
        "format": "text",
        "message": {"received": "{any}"},
    }


async def test_what_is_said_over_websocket_is_heard_and_arrives() -> None:
    """A client that offers compression, which the server would accept, and a message in two frames."""

    async def echo(socket: ServerConnection) -> None:
        async for message in socket:
            await socket.send(message if isinstance(message, bytes) else [message[:2], message[2:]])

    came: list[str | bytes] = []
    notes: list[str] = []

    async def talk(url: str) -> None:
        for name in ("ann", "ben"):
            headers = {"Authorization": SECRET, "X-Tenant": name}
            socket = connect(
                f"{url}/room?v=1", subprotocols=[Subprotocol("v2"), Subprotocol("v1")], additional_headers=headers
            )
            async with socket as client:
                for message in (f"I am {name}", b"\x00"):
                    await client.send(message)
                    came.append(await client.recv())

    async with serve(echo, "127.0.0.1", 0, subprotocols=[Subprotocol("v1")]) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        talks = await heard_by_proxy(f"ws://127.0.0.1:{port}/chats", talk, notes)
        assert came == ["I am ann", b"\x00", "I am ben", b"\x00"]
    assert [(each.path, each.subprotocol, each.status) for each in talks] == 2 * [("/room?v=1", "v1", 101)]
    assert [each.headers for each in talks] == [{"X-Tenant": "ann"}, {"X-Tenant": "ben"}]
    assert [each.secret_headers for each in talks] == 2 * [["Authorization"]]
    assert [(each.sent, each.text) for each in talks[1].said] == [
        (True, "I am ben"),
        (False, "I am ben"),
        (True, None),
        (False, None),
    ]
    assert notes[-1] == "client 1 has disconnected after 4 messages"


async def test_a_client_that_leaves_a_stream_is_told() -> None:
    """A stream without an end is recorded as far as it came, and yields no draft."""

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: first\n\ndata: se")
        await reader.read()
        writer.close()

    async def glance(url: str) -> None:
        async with client_of(url) as client:
            for _ in range(3):
                async with client.stream("GET", "/news") as answer:
                    await anext(answer.aiter_raw())

    notes: list[str] = []
    server = await asyncio.start_server(endless, "127.0.0.1", 0)
    async with server:
        talks = await heard_by_proxy(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", glance, notes)
    assert [(each.cut, [said.text for said in each.said]) for each in talks] == 3 * [(True, ["first"])]
    assert notes[-1] == "GET /news: HTTP 200, incomplete"
    with pytest.raises(UserError, match="an answer is incomplete"):
        draft(talks)


async def test_what_cannot_be_passed_on_is_told() -> None:
    async def knock(url: str) -> None:
        async with client_of(url) as client:
            await client.get("/")

    async def shout(url: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(b"no HTTP at all\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        raise httpx.RemoteProtocolError("as expected")

    nowhere = f"http://127.0.0.1:{free_port()}"
    for client, what in (
        (knock, f"a connection ends: {nowhere} cannot be reached"),
        (shout, "a connection ends: il"),
    ):
        notes: list[str] = []
        with pytest.raises(httpx.RemoteProtocolError):
            await heard_by_proxy(nowhere, client, notes)
        assert notes[1].startswith(what)


async def test_a_client_that_says_too_much_beside_an_answer_is_ended() -> None:
    """The proxy stops reading, because it would have to keep what the client sends meanwhile."""

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def babble(url: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + b"GET / HTTP/1.1\r\n" * MOST_BESIDE)
        with contextlib.suppress(ConnectionError):
            assert await asyncio.wait_for(reader.read(), 5) == b""
        writer.close()
        raise httpx.RemoteProtocolError("as expected")

    notes: list[str] = []
    server = await asyncio.start_server(mute, "127.0.0.1", 0)
    async with server:
        with pytest.raises(httpx.RemoteProtocolError):
            await heard_by_proxy(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", babble, notes)
    assert notes[1:] == [
        "GET /: no answer",
        "a connection ends: the client sent more than 65,536 bytes before its answer had ended",
    ]


async def test_what_is_kept_of_a_conversation_is_bounded(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overhearing, "MOST_KEPT", 4)
    notes: list[str] = []
    talks = await heard_by_proxy(server, read_letters, notes)
    assert [[said.text for said in talk.said] for talk in talks] == 3 * [list("lett")]
    assert notes[1:3] == [
        "only the first 4 messages of one conversation are kept",
        "GET /letters: HTTP 200, incomplete",
    ]
    with pytest.raises(UserError, match="an answer is incomplete"):
        draft(talks)


async def test_what_is_kept_of_all_conversations_is_bounded(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answered requests, but never three of the same kind."""

    async def crawl(url: str) -> None:
        async with client_of(url) as client:
            with contextlib.suppress(httpx.TransportError):  # once the proxy has ended
                for word in ("a", "b", "c", "d", "e"):
                    await client.get(f"/{word}/pages")

    monkeypatch.setattr(overhearing, "MOST_OCTETS", 7000)
    with pytest.raises(UserError, match="more than 0 MiB were exchanged before there was a draft"):
        await heard_by_proxy(server, crawl)
    monkeypatch.setattr(overhearing, "MOST_OCTETS", 70_000)
    with pytest.raises(TimeoutError):
        await heard_by_proxy(server, crawl, within=0.2)


async def test_connections_are_bounded(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def crowd(url: str) -> None:
        async with client_of(url) as one, client_of(url) as other:
            async with one.stream("GET", "/letters"):
                await other.get("/letters")

    monkeypatch.setattr(overhearing, "MOST_CONNECTIONS", 1)
    notes: list[str] = []
    with pytest.raises(httpx.TransportError):
        await heard_by_proxy(server, crowd, notes)
    assert "a connection is refused: there are 1 already" in notes
