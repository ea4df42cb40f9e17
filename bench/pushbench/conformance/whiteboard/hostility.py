"""What a client may send, or do to its connection, without harm to other clients."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from websockets.exceptions import ConnectionClosed

from pushbench.conformance.oversized import send_oversized, send_oversized_fragments
from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.together import together
from pushbench.conformance.upgrades import require_no_compression, require_refusals
from pushbench.conformance.whiteboard.client import PROMPT, Client
from pushbench.conformance.whiteboard.clients import Clients
from pushbench.conformance.whiteboard.draws import bad_messages, broken_texts, extreme_draws, extreme_texts
from pushbench.conformance.whiteboard.inbox import Drawn, Refused

MESSAGE_LIMIT = 65_536
"""Bytes of the largest message that a server accepts, the same for every server."""


@rule("A bad message is answered with one error, reaches nobody else, and the connection stays.", limit_seconds=30)
async def bad_message_is_an_error(clients: Clients) -> None:
    board = clients.board()
    witness, culprit = await clients.members(board, 2)
    faults = []
    cases = bad_messages(board, culprit.user)
    if culprit.carries_any_text:
        cases = broken_texts(board, culprit.user) | cases
    for case, text in cases.items():
        try:
            await culprit.say(board, text)
            await culprit.is_refused(f"{case} {escaped(text)}")
        except (Mismatch, ConnectionClosed) as fault:
            faults.append(str(fault))
            culprit = await clients.member(board)
    if faults:
        raise Mismatch("an error for every bad message", f"{len(faults)} other answers: " + "; ".join(faults[:8]))
    await witness.receives(await culprit.draw(board))
    await culprit.join(board)
    if culprit.inbox.has(Refused):
        raise Mismatch("no more than one error for each bad message", culprit.inbox)


@rule("JSON at the edge of what parsers take (depth, digits, keys, surrogates) is answered and harms nobody.")
async def extreme_json_is_harmless(clients: Clients) -> None:
    board = clients.board()
    witness, culprit = await clients.members(board, 2)
    cases = extreme_draws(culprit.next_draw(board))
    if culprit.carries_any_text:
        cases = extreme_texts() | cases
    for case, text in cases.items():
        await culprit.say(board, text)
        after = await culprit.draw(board)
        delivered = await witness.next_drawn(f"a draw that follows {case}", within=5)
        if delivered == after:
            await culprit.inbox.take(Refused, f"an error for {case}, which was not delivered", PROMPT)
        else:
            await witness.receives(after)
            if not witness.same(text, delivered):
                raise Mismatch(f"{case} to be refused or to arrive unchanged", Drawn(delivered))


@rule("A message of exactly 65,536 bytes is accepted.")
async def message_of_64_kib_is_accepted(clients: Clients) -> None:
    board = clients.board()
    artist, member = await clients.members(board, 2)
    draw = artist.next_draw_of(board, MESSAGE_LIMIT)
    await artist.say(board, draw)
    await member.receives(draw)


@rule("A message of more than 65,536 bytes, in one frame or several, reaches nobody and closes with 1009.")
async def larger_message_closes_1009(clients: Clients) -> None:
    board = clients.board()
    witness = await clients.member(board)

    async def one_frame(artist: Client) -> None:
        await send(artist, artist.next_draw_of(board, MESSAGE_LIMIT + 1))

    async def many_bytes_in_few_characters(artist: Client) -> None:
        await send(artist, artist.next_draw(board, note="\u00e9" * 40_000))

    async def one_mebibyte(artist: Client) -> None:
        await send(artist, artist.next_draw_of(board, 1 << 20))

    async def fragments(artist: Client) -> None:
        message = artist.message(board, artist.next_draw_of(board, MESSAGE_LIMIT + 500))
        await send_oversized_fragments(artist.connection, message)

    async def send(artist: Client, draw: str) -> None:
        await send_oversized(artist.connection, artist.message(board, draw), MESSAGE_LIMIT)

    async def closes(attempt: Callable[[Client], Awaitable[None]], artist: Client) -> None:
        await attempt(artist)
        await artist.is_closed_with(1009, what=attempt.__name__.replace("_", " "))

    # In parallel: each pauses for the server to read.
    attempts = (one_frame, many_bytes_in_few_characters, one_mebibyte, fragments)
    await together(map(closes, attempts, await clients.members(board, len(attempts))))
    await witness.receives(await (await clients.member(board)).draw(board))


@rule("A violation of RFC 6455 ends the connection that commits it and no other.")
async def protocol_errors_harm_nobody(clients: Clients) -> None:
    board = clients.board()
    witness, artist = await clients.members(board, 2)
    mask = bytes(4)  # a mask of zeros leaves the payload unchanged
    violations = {
        "unmasked frames": 2 * _unmasked(artist.message(board, artist.next_draw_of(board, 1000))),
        "a reserved opcode": b"\x83\x82" + mask + b"{}",
        "a reserved bit": b"\xc1\x82" + mask + b"{}",
        "a continuation of nothing": b"\x80\x82" + mask + b"{}",
        "a fragmented ping": b"\x09\x80" + mask,
        "a ping of 126 bytes": b"\x89\xfe\x00\x7e" + mask + bytes(126),
        "invalid UTF-8": b"\x81\x83" + mask + b"\xff\xfe\xfd",
    }
    for what, octets in violations.items():
        violator = await clients.member(board)
        violator.write_raw(octets)
        await violator.is_closed(what)
        await witness.receives(await artist.draw(board))


def _unmasked(message: str) -> bytes:
    """A server need not notice before the second message: uWebSockets reads its first bytes as the mask."""
    octets = message.encode()
    return b"\x81\x7e" + len(octets).to_bytes(2, "big") + octets


@rule("permessage-deflate is not negotiated, even when the client offers it.")
async def compression_stays_off(clients: Clients) -> None:
    client = await clients.connect(compression="deflate")
    require_no_compression(client.connection.response)


@rule("A WebSocket upgrade of an unknown path, and a malformed one of the right path, answer 4xx.")
async def bad_upgrade_is_refused(clients: Clients) -> None:
    await require_refusals(clients.connect(path="/nothing-here"), clients.target.url, clients.path)


@rule("Connections that send half a handshake, garbage or nothing delay nobody.")
async def half_handshakes_delay_nobody(clients: Clients) -> None:
    host, port = clients.address
    beginnings = (
        b"",
        f"GET {clients.path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: webs".encode(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40),
        b"\x00" * 200 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: " + b"x" * 20_000,
    )
    idle = []
    try:
        for beginning in beginnings * 20:
            _, writer = await asyncio.open_connection(host, port)
            idle.append(writer)
            writer.write(beginning)
        board = clients.board()
        async with asyncio.timeout(3):
            artist, member = await clients.members(board, 2)
            await member.receives(await artist.draw(board))
    except TimeoutError:
        raise Mismatch("a new client to be served within 3 s", "none served") from None
    finally:
        for writer in idle:
            writer.transport.abort()
