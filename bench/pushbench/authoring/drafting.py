"""A draft of protocol.yml from the conversations of two clients in one group. Pure.

Each guess has a comment, and what nobody can guess has one that begins with `decide:`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pushbench.authoring.describing import quoted, yaml_flow
from pushbench.authoring.drafting_text import text_lines
from pushbench.authoring.leaves import CLIENT, GROUP, ID, SECRET, Leaves, constants, kind, leaves
from pushbench.authoring.overheard import Conversation
from pushbench.foundation.errors import UserError

SOON = 2.0
"""seconds in which what one client sends comes to another"""
NAME_OF_SECRET = "token"  # noqa: S105 - how the file calls it, not what it is
BARE = "\ue010"
"""around a value that stands outside of quotes"""


@dataclass(frozen=True)
class _Heard:
    """A message of JSON."""

    client: int
    sent: bool
    at: float
    has: Leaves


@dataclass(frozen=True)
class _Delivered:
    """A message, and what came of it to the other client."""

    sent: _Heard
    received: _Heard


def draft(talks: Sequence[Conversation]) -> str:
    """The text of a protocol.yml. Raises UserError for conversations that say too little."""
    if len(talks) < 2:
        raise UserError("only one client connected", hint="let two talk to each other, in the same room")
    first, second = talks[:2]
    for number, talk in enumerate((first, second)):
        if not talk.sent():
            raise UserError(f"client {number} sent nothing", hint="let each client send some messages")
    texts = [each.text for talk in (first, second) for each in talk.said]
    if None in texts:
        raise UserError(
            "binary messages: a draft is made of text and JSON", hint="declare them in protocol.yml by hand"
        )
    as_json = all(leaves(each.text) is not None for talk in (first, second) for each in talk.sent())
    body = list(_Json(first, second).lines()) if as_json else list(text_lines(first, second))
    head = list(_head(first, second, grouped=any("{group}" in line for line in body)))
    if not as_json:
        head.append("format: text")
    lines = [*head, *body]
    if any("{secret:" in line for line in lines):
        variable = f"PUSHBENCH_SECRET_{NAME_OF_SECRET.upper()}"
        lines.append(f"secrets: {{{NAME_OF_SECRET}: {{env: {variable}}}}} # set it for every command")
    return (
        "# A draft by `pushbench learn`. Read each comment; docs/own-server.md explains the keys.\n"
        + "\n".join(lines)
        + "\n"
    )


def _head(first: Conversation, second: Conversation, *, grouped: bool) -> Iterator[str]:
    path, guesses = _address(first.path, second.path, grouped=grouped)
    yield "websocket:"
    yield f"  path: {quoted(path)}{_comment(guesses)}"
    if first.subprotocol:
        yield f"  subprotocol: {first.subprotocol}"
    if first.secret_headers:
        each = ", ".join(f'{name}: "{{secret:{NAME_OF_SECRET}}}"' for name in first.secret_headers)
        yield f"  headers: {{{each}}} # what proves who a client is; the same for all clients"


def _address(one: str, other: str, *, grouped: bool) -> tuple[str, list[str]]:
    """The path as a template, and what was guessed."""
    here, there = urlsplit(one), urlsplit(other)
    guesses: list[str] = []
    parts, others = here.path.split("/"), there.path.split("/")
    if len(parts) == len(others):
        differ = [place for place, part in enumerate(parts) if part != others[place]]
        for place in differ:
            parts[place] = "{client}"
            guesses.append("what differs between the clients is {client}")
        if not grouped and not differ and len(parts) > 2 and parts[-1]:
            guesses.append(f"the group is guessed to be {parts[-1]!r}")
            parts[-1] = "{group}"
    pairs = []
    theirs = dict(parse_qsl(there.query, keep_blank_values=True))
    for name, value in parse_qsl(here.query, keep_blank_values=True):
        shown = value
        if SECRET.search(name):
            shown = f"{{secret:{NAME_OF_SECRET}}}"
            guesses.append(f"{name} is a secret")
        elif theirs.get(name) != value:
            shown = "{client}"
            guesses.append(f"{name} differs between the clients")
        elif GROUP.search(name):
            shown = "{group}"
            guesses.append(f"{name} is the group")
        pairs.append(f"{name}={shown}")
    return "/".join(parts) + ("?" + "&".join(pairs) if pairs else ""), guesses


class _Json:
    """Two conversations of JSON messages."""

    def __init__(self, first: Conversation, second: Conversation) -> None:
        self._all = [
            _Heard(number, said.sent, said.at, found)
            for number, talk in enumerate((first, second))
            for said in talk.said
            if (found := leaves(said.text)) is not None
        ]
        self._delivered = self._deliveries()
        self._kind = kind(self._delivered[0].sent.has)
        self._begins = [min(self._at(number), default=0.0) for number in (0, 1)]
        self._joins = [self._before(number) for number in (0, 1)]
        self._group = self._group_value()
        self._own = [self._own_values(number) for number in (0, 1)]

    def _at(self, client: int) -> Iterator[float]:
        return (each.at for each in self._all if each.sent and each.client == client and kind(each.has) == self._kind)

    def _deliveries(self) -> list[_Delivered]:
        """Of the kind of message that reaches the other client most often."""
        by_kind: dict[tuple[str, ...], list[_Delivered]] = {}
        for sent in (each for each in self._all if each.sent):
            common = self._common(sent)
            heard = (
                each
                for each in self._all
                if not each.sent and each.client != sent.client and 0 <= each.at - sent.at <= SOON
            )
            found = next((each for each in heard if any(value in each.has.values() for value in common)), None)
            if found:
                by_kind.setdefault(kind(sent.has), []).append(_Delivered(sent, found))
        if not by_kind:
            raise UserError(
                "nothing that one client sent came to the other", hint="both have to be in one room, and each to send"
            )
        return max(by_kind.values(), key=len)

    def _common(self, sent: _Heard) -> list[Any]:
        """The values of a message that no other message of its client has."""
        others = [each.has for each in self._all if each.sent and each is not sent]
        known = {json.dumps(value) for has in others for value in has.values()}
        return [
            value for value in sent.has.values() if json.dumps(value) not in known and value not in (None, True, False)
        ]

    def _before(self, client: int) -> list[_Heard]:
        """What a client sent before its first message."""
        return [each for each in self._all if each.sent and each.client == client and each.at < self._begins[client]]

    def _group_value(self) -> str | None:
        """The text that both clients say where they join, or in each message."""
        mine, theirs = ([each.has for each in (join or self._messages(n))] for n, join in enumerate(self._joins))
        alike = {
            at: value
            for has in mine
            for at, value in has.items()
            if isinstance(value, str) and value and any(other.get(at) == value for other in theirs)
        }
        return next((value for at, value in alike.items() if GROUP.search(at)), None)

    def _messages(self, client: int) -> list[_Heard]:
        return [each for each in self._all if each.sent and each.client == client and kind(each.has) == self._kind]

    def _own_values(self, client: int) -> set[Any]:
        """What this client alone says of itself, alike in all messages of a kind."""
        found = set()
        for sort in {kind(each.has) for each in self._all if each.sent}:
            mine, theirs = (
                [each.has for each in self._all if each.sent and each.client == number and kind(each.has) == sort]
                for number in (client, 1 - client)
            )
            for at, value in constants_of(mine).items():
                if CLIENT.search(at) and isinstance(value, str) and all(other.get(at) != value for other in theirs):
                    found.add(value)
        return found

    def lines(self) -> Iterator[str]:
        joins = self._joins[0]
        yield from self._opening(joins)
        yield from self._joining(joins)
        yield from self._message()
        yield from self._leaving()
        yield from self._rest()

    def _opening(self, joins: list[_Heard]) -> Iterator[str]:
        first_sent = min((each.at for each in self._all if each.sent and each.client == 0), default=0.0)
        greeted = [each for each in self._all if not each.sent and each.client == 0 and each.at < first_sent]
        parts = [f"send: {quoted(self._template(joins[0]))}"] if len(joins) > 1 else []
        if greeted:
            parts.append(f"acknowledged: {yaml_flow(constants([greeted[0].has]))}")
        if parts:
            yield f"open: {{{', '.join(parts)}}} # what comes before the join"
        self._greeting = kind(greeted[0].has) if greeted else None

    def _joining(self, joins: list[_Heard]) -> Iterator[str]:
        self._answer: tuple[str, ...] | None = None
        if not joins:
            return
        join = joins[-1]
        yield "join:"
        told = [] if self._group else ["decide: where the {group} is"]
        yield f"  send: {quoted(self._template(join))}{_comment(told)}"
        answers = [
            each
            for each in self._all
            if not each.sent and each.client == 0 and join.at <= each.at <= min(join.at + SOON, self._begins[0])
        ]
        if answers:
            answer = answers[0].has
            own = {at: self._client_template(value) for at, value in answer.items() if value in self._own[0]}
            yield f"  acknowledged: {yaml_flow({**constants([answer]), **own})} # the first that came after it"
            self._answer = kind(answer)

    def _message(self) -> Iterator[str]:
        sent = [each.sent.has for each in self._delivered]
        got = [each.received.has for each in self._delivered]
        at = self._id(sent)
        values, pairs = sent[0], self._pairs()
        yield "message:"
        texts = [origin for origin in pairs if self._is_text(values.get(origin), origin)]
        place = pairs.get(at) if at else None
        template = self._template(self._delivered[0].sent, id_at=at if place else None, texts=texts)
        if not place and texts:
            template = template.replace("{text:", "{id} {text:", 1)
        yield f"  send: {quoted(template)}"
        yield f"  received: {yaml_flow(self._recognised(got))}"
        if place:
            yield f"  id: {place} # differs in every message, and comes back"
        elif texts:
            where = {"at": pairs[texts[0]], "like": "{id} {any}"}
            yield f"  id: {yaml_flow(where)} # no id of its own came back, so the text begins with one"
        else:
            yield "  id: /id # decide: what differs in every message, and comes back"
        same = {pairs[origin]: origin for origin in texts}
        if same:
            yield f"  same: {yaml_flow(same)} # comes as it was sent"
        if not self._own_came_back():
            yield "  receivers: others # nobody got a message of their own"

    def _pairs(self) -> dict[str, str]:
        """Where each value that is sent comes out: pointers of what is received by those of what is sent."""
        found: dict[str, str] = {}
        for origin in self._delivered[0].sent.has:
            for place in self._delivered[0].received.has:
                if all(
                    origin in each.sent.has and each.received.has.get(place, each) == each.sent.has[origin]
                    for each in self._delivered
                ):
                    found.setdefault(origin, place)
        return found

    def _id(self, sent: Sequence[Leaves]) -> str | None:
        """The pointer of what differs in all messages of each client: by its name, or a number."""
        differs = [
            at for at in sent[0] if len(sent) > 1 and len({json.dumps(each.get(at)) for each in sent}) == len(sent)
        ]
        named = [at for at in differs if ID.search(at)]
        numbers = [at for at in differs if isinstance(sent[0][at], int)]
        return next(iter([*named, *numbers]), None)

    def _is_text(self, value: Any, at: str) -> bool:
        return (
            isinstance(value, str)
            and value != self._group
            and value not in self._own[0] | self._own[1]
            and at not in constants([each.sent.has for each in self._delivered])
        )

    def _recognised(self, got: Sequence[Leaves]) -> dict[str, Any]:
        found = constants(got)
        usable = {at: value for at, value in found.items() if value != self._group and value not in self._own[0]}
        return usable or {next(iter(got[0])): "{any}"}

    def _own_came_back(self) -> bool:
        got = {kind(each.received.has) for each in self._delivered}
        sent_by = {json.dumps(value): each.sent.client for each in self._delivered for value in self._common(each.sent)}
        return any(
            not each.sent and kind(each.has) in got and sent_by.get(json.dumps(value)) == each.client
            for each in self._all
            for value in each.has.values()
        )

    def _leaving(self) -> Iterator[str]:
        last = [each for each in self._all if each.sent and each.client == 0][-1:]
        known = {kind(each.has) for each in self._joins[0]} | {self._kind}
        if last and kind(last[0].has) not in known and self._count(last[0]) == 1:
            yield f"leave: {quoted(self._template(last[0]))} # the last that a client sent"

    def _count(self, like: _Heard) -> int:
        return sum(each.sent and each.client == 0 and kind(each.has) == kind(like.has) for each in self._all)

    def _rest(self) -> Iterator[str]:
        """What repeats beside messages, and what else the server said."""
        known = {kind(each.has) for each in self._joins[0]} | {self._kind}
        beside = [each for each in self._all if each.sent and each.client == 0 and kind(each.has) not in known]
        repeated = [each for each in beside if self._count(each) > 1]
        if repeated:
            of_kind = [each.at for each in repeated if kind(each.has) == kind(repeated[0].has)]
            every = max(1, round((of_kind[-1] - of_kind[0]) / (len(of_kind) - 1)))
            send = quoted(self._template(repeated[0]))
            yield f"keep_alive: {{send: {send}, every_seconds: {every}}} # repeated beside the messages"
        described = {kind(each.received.has) for each in self._delivered} | {self._greeting, self._answer}
        others: dict[tuple[str, ...], list[Leaves]] = {}
        for each in self._all:
            if not each.sent and kind(each.has) not in described:
                others.setdefault(kind(each.has), []).append(each.has)
        again = self._answer is not None and self._answers_of_others()
        patterns = [constants(each) for each in others.values()]
        if again:
            patterns.append(constants([each.has for each in self._all if kind(each.has) == self._answer]))
        if patterns := [each for each in patterns if each]:
            yield f"ignore: {yaml_flow(patterns)} # what else the server said"

    def _answers_of_others(self) -> bool:
        """Whether a client gets more answers to a join than its own."""
        return any(
            sum(not each.sent and each.client == client and kind(each.has) == self._answer for each in self._all) > 1
            for client in (0, 1)
        )

    def _client_template(self, value: Any) -> str:
        return "{client}" if str(value).isdecimal() else "user-{client}"

    def _template(self, message: _Heard, *, id_at: str | None = None, texts: Sequence[str] = ()) -> str:
        """The JSON of a message with values in their places."""
        made: Any = {}
        for at, value in message.has.items():
            shown = value
            if at == id_at:
                shown = "{id}" if isinstance(value, str) else f"{BARE}{{id}}{BARE}"
            elif SECRET.search(at) and isinstance(value, str):
                shown = f"{{secret:{NAME_OF_SECRET}}}"
            elif value == self._group and isinstance(value, str):
                shown = "{group}"
            elif value in self._own[message.client]:
                shown = self._client_template(value)
            elif at in texts:
                shown = f"{{text:{max(20, len(value))}}}"
            made = put(made, at.split("/")[1:], shown)
        return re.sub(f'"{BARE}(.*?){BARE}"', r"\1", json.dumps(lists(made), ensure_ascii=False))


def constants_of(messages: Sequence[Leaves]) -> dict[str, Any]:
    """The values that all messages have alike."""
    first = messages[0] if messages else {}
    return {at: value for at, value in first.items() if all(each.get(at, messages) == value for each in messages)}


def put(into: dict[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """`into` with a value at a path; lists are mappings of their places."""
    if not path:
        return into
    inner = into.setdefault(path[0], {})
    into[path[0]] = value if len(path) == 1 else put(inner, path[1:], value)
    return into


def lists(value: Any) -> Any:
    """The mappings of places as lists again, with the names as they were."""
    if not isinstance(value, dict):
        return value
    if value and all(key == str(place) for place, key in enumerate(value)):
        return [lists(each) for each in value.values()]
    return {key.replace("~1", "/").replace("~0", "~"): lists(each) for key, each in value.items()}


def _comment(guesses: Sequence[str]) -> str:
    return f" # {'; '.join(guesses)}" if guesses else ""
