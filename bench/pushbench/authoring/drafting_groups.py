"""A draft of a protocol of groups, from the conversations of two clients in one group. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pushbench.authoring.addressing import address, comment, header_lines
from pushbench.authoring.describing import quoted, yaml_flow
from pushbench.authoring.drafting_text import text_lines
from pushbench.authoring.leaves import (
    CLIENT,
    GROUP,
    SECRET,
    Leaves,
    alike,
    constants,
    id_among,
    kind,
    leaves,
    rewritten,
    value_of,
)
from pushbench.authoring.overheard import Conversation
from pushbench.authoring.withholding import Secrets
from pushbench.foundation.errors import UserError

SOON = 2.0
"""seconds within which one client's message reaches another"""


@dataclass(frozen=True)
class _Heard:
    """A JSON message."""

    client: int
    sent: bool
    at: float
    text: str
    has: Leaves


@dataclass(frozen=True)
class _Delivered:
    """A message, and its delivery to the other client."""

    sent: _Heard
    received: _Heard


def group_lines(talks: Sequence[Conversation], secrets: Secrets) -> Iterator[str]:
    """The lines of a protocol over WebSocket. Raises UserError if the conversations are insufficient."""
    if len(talks) < 2:
        raise UserError("only one client connected", hint="let two talk to each other, in the same room")
    first, second = talks[:2]
    for number, talk in enumerate((first, second)):
        if not talk.sent():
            raise UserError(f"client {number} sent nothing", hint="let each client send some messages")
    as_json = all(leaves(each.text) is not None for talk in (first, second) for each in talk.sent())
    body = list(_Json(first, second, secrets).lines()) if as_json else list(text_lines(first, second))
    where = address(
        [first.path, second.path],
        secrets,
        differing=lambda _: "{client}",
        group_in_path=not any("{group}" in line for line in body),
        group_in_query=True,
    )
    yield "websocket:"
    yield f"  {where.line}"
    if first.subprotocol:
        yield f"  subprotocol: {first.subprotocol}"
    yield from header_lines([first, second], secrets, differing=lambda _: "{client}")
    if not as_json:
        yield "format: text"
    yield from body


