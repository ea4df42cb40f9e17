"""The bytes of answers are parsed however they are split, and bytes that are not HTTP are refused."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from pushbench.conformance.connection import Closed, Connection
from pushbench.conformance.http1 import Answer, Head, in_chunks
from pushbench.conformance.rule import Mismatch

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
EMPTY = OK + b"Content-Length: 0\r\n\r\n"
PROMPT = 0.2


class Peer:
    """The other end of connections: their readers and writers."""

    def __init__(self) -> None:
        self.readers: list[asyncio.StreamReader] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.met = asyncio.Event()

    def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.readers.append(reader)
        self.writers.append(writer)
        self.met.set()

    def write(self, octets: bytes) -> None:
        self.writers[-1].write(octets)


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[Connection, Peer]]:
    peer = Peer()
    server = await asyncio.start_server(peer.meet, "127.0.0.1", 0)
    connection = Connection(server.sockets[0].getsockname(), PROMPT)
    try:
        await connection.open()
        await peer.met.wait()
        yield connection, peer
    finally:
        connection.close()
        for writer in peer.writers:
            writer.transport.abort()
        server.close()
        await server.wait_closed()


async def answer_to(octets: bytes, *, at_a_time: int = 1 << 16) -> Answer:
    async with connected() as (connection, peer):
        reading = asyncio.create_task(connection.answer(within=1))
        for at in range(0, len(octets), at_a_time):
            peer.write(octets[at : at + at_a_time])
            await asyncio.sleep(0)
        peer.writers[-1].write_eof()
        return await reading


@pytest.mark.parametrize("at_a_time", [1, 7, 1000])
@pytest.mark.parametrize(
    "octets",
    [
        CHUNKED + b"3\r\nabc\r\nA;why=not\r\ndefghijklm\r\n0\r\nTrailer: 1\r\n\r\n",
        OK + b"Content-Length: 13\r\n\r\nabcdefghijklm",
        OK + b"Connection: close\r\n\r\nabcdefghijklm",
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 13\r\n\r\nabcdefghijklm",
    ],
)
async def test_an_answer_is_the_same_however_its_bytes_are_cut(octets: bytes, at_a_time: int) -> None:
    answer = await answer_to(octets, at_a_time=at_a_time)
    assert (answer.status, answer.body) == (200, b"abcdefghijklm")


async def test_the_next_answer_follows_the_one_before() -> None:
    async with connected() as (connection, peer):
        peer.write((CHUNKED + b"1\r\na\r\n0\r\n\r\n") * 2 + b"HTTP/1.1 204 None\r\n\r\n")
        assert [(await connection.answer()).body for _ in range(3)] == [b"a", b"a", b""]


async def test_a_body_is_read_in_the_pieces_in_which_it_comes() -> None:
    async with connected() as (connection, peer):
        peer.write(CHUNKED)
        assert (await connection.head()).status == 200
        for piece in (b"a", b"bc"):
            peer.write(in_chunks(piece).removesuffix(b"0\r\n\r\n"))
            assert await connection.piece() == piece
        with pytest.raises(Mismatch, match=r"more of the answer within 0\.2 s; saw none"):
            await connection.piece()
        peer.write(b"0\r\n\r\n" + EMPTY)
        assert await connection.piece() == b""
        assert (await connection.answer()).body == b""


@pytest.mark.parametrize(
    "octets",
    [
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 200 O\0K\r\nContent-Length: 0\r\n\r\n",
        OK.replace(b"\r", b"") + b"Content-Length: 0\r\n\r\n",
        OK + b"no field\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
        OK + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na",
        OK + b"Transfer-Encoding: gzip\r\n\r\na",
        OK + b"\r\nno length",
        OK + b"X: y\r\n" * 5000 + b"Content-Length: 0\r\n\r\n",
        CHUNKED + b"xyz\r\n",
        CHUNKED + b"1\r\nab\r\n0\r\n\r\n",
        CHUNKED + b"1 \r\na\r\n0\r\n\r\n",
        CHUNKED + in_chunks(bytes(2 << 20)),
        b"x" * 100_000,
    ],
)
async def test_what_is_no_http_is_a_mismatch(octets: bytes) -> None:
    with pytest.raises(Mismatch):
        await answer_to(octets)


@pytest.mark.parametrize(
    "octets", [CHUNKED + b"3\r\nab", CHUNKED + b"1\r\na\r\n", OK + b"Content-Length: 2\r\n\r\na", OK + b"A: b"]
)
async def test_an_answer_that_does_not_end_as_http_says_is_closed(octets: bytes) -> None:
    with pytest.raises(Closed):
        await answer_to(octets)


async def test_the_next_request_takes_a_new_connection_only_where_the_answer_said_close() -> None:
    async with connected() as (connection, peer):
        peer.write(EMPTY + OK + b"Content-Length: 0\r\nConnection: keep-alive, Close\r\n\r\n")
        opened = []
        for _ in range(2):
            await connection.ask("GET", "/")
            opened.append(connection.opened)
        await connection.renew()
        assert [*opened, connection.opened] == [1, 1, 2]


async def test_the_end_of_the_connection_is_told_from_a_reset_and_from_more_bytes() -> None:
    async with connected() as (connection, peer):
        peer.writers[-1].write_eof()
        await connection.is_ended("a test")
    async with connected() as (connection, peer):
        peer.write(EMPTY + b"more")
        await connection.answer()
        with pytest.raises(Mismatch, match="more"):
            await connection.is_ended("a test")
    async with connected() as (connection, peer):
        connection.write(b"x")
        await peer.readers[-1].read(1)
        peer.writers[-1].get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        peer.writers[-1].transport.abort()
        with pytest.raises(Mismatch, match="a reset"):
            await connection.is_ended("a test")


async def test_a_request_is_written_as_it_is_given() -> None:
    async with connected() as (connection, peer):
        connection.write(connection.request("POST", "/post", b"{}", ("A", "b"))[:-1])
        sent = await peer.readers[-1].read(1000)
        port = peer.writers[-1].get_extra_info("sockname")[1]
        assert sent == f"POST /post HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nA: b\r\nContent-Length: 2\r\n\r\n{{".encode()
        assert b"Content-Length" not in connection.request("GET", "/")


def test_a_field_has_one_value_unless_it_is_a_list() -> None:
    head = Head(200, [("allow", "GET, HEAD"), ("allow", "POST"), ("content-type", "Application/JSON; a=b")])
    assert head.values("allow") == {"GET", "HEAD", "POST"}
    assert (head.media_type, head.value("location")) == ("application/json", "")
    with pytest.raises(Mismatch, match="one header allow"):
        head.value("allow")


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [("text/plain", b"{}", "Content-Type"), ("application/json", b"{", "a JSON body"), ("", b"{}", "Content-Type")],
)
def test_json_is_declared_and_well_formed(kind: str, body: bytes, expected: str) -> None:
    with pytest.raises(Mismatch, match=expected):
        Answer(Head(200, [("content-type", kind)]), body).json()
