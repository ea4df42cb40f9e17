"""A client of a declared protocol understands the same messages as the generator's client. `changed-draws.json` and
`answers.json` have the cases for both; the tests in `k6/internal/declared` read them, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pushbench.catalog.declaration import Declaration
from pushbench.conformance.declared_reader import PER_CLIENT, Kind, Meaning, Reader, Values

COMPILED = Path(__file__).parents[3] / "k6" / "internal" / "declared" / "testdata"
WHITEBOARD = Declaration.model_validate_json((COMPILED / "whiteboard.json").read_text())
CHAT = Declaration.model_validate_json((COMPILED / "ws-chat.json").read_text())
CHANGES = json.loads((COMPILED / "changed-draws.json").read_text())
"""of the message that client 42 sends"""
ANSWERS = json.loads((COMPILED / "answers.json").read_text())
"""to the same message, if that is a request"""
OWN = Values("b-17", 42)
SENT = Values("b-17", 42, 42 * PER_CLIENT + 7, 1000)


def told(declaration: Declaration, change: tuple[str, str] = ("", ""), receiver: int = 41) -> Meaning:
    """The meaning of client 42's message for another client, with a change in its text."""
    text = Reader(declaration, {}, OWN).filled(declaration.message.send, SENT)
    old, new = change
    assert old in text
    return Reader(declaration, {}, Values("b-17", receiver)).read(text.replace(old, new, 1) if old else text)


@pytest.mark.parametrize("change", CHANGES["equal"])
def test_equal_json_is_the_same_message(change: dict[str, str]) -> None:
    assert told(WHITEBOARD, (change["old"], change["new"])) == Meaning(Kind.DELIVERED, SENT.id, 1000)


@pytest.mark.parametrize("change", CHANGES["wrong"])
def test_what_is_wrong_with_a_message_is_seen(change: dict[str, str]) -> None:
    """A message without its id matches no description; this reader does not use the key for that."""
    meaning = told(WHITEBOARD, (change["old"], change["new"]))
    altered = {"message.time": "its time", "message.same": change.get("pointer", "")}.get(change["key"], "")
    assert (meaning.kind, meaning.altered) == (Kind.DELIVERED if altered else Kind.FOREIGN, altered)


@pytest.mark.parametrize("case", ANSWERS["answers"], ids=lambda case: case["text"])
def test_answers_are_understood(case: dict[str, Any]) -> None:
    reader = Reader(Declaration.model_validate(ANSWERS["declaration"]), {}, OWN)
    meaning = reader.answer(case["text"], SENT)
    assert case["is"] == ("altered" if meaning.altered else meaning.kind.value)
    if case["is"] == "delivered":
        assert reader.number(case["text"], None) == case["index"]


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("", "", Kind.DELIVERED),
        ("user-42", "user-43", Kind.DELIVERED),
        ("user-42", "user-042", Kind.FOREIGN),
        ("quick", "quack", Kind.FOREIGN),
        ("user-", "User-", Kind.FOREIGN),
    ],
)
def test_text_is_understood_as_a_whole(old: str, new: str, kind: Kind) -> None:
    meaning = told(CHAT, (old, new))
    assert meaning.kind is kind
    assert meaning.altered == ("its sender" if new == "user-43" else "")


def test_a_text_of_another_length_is_no_message() -> None:
    text = Reader(CHAT, {}, OWN).filled(CHAT.message.send, SENT)
    assert Reader(CHAT, {}, OWN).read(text + ".").kind is Kind.FOREIGN
    assert Reader(CHAT, {}, OWN).read("." + text).kind is Kind.FOREIGN


def typed(name: str, **values: str) -> dict[str, Any]:
    """A message with this value of /t and these other values."""
    all_of = {"t": f'"{name}"'} | values
    return {"where": [{"at": f"/{at}", "json_sorted": parts(text)} for at, text in all_of.items()]}


def parts(text: str) -> list[dict[str, str]]:
    before, found, behind = text.partition("{client}")
    return [{"literal": before}, *([{"value": "client"}, {"literal": behind}] if found else [])]


TALK = Declaration.model_validate(
    {
        "format": "json",
        "path": [{"literal": "/chat/"}, {"value": "group"}],
        "open": [{"acknowledged": typed("hi")}],
        "join": {"acknowledged": typed("in", u='"u-{client}"')},
        "message": {
            "send": [{"literal": '{"m":"'}, {"value": "id"}, {"literal": ' said"}'}],
            "received": {
                "where": [{"at": "/d/m", "json_is": [{"value": "any"}], "json_sorted": [{"value": "any"}]}],
                "id": {"at": "/d/m", "like": [{"value": "id"}, {"literal": " "}, {"value": "any"}]},
            },
        },
        "keep_alive": {
            "received": typed("ping"),
            "answer": [{"literal": '{"t":"'}, {"secret": "k"}, {"literal": '"}'}],
        },
        "error": typed("err"),
        "ignore": [typed("in"), typed("presence")],
    }
)


@pytest.mark.parametrize(
    ("text", "is_open", "kind"),
    [
        ('{"t":"hi"}', False, Kind.OPENED),
        ('{"t":"hi"}', True, Kind.IGNORED),
        ('{"t":"in","u":"u-42"}', True, Kind.JOINED),
        ('{"t":"in","u":"u-43"}', True, Kind.IGNORED),
        ('{"t":"ping"}', True, Kind.ASKED),
        ('{"t":"presence"}', True, Kind.IGNORED),
        ('{"t":"err"}', True, Kind.REFUSED),
        ('{"t":"other"}', True, Kind.FOREIGN),
        ('{"d":[{"m":"1000000002 said"}]}', True, Kind.FOREIGN),
        ("[" * 100_000, True, Kind.FOREIGN),
    ],
)
def test_every_kind_of_message_is_understood(text: str, kind: Kind, *, is_open: bool) -> None:
    assert Reader(TALK, {"k": ""}, OWN).read(text, int(is_open)) == Meaning(kind)


def test_an_id_may_have_more_around_it() -> None:
    meaning = Reader(TALK, {"k": ""}, OWN).read('{"d":{"m":"1000000002 said\\nthat"}}')
    assert meaning == Meaning(Kind.DELIVERED, 1_000_000_002)


def test_a_secret_is_escaped_as_messages_need_it() -> None:
    reader = Reader(TALK, {"k": 'p"&'}, OWN)
    assert TALK.keep_alive
    assert reader.filled(TALK.keep_alive.answer) == '{"t":"p\\"&"}'
    assert reader.filled(TALK.keep_alive.answer, escape=lambda text: f"<{text}>") == '{"t":"<p"&>"}'
    assert reader.filled(TALK.path) == "/chat/b-17"
