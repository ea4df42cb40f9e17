"""The text of a server's files from a person's answers. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pushbench.authoring.guessing import Commands, language_of, toolchains_of
from pushbench.catalog.protocol_file import Transport
from pushbench.catalog.protocol_reading import MESSAGE
from pushbench.catalog.servers import PORT_OPENS
from pushbench.catalog.templates import JsonTemplate, parse
from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import parse_yaml

ANYTHING: dict[Transport, str] = {
    "websocket": "user-{client} {id} {text:200}",
    "sse": '{"model": "any", "stream": true, "max_tokens": 64, "messages": [{"role": "user", "content": "{text:99}"}]}',
    "http": '{"id": "{id}", "text": "{text:200}"}',
}
"""the default message of clients, by transport: a stream is probably one of the API that many servers copy"""
NOWHERE = "https://example.org"
UNKNOWN_PLACE = "OWNER/pushbench@TAG"


@dataclass(frozen=True)
class Answers:
    """What is known about a server."""

    name: str
    suite: str
    build: Commands
    start: list[str]
    path: str = "/"
    message: str = ANYTHING["websocket"]
    over: Transport = "websocket"
    link: str = NOWHERE
    depth: int = 2
    """number of folders from the repository to the folder of the files"""
    env: dict[str, str] = field(default_factory=dict)


def server_yml(answers: Answers) -> str:
    toolchains = toolchains_of([*answers.build, answers.start])
    build = "".join(f"    - {yaml_flow(argv)}\n" for argv in answers.build)
    env = f"env: {yaml_flow(answers.env)}\n" if answers.env else ""
    return f"""\
# How Pushbench builds and starts this server, at every commit that it compares: docs/own-server.md.
title: {_scalar(answers.name)}
link: {_scalar(answers.link)}
language: {language_of(toolchains)}
suite: {answers.suite}
protocol: protocol.yml # what its clients say
tier: baseline
source: {"/".join([".."] * answers.depth)} # where the commands run
ready: {PORT_OPENS} # or a path that answers 200 when clients can connect
{env}process: # gets the variable PORT, and ends on SIGTERM
  toolchains: {yaml_flow(toolchains)}
{f"  build:{chr(10)}{build}" if build else ""}  start: {yaml_flow(answers.start)}
"""


def protocol_yml(answers: Answers) -> str:
    """A skeleton of the protocol, with the given message. Raises UserError for a message that cannot be used."""
    known = (
        "# What clients and the server say to each other: docs/own-server.md explains each key.\n"
        "# `pushbench learn` drafts this file from real clients.\n"
    )
    match answers.over:
        case "sse":
            return known + _of_streams(answers)
        case "http":
            return known + _of_answers(answers)
    return known + _of_groups(answers)


def _of_streams(answers: Answers) -> str:
    return f"""\
sse:
  path: {quoted(answers.path)}
  tokens: 64 # number of events that match `received` in each stream: the request sets it
  end: "[DONE]" # without it, the answer ends with its last token
message:
  send: {quoted(answers.message)}
  received: {{/choices/0/delta/content: "{{any}}"}}
# What else the server sends; it goes before `received`:
ignore:
  - {{/choices/0/delta/role: assistant}} # the first chunk, which has no text
  - {{/choices/0/finish_reason: length}}
"""


def _of_answers(answers: Answers) -> str:
    return f"""\
http: {{path: {quoted(answers.path)}, method: POST, status: 200}}
message:
  send: {quoted(answers.message)}
# What the answer contains (under message), if its status is not enough:
# received: {{/state: accepted}}
# id: /id
"""


def _of_groups(answers: Answers) -> str:
    message = "".join(f"  {line}\n" for line in _message(answers.message))
    return f"""\
websocket: {{path: {quoted(answers.path)}}} # {{group}} is the name of a room
{"" if _is_json(answers.message) else "format: text" + chr(10)}\
# What clients send before they get messages, and what answers it:
# join: {{send: ..., acknowledged: ...}}
message:
{message}\
# receivers: others (under message), if a message does not come back to its sender
# What else the server sends:
# ignore: [...]
"""


def workflow_yml(folder: str, place: str) -> str:
    """The workflow of docs/github.md, for a server's `folder`; `place` is owner/repository@tag of Pushbench."""
    repository, _, tag = place.partition("@")
    return f"""\
name: benchmark
on: [push, pull_request]
permissions: {{}}
jobs:
  benchmark:
    permissions:
      contents: read
    uses: {repository}/.github/workflows/own-server.yml@{tag}
    with:
      folder: {folder}
      pushbench: {place}
"""


def web_address(remote: str) -> str | None:
    """The web page of a repository from its remote's address, without credentials; None if there is none."""
    found = re.fullmatch(r"(?:https://(?:[^@/]*@)?|git@|ssh://git@)([\w.-]+)[:/]([\w./-]+?)(?:\.git)?/?", remote)
    return f"https://{found[1]}/{found[2]}" if found else None


def _message(template: str) -> Iterator[str]:
    """The lines of `message`; for JSON, with the places of the id and of the time."""
    if not _is_json(template):
        _require_id(template)
        yield f"send: {quoted(template)}"
        yield f"received: {quoted(template)}"
        return
    try:
        JsonTemplate(parse(template, MESSAGE))
    except ValueError as error:
        raise UserError(f"the message cannot be played: {error}") from None
    _require_id(template)
    leaves = list(_leaves(json.loads(_as_strings(template)), ""))
    constant = {at: value for at, value in leaves if not re.search(r"\{[a-z]+(:\d+)?\}", str(value))}
    at, like = next((at, value) for at, value in leaves if "{id}" in str(value))
    yield f"send: {quoted(template)}"
    yield f"received: {yaml_flow(constant or {at: '{any}'})}"
    yield f"id: {at}" if like == "{id}" else f"id: {yaml_flow({'at': at, 'like': like})}"
    if time := next((at for at, value in leaves if value == "{time}"), None):
        yield f"time: {time}"
    same = [at for at, value in leaves if "{text:" in str(value)]
    if same:
        yield f"same: [{', '.join(same)}]"


def _require_id(template: str) -> None:
    if "{id}" not in template:
        raise UserError("the message has no {id}, so messages could not be told apart", hint="such as: hello {id}")


def _is_json(template: str) -> bool:
    return template.lstrip().startswith(('{"', "["))


def _as_strings(template: str) -> str:
    """The template with placeholders outside of strings turned into strings."""
    parts = re.split(r'("(?:[^"\\]|\\.)*")', template)
    return "".join(part if place % 2 else re.sub(r"\{[a-z]+\}", r'"\g<0>"', part) for place, part in enumerate(parts))


def _leaves(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{at}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{at}/{place}")
    else:
        yield at, value


def yaml_flow(value: Any) -> str:
    """YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(str(key))}: {yaml_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(yaml_flow, value)) + "]"
    return _scalar(value) if isinstance(value, str) else json.dumps(value)


def _scalar(text: str) -> str:
    """A YAML string, quoted if it would otherwise be another type or have another meaning."""
    plain = re.fullmatch(r"[A-Za-z0-9./_-][A-Za-z0-9./_+=:~-]*", text) and not text.endswith(":")
    return text if plain and parse_yaml(f"[{text}]", Path()).data == [text] else quoted(text)


def quoted(text: str) -> str:
    """The text in single quotes if that saves escapes, otherwise as JSON, which is also YAML."""
    return f"'{text}'" if re.search(r'[\\"]', text) and "'" not in text else json.dumps(text, ensure_ascii=False)
