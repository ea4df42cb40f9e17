"""The protocol `typing-game-socketio`: how a server handles Socket.IO packets that are wrong or out of order."""

from __future__ import annotations

import json
from contextlib import suppress

from websockets.exceptions import ConnectionClosed

from pushbench.conformance import http
from pushbench.conformance.oversized import send_oversized, send_oversized_fragments
from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.socketio import event_of
from pushbench.conformance.typing_game.clients import Clients
from pushbench.conformance.typing_game.player import Player

MESSAGE_LIMIT = 65_536


def bad_messages(player: Player) -> dict[str, tuple[str, object]]:
    """Events with a message that a server must answer with an error, each under the name of its fault."""
    good = player.keystrokes(player.text[0])
    fields: dict[str, tuple[object, ...]] = {
        "roomId": (None, 7, "", "r" * 65, "a b", {"id": 1}),
        "userId": (None, True, "", "u" * 65, "\u00e9"),
        "seq": (None, "7", True, -1, 1.5, 2**53),
        "sentAt": (None, "now", -1, [1]),
        "keys": (None, "", 7, ["T"], "T" * 17, "\U0001f680" * 17),
    }
    cases: dict[str, tuple[str, object]] = {
        f"{name} {value!r}"[:60]: ("pvp:keystrokes", {**good, name: value})
        for name, values in fields.items()
        for value in values
    }
    for name in good:
        cases[f"no {name}"] = "pvp:keystrokes", {each: good[each] for each in good if each != name}
    strange: tuple[object, ...] = (None, 7, "T", [good], {})
    for message in strange:
        cases[f"the keystrokes {message!r}"[:60]] = "pvp:keystrokes", message
    return cases


@rule(
    "A bad message is answered with one error, types nothing, reaches nobody else, and the connection stays.",
    beside_others=True,
)
async def bad_message_is_an_error(clients: Clients) -> None:
    culprit, witness, *_ = await clients.game()
    for what, (name, message) in bad_messages(culprit).items():
        await culprit.say(name, message)
        await culprit.is_refused(what)
    state = await culprit.type_next()
    await culprit.receives(state)
    await witness.receives(state)


@rule("An unknown event, two messages or none, and a bad join or ping are errors, also where they ask for more.")
async def bad_event_is_an_error(clients: Clients) -> None:
    culprit = await clients.player()
    join = json.dumps({"roomId": "r", "userId": "u"})
    for what, packet in {
        "an unknown event": f'42["pvp:leave",{join}]',
        "an event of the server": f'42["pvp:start",{join}]',
        "an event that has a meaning in Node.js": f'42["error",{join}]',
        "an inherited name": f'42["constructor",{join}]',
        "an event that is a number": f"42[7,{join}]",
        "an event without a message": '42["pvp:keystrokes"]',
        "an event with two messages": f'42["pvp:keystrokes",{join},{join}]',
        "a join that asks for no acknowledgement": f'42["pvp:join",{join}]',
        "a join without a room": '421000["pvp:join",{"userId":"u"}]',
        "a join that is no object": '421001["pvp:join","r"]',
        "a ping without sentAt": '421002["ping",{}]',
        "a ping at no time": '421003["ping",{"sentAt":"now"}]',
    }.items():
        await culprit.connection.send(packet)
        await culprit.is_refused(what)
    await culprit.ask("ping", {"sentAt": 1})


@rule("A packet that is malformed or out of place harms nobody but its sender.", limit_seconds=30, beside_others=True)
async def broken_packet_is_harmless(clients: Clients) -> None:
    witness, *_ = await clients.game()
    deep = "[" * 20_000
    cut = [f'42["ping",{text}' for text in ("", "{", '{"sentAt":1}', '{"sentAt":01}]', "NaN]", "{}]x", f"{deep}]")]
    reserved = [f'42["{name}",{{}}]' for name in ("connect", "disconnect", "newListener")]
    nonsense = ["", "4", "5", "9", "47", "42", "42[", "42{}", '42"ping"', "43[]", "430[]", "4399999999999999999999[]"]
    order = ["0{}", "2", "2probe", "3", "6", "40", "44{}", "41", "41,{}", '42/other,["ping"]', '42/other,7["ping"]']
    for packet in (*cut, *reserved, *nonsense, *order):
        culprit = await clients.player()
        with suppress(ConnectionClosed):
            await culprit.connection.send(packet)
        await witness.receives(await witness.type("#"))


@rule("Binary, as a message, in Base64 or attached to an event, ends the connection of its sender and no other.")
async def binary_ends_its_connection(clients: Clients) -> None:
    witness = await clients.player()
    attached = json.dumps({"sentAt": 1, "note": {"_placeholder": True, "num": 0}})
    cases: dict[str, tuple[str | bytes, ...]] = {
        "a binary message": (b"\x00\xff\xfe",),
        "a binary message of no bytes": (b"",),
        "binary in Base64": ("bAQID",),
        "an event with an attachment": (f'451-7["ping",{attached}]', b"\x00\xff\xfe"),
    }
    for what, packets in cases.items():
        culprit = await clients.player()
        with suppress(ConnectionClosed):
            for packet in packets:
                await culprit.connection.send(packet)
        await culprit.is_closed(what)
        await witness.ask("ping", {"sentAt": 1})


@rule("The open packet offers no other transport and tells the limit of messages, and HTTP long-polling is refused.")
async def only_web_sockets_are_spoken(clients: Clients) -> None:
    match (await clients.player()).opened:
        case {"upgrades": [], "maxPayload": limit, "pingInterval": int(), "pingTimeout": int()} if (
            limit == MESSAGE_LIMIT
        ):
            pass
        case other:
            raise Mismatch(f"an open packet with no upgrades, a maxPayload of {MESSAGE_LIMIT} and pings", other)
    answer = await http.get(clients.target.url, "/socket.io/?EIO=4&transport=polling")
    if not 400 <= answer.status < 500:
        raise Mismatch("a 4xx answer to long-polling", answer.status)


def ping_of(size: int) -> str:
    """A ping whose WebSocket message has `size` bytes."""
    packet = event_of("ping", '{"sentAt":1,"pad":""}', 7)
    return event_of("ping", f'{{"sentAt":1,"pad":"{"x" * (size - len(packet))}"}}', 7)


@rule("A message of exactly 65,536 bytes is accepted; a larger one, in one frame or several, closes with 1009.")
async def message_limit_is_64_kib(clients: Clients) -> None:
    player = await clients.player()
    answered = player.expects(7)
    await player.connection.send(ping_of(MESSAGE_LIMIT))
    if (said := await player.answer(answered, "a ping of 65,536 bytes")) != {"sentAt": 1}:
        raise Mismatch('{"sentAt":1} for a ping of 65,536 bytes', escaped(json.dumps(said)))
    for what, message in {
        "one byte more": ping_of(MESSAGE_LIMIT + 1),
        "few characters of many bytes": event_of("ping", json.dumps({"pad": "\u00e9" * 40_000}, ensure_ascii=False), 7),
        "1 MiB": ping_of(1 << 20),
    }.items():
        culprit = await clients.player()
        await send_oversized(culprit.connection, message, MESSAGE_LIMIT)
        await culprit.is_closed_with(1009, what)
    culprit = await clients.player()
    await send_oversized_fragments(culprit.connection, ping_of(MESSAGE_LIMIT + 500))
    await culprit.is_closed_with(1009, "fragments")
    await player.ask("ping", {"sentAt": 1})