class _Json:
    """Two conversations of JSON messages."""

    def __init__(self, first: Conversation, second: Conversation, secrets: Secrets) -> None:
        self._secrets = secrets
        self._all = [
            _Heard(number, said.sent, said.at, said.text or "", found)
            for number, talk in enumerate((first, second))
            for said in talk.said
            if (found := leaves(said.text)) is not None
        ]
        self._how_often = Counter(
            each for heard in self._all if heard.sent for each in {json.dumps(value) for value in heard.has.values()}
        )
        """the number of sent messages that contain a value"""
        self._delivered = self._deliveries()
        self._kind = kind(self._delivered[0].sent.has)
        self._begins = [min((each.at for each in self._messages(number)), default=0.0) for number in (0, 1)]
        self._joins = [self._before(number) for number in (0, 1)]
        self._group = self._group_value()
        self._own = [self._own_values(number) for number in (0, 1)]

    def _deliveries(self) -> list[_Delivered]:
        """The deliveries of the kind of message that reaches the other client most often."""
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
                "no message of one client reached the other", hint="put both into one room, and let each of them send"
            )
        return max(by_kind.values(), key=len)

    def _common(self, sent: _Heard) -> list[Any]:
        """The values of a message that no other sent message has."""
        return [
            value
            for value in sent.has.values()
            if self._how_often[json.dumps(value)] == 1 and value not in (None, True, False)
        ]

    def _before(self, client: int) -> list[_Heard]:
        """The messages that a client sent before its first message to the group."""
        return [each for each in self._all if each.sent and each.client == client and each.at < self._begins[client]]

    def _group_value(self) -> str | None:
        """The text that both clients send when they join, or in each message."""
        mine, theirs = ([each.has for each in (join or self._messages(n))] for n, join in enumerate(self._joins))
        shared = {
            at: value
            for has in mine
            for at, value in has.items()
            if isinstance(value, str) and value and any(other.get(at) == value for other in theirs)
        }
        return next((value for at, value in shared.items() if GROUP.search(at)), None)

    def _messages(self, client: int) -> list[_Heard]:
        return [each for each in self._all if each.sent and each.client == client and kind(each.has) == self._kind]

    def _own_values(self, client: int) -> set[Any]:
        """The values that only this client sends, alike in all messages of a kind: as its name, or when it joins."""
        found = set()
        joining = {kind(each.has) for each in self._joins[client]}
        for sort in {kind(each.has) for each in self._all if each.sent}:
            mine, theirs = (
                [each.has for each in self._all if each.sent and each.client == number and kind(each.has) == sort]
                for number in (client, 1 - client)
            )
            for at, value in alike(mine).items():
                named = CLIENT.search(at) or (sort in joining and theirs and value and not SECRET.search(at))
                if named and isinstance(value, str) and all(other.get(at) != value for other in theirs):
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
        template = self._template(join)
        if "{client}" in template:
            told.append("what differs between the clients is the client")
        yield f"  send: {quoted(template)}{comment(told)}"
        answers = [
            each
            for each in self._all
            if not each.sent and each.client == 0 and join.at <= each.at <= min(join.at + SOON, self._begins[0])
        ]
        if answers:
            answer = answers[0].has
            own = {at: self._client_template(value) for at, value in answer.items() if value in self._own[0]}
            yield f"  acknowledged: {yaml_flow({**constants([answer]), **own})} # the first message after it"
            self._answer = kind(answer)

    def _message(self) -> Iterator[str]:
        sent = [each.sent.has for each in self._delivered]
        got = [each.received.has for each in self._delivered]
        at = id_among(sent)
        values, pairs = sent[0], self._pairs()
        yield "message:"
        texts = [origin for origin in pairs if origin != at and self._is_text(values.get(origin), origin)]
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
            yield f"  same: {yaml_flow(same)} # comes back unchanged"
        if not self._own_came_back():
            yield "  receivers: others # no client got its own message"

    def _pairs(self) -> dict[str, str]:
        """The delivered place of each sent value: pointers in received messages by pointers in sent ones."""
        found: dict[str, str] = {}
        for origin in self._delivered[0].sent.has:
            for place in self._delivered[0].received.has:
                if all(
                    origin in each.sent.has and each.received.has.get(place, each) == each.sent.has[origin]
                    for each in self._delivered
                ):
                    found.setdefault(origin, place)
        return found

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
            yield f"leave: {quoted(self._template(last[0]))} # the last message that a client sent"

    def _count(self, like: _Heard) -> int:
        return sum(each.sent and each.client == 0 and kind(each.has) == kind(like.has) for each in self._all)

    def _rest(self) -> Iterator[str]:
        """The lines for messages that a client repeats, and for the server's other messages."""
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
            yield f"ignore: {yaml_flow(patterns)} # what else the server sent"

    def _answers_of_others(self) -> bool:
        """Whether a client gets more answers to a join than its own."""
        return any(
            sum(not each.sent and each.client == client and kind(each.has) == self._answer for each in self._all) > 1
            for client in (0, 1)
        )

    def _client_template(self, value: Any) -> str:
        return "{client}" if str(value).isdecimal() else "user-{client}"

    def _template(self, message: _Heard, *, id_at: str | None = None, texts: Sequence[str] = ()) -> str:
        """The message's JSON with placeholders for its values."""

        def shown(at: str, value: Any) -> Any:
            if at == id_at:
                return value_of("id", value)
            if SECRET.search(at) and isinstance(value, str):
                return self._secrets.field(at)
            if value == self._group and isinstance(value, str):
                return "{group}"
            if value in self._own[message.client]:
                return self._client_template(value)
            if at in texts:
                return f"{{text:{max(20, len(value))}}}"
            return value

        return rewritten(message.text, shown)
