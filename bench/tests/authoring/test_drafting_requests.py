"""A draft of three requests and their answers is what a person would write, with its guesses marked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pushbench.authoring.drafting import draft
from pushbench.authoring.overheard import Conversation, Said, most_asked
from pushbench.catalog.protocol_file import Transport
from pushbench.catalog.protocols import protocol_in
from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import parse_yaml

JSON = {"Content-Type": "application/json"}


def read(text: str) -> Any:
    file = parse_yaml(text, Path("protocol.yml"))
    protocol_in(file)
    return file.data


def asked(
    path: str, sent: str | dict[str, Any], *got: str | dict[str, Any], over: Transport = "http", **more: Any
) -> Conversation:
    """A request with its answer, or with the events of its answer."""
    texts = [each if isinstance(each, str) else json.dumps(each) for each in (sent, *got)]
    said = [Said(float(place), place == 0, text) for place, text in enumerate(texts) if text]
    return Conversation(path, over, **{"method": "POST", "status": 200, **more}, said=said, ended=True)


def streams(*answers: Sequence[str | dict[str, Any]], **sent: Any) -> list[Conversation]:
    return [
        asked("/ask", {"q": f"question {n}", **sent}, *got, over="sse", headers=JSON) for n, got in enumerate(answers)
    ]


def test_an_id_in_the_path_and_who_asks_are_told_apart() -> None:
    talks = [
        asked(f"/notes/{nr}?as={who}", {"user": who, "text": f"note of {who} {nr}"}, {"note": nr}, method="PUT")
        for nr, who in ((7, "ann"), (8, "ben"), (9, "ann"))
    ]
    assert read(draft(talks)) == {
        "http": {"path": "/notes/{id}?as={client}", "method": "PUT"},
        "message": {"send": '{"user": "user-{client}", "text": "{text:20}"}', "id": "/note"},
    }


def test_a_secret_that_comes_back_under_another_name_is_not_in_the_draft() -> None:
    talks = [asked("/x", {"password": "s3cret", "n": n}, {"you": "s3cret", "token": "s3cret"}) for n in range(3)]
    text = draft(talks)
    assert "s3cret" not in text
    assert read(text)["message"] == {
        "send": '{"password": "{secret:password}", "n": {id}}',
        "received": {"/you": "{any}"},
    }


def test_a_secret_in_a_form_is_named_and_never_written() -> None:
    forms = [f"user={who}&pass%77ord=s3%20cret&api_key=k+e+y&nr={n}" for n, who in enumerate(("ann", "ben", "cid"))]
    text = draft([asked("/login", form, {"you": "s3 cret", "it": "s3%20cret", "key": "k e y"}) for form in forms])
    assert not [secret for secret in ("s3", "k e y", "k+e+y") if secret in text]
    found = read(text)
    assert found["message"]["send"] == "user={text:20}&pass%77ord={secret:password}&api_key={secret:api-key}&nr={id}"
    assert found["secrets"] == {
        "password": {"env": "PUSHBENCH_SECRET_PASSWORD"},
        "api-key": {"env": "PUSHBENCH_SECRET_API_KEY"},
    }


@pytest.mark.parametrize(
    ("bodies", "template"),
    [
        (("item=tea&nr=1", "item=milk&nr=2"), "item={text:20}&nr={id}"),
        (("good morning", "how do you do"), "{text:20}"),
        (("ping", "ping"), "ping"),
    ],
)
def test_plain_text_is_drafted_word_by_word(bodies: Sequence[str], template: str) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    found = read(draft([asked("/form", body, '{"ok": true}', headers=headers) for body in bodies]))
    assert found == {
        "http": {"path": "/form", "headers": headers},
        "format": "text",
        "message": {"send": template},
    }


def test_the_end_of_a_stream_is_what_no_token_is() -> None:
    tokens = [{"type": "token", "n": n, "text": word} for n, word in enumerate(("a", "b", "c"))]
    end = {"type": "end"}
    found = read(draft(streams([*tokens, end], [*tokens, end])))
    assert found["sse"] == {"path": "/ask", "tokens": 3, "number": "/n", "end": '{"type": "end"}'}
    assert found["message"]["received"] == {"/type": "token"}
    words = read(draft(streams(["a", "b", "over."], ["c", "d", "over."])))
    assert words["sse"] == {"path": "/ask", "headers": JSON, "tokens": 3}, "the last word of both texts is a word"
    talks = streams(["a", "b", "done"], ["c", "d", "done"])
    for each in talks:
        each.cut = True  # as with clients that leave at once
    assert read(draft(talks))["sse"]["end"] == "done"


def test_numbers_count_only_where_all_streams_have_them() -> None:
    numbered = [{"n": n, "text": word} for n, word in enumerate(("a", "b"))]
    later = [{"n": n + 5, "text": word} for n, word in enumerate(("c", "d"))]
    assert "number" not in read(draft(streams(numbered, later)))["sse"]


def test_streams_of_several_lengths_are_for_a_person_to_decide() -> None:
    text = draft(streams(["a", "b"], ["c"]))
    assert "tokens: 2 # decide: streams had 1, 2; the request has to say how many" in text


def test_what_a_person_has_to_decide_comes_first() -> None:
    differs = draft([asked("/x", {"ref": f"r{n}", "size": n * 1.5}, "{}") for n in range(3)])
    assert "# decide: /size differs; /ref is the id: it differs in each\n" in differs
    assert "# decide: all requests said the same; " in draft([asked("/x", {"a": 1}, "{}") for _ in range(3)])


def test_what_says_too_little_makes_no_draft() -> None:
    for talks, what in (
        ([asked("/x", "a", "b")], "only one request"),
        ([asked("/x", "a", "b", cut=True), asked("/x", "c", "d")], "an answer is incomplete"),
        (streams([], []), "a stream without an event"),
    ):
        with pytest.raises(UserError, match=what):
            draft(talks)


def test_the_sort_that_was_asked_most_often_is_drafted() -> None:
    page = [Conversation("/", "http", status=200), Conversation("/api/notes/1", "http", "OPTIONS", 204)]
    notes = [asked(f"/api/notes/{nr}", "a") for nr in (1, 2)]
    refused = [asked("/api/notes/3", "a", status=401) for _ in range(5)]
    assert most_asked([*page, *refused, *notes]) == notes
