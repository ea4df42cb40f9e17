"""A draft of two recorded conversations is what a person would write, with its guesses marked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pushbench.authoring.drafting import draft
from pushbench.authoring.overheard import Conversation, Said
from pushbench.authoring.withholding import Secrets
from pushbench.catalog.protocols import protocol_in
from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import parse_yaml


def read(text: str) -> Any:
    """The content of a draft, which must be a playable protocol unless the user has to decide something."""
    file = parse_yaml(text, Path("protocol.yml"))
    protocol_in(file)
    return file.data


def chat(*, echo: bool = True, numbered: bool = True) -> list[Conversation]:
    """Alice and Bob in the lobby: a greeting, a join, two messages each, pings, and a farewell."""
    talks = [Conversation("/socket?v=2"), Conversation("/socket?v=2")]

    def say(client: int, at: float, sent: bool, **message: Any) -> None:
        talks[client].said.append(Said(at, sent, json.dumps(message)))

    for client, name in enumerate(("alice", "bob")):
        say(client, client, False, type="hello", version=1)
        say(client, client + 0.1, True, type="join", room="lobby", name=name)
        say(client, client + 0.2, False, type="joined", room="lobby", name=name)
    say(0, 1.2, False, type="joined", room="lobby", name="bob")
    for number in range(4):
        client, name, at = number % 2, ("alice", "bob")[number % 2], 10.0 + number
        own = {"nr": 40 + number} if numbered else {}
        say(client, at, True, type="say", text=f"this is line {number}", **own)
        for other in (0, 1):
            if echo or other != client:
                say(other, at + 0.01, False, type="said", name=name, body={"text": f"this is line {number}"}, **own)
    for at in (20.0, 40.0, 60.0):
        say(0, at, True, type="ping")
        say(0, at + 0.01, False, type="pong")
    say(0, 70.0, True, type="bye", room="lobby")
    return talks


def test_a_chat_of_json_is_drafted_whole() -> None:
    text = draft(chat())
    assert read(text) == {
        "websocket": {"path": "/socket?v=2"},
        "open": {"acknowledged": {"/type": "hello"}},
        "join": {
            "send": '{"type": "join", "room": "{group}", "name": "user-{client}"}',
            "acknowledged": {"/type": "joined", "/name": "user-{client}"},
        },
        "message": {
            "send": '{"type": "say", "text": "{text:20}", "nr": {id}}',
            "received": {"/type": "said"},
            "id": "/nr",
            "same": {"/body/text": "/text"},
        },
        "leave": '{"type": "bye", "room": "{group}"}',
        "keep_alive": {"send": '{"type": "ping"}', "every_seconds": 20},
        "ignore": [{"/type": "pong"}, {"/type": "joined"}],
    }
    guesses = [line for line in text.splitlines() if "#" in line]
    assert len(guesses) == 9, text


def test_who_joins_is_the_client_whatever_the_field_is_called() -> None:
    """In addition, an id that is a text is not compared a second time."""
    talks = chat()
    for talk in talks:
        for place, said in enumerate(talk.said):
            message = json.loads(said.text or "")
            if "name" in message:
                message["as"] = message.pop("name")
            if "nr" in message:
                message["nr"] = f"n-{message['nr']}"
            talk.said[place] = Said(said.at, said.sent, json.dumps(message))
    text = draft(talks)
    found = read(text)
    assert json.loads(found["join"]["send"]) == {"type": "join", "room": "{group}", "as": "user-{client}"}
    assert found["join"]["acknowledged"] == {"/type": "joined", "/as": "user-{client}"}
    assert "# what differs between the clients is the client\n" in text
    assert found["message"]["id"] == "/nr"
    assert found["message"]["same"] == {"/body/text": "/text"}


def test_a_sender_without_its_own_message_is_noticed() -> None:
    assert read(draft(chat(echo=False)))["message"]["receivers"] == "others"
    assert "receivers" not in read(draft(chat()))["message"]


def test_where_no_id_comes_back_the_text_gets_one() -> None:
    message = read(draft(chat(numbered=False)))["message"]
    assert message["id"] == {"at": "/body/text", "like": "{id} {any}"}
    assert "{id} {text:" in message["send"]


def test_secrets_are_named_and_never_written() -> None:
    talks = chat()
    for talk in talks:
        talk.path = "/socket?token=s3cret"
        talk.secret_headers = ["Cookie"]
        talk.said[1] = Said(talk.said[1].at, True, (talk.said[1].text or "").replace("{", '{"password": "s3cret", ', 1))
    text = draft(talks)
    found = read(text)
    assert "s3cret" not in text
    assert found["websocket"] == {"path": "/socket?token={secret:token}", "headers": {"Cookie": "{secret:cookie}"}}
    assert '"password": "{secret:password}"' in found["join"]["send"]
    assert found["secrets"] == {
        "cookie": {"env": "PUSHBENCH_SECRET_COOKIE"},
        "token": {"env": "PUSHBENCH_SECRET_TOKEN"},
        "password": {"env": "PUSHBENCH_SECRET_PASSWORD"},
    }


def test_secrets_of_one_name_are_told_apart_by_where_they_stand() -> None:
    """Each may be a different secret. A place whose own name cannot be declared gets a name that can."""
    talk = Conversation("/?token=&api_key=a", secret_headers=["Token", "X-Api-Key"])
    said = {"token": "b", "a": {"session": "c"}, "a-session": "d", "\n": {"jwt": "e"}, "é": {"1": {"auth": "f"}}}
    talk.said.append(Said(0.0, True, json.dumps(said)))
    secrets = Secrets([talk, talk])
    assert secrets.values == {"a", "b", "c", "d", "e", "f"}
    places = [secrets.header("token"), secrets.header("X-API-Key"), secrets.query("token"), secrets.query("api_key")]
    places += [secrets.field(at) for at in ("/token", "/a/session", "/a-session", "/\n/jwt", "/é/1/auth")]
    names = ["header-token", "x-api-key", "query-token", "api-key", "field-token", "field-a-session"]
    names += ["field-a-session-2", "jwt", "secret-1-auth"]
    assert places == [f"{{secret:{name}}}" for name in names]
    lines = list(secrets.lines(places[:1] + places[-2:-1]))
    assert lines[1:] == [
        "  header-token: {env: PUSHBENCH_SECRET_HEADER_TOKEN} # the header token",
        "  jwt: {env: PUSHBENCH_SECRET_JWT} # the field / /jwt",
    ]
    assert not list(secrets.lines(["nothing"]))


WORDS = ("the sun shines", "a little rain falls", "the wind blows", "snow melts away")


def plain(form: str, path: str = "/chat/lobby") -> list[Conversation]:
    talks = [Conversation(path), Conversation(path)]
    for number in range(4):
        sender = number % 2
        text = form.format(name=("ann", "ben")[sender], number=number, words=WORDS[number])
        talks[sender].said.append(Said(float(number), True, text))
        for talk in talks:
            talk.said.append(Said(number + 0.01, False, text))
    return talks


@pytest.mark.parametrize(
    ("form", "template"),
    [
        ("{name} {number} {words}", "user-{client} {id} {text:20}"),
        ("say {number} {words}", "say {id} {text:20}"),
        ("say {number} aloud {words}", "say {id} aloud {text:20}"),
        ("{name}: it is the day {number}", "user-{client} it is the day {id} {text:20}"),
    ],
)
def test_plain_text_is_drafted_word_by_word(form: str, template: str) -> None:
    found = read(draft(plain(form)))
    assert found["format"] == "text"
    assert found["websocket"] == {"path": "/chat/{group}"}
    assert found["message"] == {"send": template, "received": template}


def test_conversations_that_say_too_little_make_no_draft() -> None:
    alone = chat()[:1]
    silent = [chat()[0], Conversation("/")]
    apart = [Conversation("/", said=[Said(0.0, True, f'{{"a": {n}}}')]) for n in (1, 2)]
    binary = chat()
    binary[0].said.append(Said(99.0, False, None))
    for talks, what in (
        (alone, "only one client connected"),
        (silent, "client 1 sent nothing"),
        (apart, "no message of one client reached the other"),
        (binary, "content that is binary or above 1 MiB"),
    ):
        with pytest.raises(UserError, match=what):
            draft(talks)
