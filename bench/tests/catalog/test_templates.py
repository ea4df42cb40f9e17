"""Templates: their parts, and the JSON that they produce."""

from __future__ import annotations

import json

import pytest

from pushbench.catalog.declaration import Part, Template
from pushbench.catalog.templates import JsonTemplate, json_string, parse

ALL = ("group", "client", "id", "time", "text", "secret", "any")


def written(template: Template) -> str:
    """The template converted back to text."""
    shown = [part.literal or f"{{{part.value or f'secret:{part.secret}'}}}" for part in template]
    return "".join(shown)


def test_a_template_is_split_into_literals_and_values() -> None:
    assert parse("a{group}{id}b", ALL) == [
        Part(literal="a"),
        Part(value="group"),
        Part(value="id"),
        Part(literal="b"),
    ]
    assert parse('{"a":{"b":{}}}', ALL) == [Part(literal='{"a":{"b":{}}}')], "braces of JSON are no values"
    assert parse("{secret:key}", ALL, ["key"]) == [Part(secret="key")]


@pytest.mark.parametrize("length", [1, 2, 200, 5000])
def test_text_has_the_length_that_is_asked_for(length: int) -> None:
    [part] = parse(f"{{text:{length}}}", ALL)
    assert len(part.literal) == length
    assert json.loads(f'"{part.literal}"') == part.literal, "it needs no escapes"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{grup}", "no value {grup} here; did you mean {group}?"),
        ("{id:3}", "{id} takes nothing after a colon"),
        ("{text}", "{text:N} needs a number"),
        ("{text:0}", "{text:N} needs a number"),
        ("{text:99999}", "from 1 to 32,768"),
        ("{secret}", "no secret None"),
        ("{secret:nokey}", "no secret 'nokey'; known under `secrets`: key"),
    ],
)
def test_what_a_template_may_not_have_is_told(text: str, said: str) -> None:
    with pytest.raises(ValueError) as raised:
        parse(text, ALL, ["key"])
    assert said in str(raised.value)


def test_json_is_looked_at_with_values_in_their_places() -> None:
    made = JsonTemplate(
        parse('{ "s": "u-{client}: \\"{id}\\"", "n": {id}, "x": [1.50, -2e3, {"z": {time}, "a": "é"}] }', ALL)
    )
    assert written(made.whole) == '{"s":"u-{client}: \\"{id}\\"","n":{id},"x":[1.50,-2e3,{"z":{time},"a":"é"}]}'
    assert written(made.template(made.at("/n"))) == "{id}"
    assert written(made.template(made.at("/s"))) == '"u-{client}: \\"{id}\\""'
    assert written(made.template(made.at("/x/2"), in_order=True)) == '{"a":"é","z":{time}}'
    for pointer in ("/y", "/x/3", "/s/0", "/x/-"):
        with pytest.raises(LookupError):
            made.at(pointer)


@pytest.mark.parametrize("text", ["{id}}", '{"a":{id}{id}}', '{"a" {id}}', "[{id},]", '{"{id}'])
def test_what_is_no_json_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        JsonTemplate(parse(text, ALL))


def test_a_string_is_escaped_around_its_values() -> None:
    assert written(json_string(parse('a"{group}\n', ALL))) == '"a\\"{group}\\n"'
