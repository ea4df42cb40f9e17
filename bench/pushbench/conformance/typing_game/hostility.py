"""What a client may do to its connection, without harm to other clients."""

from __future__ import annotations

from pushbench.conformance import socketio
from pushbench.conformance.rule import rule
from pushbench.conformance.together import together
from pushbench.conformance.typing_game.clients import Clients
from pushbench.conformance.upgrades import require_no_compression, require_refusals


@rule("A violation of RFC 6455 ends the connection that commits it and no other.")
async def protocol_errors_harm_nobody(clients: Clients) -> None:
    witness = await clients.player()
    mask = bytes(4)  # a mask of zeros leaves the payload unchanged
    unmasked = ('42["x","' + 1000 * "x" + '"]').encode()
    violations = {
        # A server need not notice before the second frame: uWebSockets reads that frame's first bytes as the mask.
        "unmasked frames": 2 * (b"\x81\x7e" + len(unmasked).to_bytes(2, "big") + unmasked),
        "a reserved opcode": b"\x83\x82" + mask + b"{}",
        "a reserved bit": b"\xc1\x82" + mask + b"{}",
        "a continuation of nothing": b"\x80\x82" + mask + b"{}",
        "a fragmented ping": b"\x09\x80" + mask,
        "a ping of 126 bytes": b"\x89\xfe\x00\x7e" + mask + bytes(126),
        "invalid UTF-8": b"\x81\x83" + mask + b"\xff\xfe\xfd",
    }
    for what, octets in violations.items():
        violator = await clients.player()
        violator.write_raw(octets)
        await violator.is_closed(what)
        await witness.ask("ping", {"sentAt": 1})


@rule("permessage-deflate is not negotiated, even when the client offers it.")
async def compression_stays_off(clients: Clients) -> None:
    require_no_compression((await clients.player(compression="deflate")).connection.response)


@rule("A WebSocket upgrade of an unknown path, and a malformed one of the right path, answer 4xx.")
async def bad_upgrade_is_refused(clients: Clients) -> None:
    await require_refusals(clients.player(path="/nothing-here"), clients.target.url, socketio.PATH)


@rule("Connections that send half a request or half a handshake delay nobody.")
async def half_requests_delay_nobody(clients: Clients) -> None:
    connections = await together(clients.connect() for _ in range(50))
    for connection in connections:
        connection.write(b"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: x\r\nUpgra")
    player = await clients.player()
    await clients.gathered([player])
