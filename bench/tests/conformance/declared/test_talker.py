"""A client of a declared protocol opens in steps, and takes frames apart."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pushbench.catalog.declaration import Declaration
from pushbench.conformance.declared_reader import Reader, Values
from pushbench.conformance.msgpack import packed
from pushbench.conformance.rule import Mismatch
from pushbench.conformance.whiteboard.declared.talker import Ledger, Talker
from pushbench.conformance.whiteboard.inbox import Refused, Strange

END = "\x1e"


class Frames:
    """A connection over which these frames come."""

    def __init__(self, *frames: str) -> None:
        self.coming, self.sent = list(frames), list[str]()

    async def recv(self) -> str:
        if not self.coming:
            await asyncio.sleep(60)
        return self.coming.pop(0)

    async def send(self, text: str) -> None:
        self.sent.append(text)


def said(text: str) -> list[dict[str, str]]:
    return [{"literal": text + END}]


def like(text: str) -> dict[str, Any]:
    return {"like": [{"literal": text}]}


DECLARATION = Declaration.model_validate(
    {
        "format": "text",
        "path": [{"literal": "/"}],
        "separator": END,
        "open": [
            {"send": said("version 1"), "acknowledged": like("fine")},
            {"send": [{"literal": "name "}, {"row": "user"}, {"literal": END}]},
            {"send": said("ready?"), "acknowledged": like("ready")},
        ],
        "message": {"send": [{"value": "id"}], "received": {"like": [{"value": "id"}]}},
        "keep_alive": {"received": like("ping"), "answer": said("pong")},
        "error": like("no"),
        "rows": {"user": ["ann", "bob"]},
    }
)


def greeted(*frames: str) -> tuple[Talker, Frames]:
    connection: Any = Frames(*frames)
    own = Values("b-1", 3)
    talker = Talker(connection, own, DECLARATION, Reader(DECLARATION, {}, own), Ledger())
    asyncio.run(talker.greet(0.1))
    return talker, connection


def test_a_client_takes_one_step_of_the_opening_after_the_other() -> None:
    talker, connection = greeted(f"ping{END}fine{END}", f"no{END}huh{END}ready{END}")
    assert connection.sent == [f"{said}{END}" for said in ("version 1", "pong", "name bob", "ready?")]
    assert talker.inbox.drain() == [Refused("no"), Strange("huh")]


def test_a_member_keeps_its_connection_alive_until_it_leaves() -> None:
    given = DECLARATION.model_dump() | {"open": [], "leave": said("bye")}
    declaration = Declaration.model_validate(given | {"keep_alive": {"every_seconds": 0.001, "send": said("here")}})
    own = Values("b-1", 3)

    async def live() -> list[str]:
        enough = asyncio.Event()

        class Counting(Frames):
            async def send(self, text: str) -> None:
                await super().send(text)
                if len(self.sent) == 3:
                    enough.set()

        connection: Any = Counting()
        talker = Talker(connection, own, declaration, Reader(declaration, {}, own), Ledger())
        await talker.join("b-1")
        await asyncio.wait_for(enough.wait(), 30)
        await talker.leave("b-1")
        await asyncio.sleep(0.02)
        sent: list[str] = connection.sent
        return sent

    *kept, last = asyncio.run(live())
    assert len(kept) >= 3
    assert set(kept) == {f"here{END}"}
    assert last == f"bye{END}"


ANY = [{"value": "any"}]
RECEIPT = {"where": [{"at": "/id", "json_is": ANY, "json_sorted": ANY}], "id": {"at": "/id", "like": [{"value": "id"}]}}


def test_a_client_speaks_messagepack_in_binary_frames() -> None:
    given = DECLARATION.model_dump() | {"format": "msgpack", "separator": "", "open": [], "error": None}
    given["message"] = {"send": [{"literal": '{"id":'}, {"value": "id"}, {"literal": "}"}], "received": RECEIPT}
    where = [{"at": "/ping", "json_is": [{"literal": "1"}], "json_sorted": [{"literal": "1"}]}]
    given["keep_alive"] = {"received": {"where": where}, "answer": [{"literal": '{"pong":1}'}]}
    declaration = Declaration.model_validate(given)
    own = Values("b-1", 3)

    async def talk() -> tuple[list[Any], list[Any]]:
        connection: Any = Frames()
        talker = Talker(connection, own, declaration, Reader(declaration, {}, own), Ledger())
        await talker.draw("b-1")
        for message in (packed('{"ping":1}'), packed('{"huh":1}'), b"\xc1", '{"ping":1}'):
            await talker.hear(message)
        return connection.sent, talker.inbox.drain()

    sent, events = asyncio.run(talk())
    assert sent == [packed('{"id":3000000000}'), packed('{"pong":1}')]
    assert events == [Strange('{"huh":1}'), Strange(b"\xc1"), Strange(b'{"ping":1}')]


def test_a_step_that_is_not_acknowledged_is_told() -> None:
    with pytest.raises(Mismatch, match=r"what acknowledges the opening within 0\.1 s; saw strange message 'ready'"):
        greeted(f"ready{END}")
