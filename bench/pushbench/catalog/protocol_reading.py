"""From the keys of a `protocol.yml` to a declaration: the meaning of its templates and patterns, and its mistakes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

from pushbench.catalog.declaration import (
    Condition,
    Declaration,
    Failure,
    Header,
    KeepAlive,
    Message,
    Part,
    Receipt,
    Request,
    Secret,
    Step,
    Stream,
    Template,
)
from pushbench.catalog.declaration import Pattern as Compiled
from pushbench.catalog.protocol_file import (
    EventStreams,
    Pattern,
    Place,
    ProtocolFile,
    Requests,
    Scalar,
    WebSocket,
    Within,
)
from pushbench.catalog.rows import read_rows
from pushbench.catalog.templates import JsonTemplate, dumps, joined, json_string, literal, parse, values
from pushbench.foundation.yamlfile import Location, YamlFile

SENT = ("group", "client", "row", "secret")
REQUESTED = ("group", "client", "id", "time", "row", "secret")
"""values allowed in the address and the header of a request"""
MESSAGE = ("group", "client", "id", "time", "text", "row", "secret")
HEARD = ("group", "client", "text", "row", "any")
RECEIVED = ("group", "client", "text", "any")
"""values in a message of another client, whose row is not known yet"""
DELIVERED = ("group", "client", "id", "time", "text", "any")
ANSWERED = ("group", "client", "id", "time", "text", "row", "any")
"""values in the answer to a request of the client itself"""

_PATH = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@/-]*")
_QUERY = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@/?%-]*")
_OWN_HEADERS = ("connection", "content-length", "host", "transfer-encoding", "upgrade")


def declaration_of(file: YamlFile, spec: ProtocolFile, text: int | None) -> Declaration:
    """The declaration of a file. Raises UserError, with its line, for what cannot work.

    If `text` is given, it replaces the file's number of characters in a message.
    """
    if spec.websocket:
        return _Groups(file, spec, text, spec.websocket).declaration()
    requests = spec.sse or spec.http
    assert requests, "the file has one transport"
    return _Requests(file, spec, text, requests).declaration()


class _Reading:
    """What all transports have: templates, patterns, and how a receipt is recognised."""

    receipt_of_text: Collection[str]
    """the values that a receipt may have if messages are text"""
    receipt_of_json: Collection[str]

    def __init__(
        self,
        file: YamlFile,
        spec: ProtocolFile,
        text: int | None,
        transport: WebSocket | EventStreams | Requests,
        at: Literal["websocket", "sse", "http"],
    ) -> None:
        self.file, self.spec, self.at = file, spec, at
        self._transport, self._text = transport, text
        self._secrets = list(spec.secrets)
        self.json = spec.format != "text"
        self._rows = read_rows(file.path.parent / spec.rows) if spec.rows else {}

    def common(self, known: Collection[str]) -> dict[str, Any]:
        """What all declarations have; addresses and headers may have the `known` values."""
        spec, error = self.spec, self.spec.error
        path, _, query = self._transport.path.partition("?")
        return {
            "format": spec.format,
            "path": self._address(path, _PATH, known),
            "query": self._address(query, _QUERY, known),
            "headers": list(self._headers(known)),
            "error": Failure(**dict(self.heard(("error", "received"), error.received)), reason=error.reason or "")
            if error
            else None,
            "ignore": [self.heard(("ignore", place), each) for place, each in enumerate(spec.ignore)],
            "secrets": {
                name: Secret(env=it.env or "", file_env=it.file_env or "") for name, it in spec.secrets.items()
            },
            "rows": self._rows,
        }

    def template(self, at: Location, text: str, known: Collection[str]) -> Template:
        try:
            return parse(text, known, self._secrets, self._rows, self._text)
        except ValueError as error:
            raise self.file.error(at, str(error)) from None

    def _address(self, text: str, allowed: re.Pattern[str], known: Collection[str]) -> Template:
        at = (self.at, "path")
        made = self.template(at, text, known)
        for part in made:
            if not allowed.fullmatch(part.literal):
                raise self.file.error(at, f"characters that an address cannot have: {part.literal!r}")
        return made

    def _headers(self, known: Collection[str]) -> Iterator[Header]:
        of = "the opening handshake" if self.at == "websocket" else "the request"
        for name, text in self._transport.headers.items():
            at = (self.at, "headers", name)
            if name.lower() in _OWN_HEADERS or name.lower().startswith("sec-websocket-"):
                raise self.file.error(at, f"belongs to {of} itself")
            if not text.isprintable():
                raise self.file.error(at, "not one line of text")
            yield Header(name=name, value=self.template(at, text, known))

    def said(self, at: Location, text: str, known: Collection[str]) -> Template:
        """The content of a message, without the blanks of JSON."""
        made = self.template(at, text, known)
        return self.as_json(at, made).whole if self.json else made

    def as_json(self, at: Location, template: Template) -> JsonTemplate:
        try:
            return JsonTemplate(template)
        except ValueError as error:
            raise self.file.error(at, str(error)) from None

    def pattern(self, at: Location, pattern: Pattern | None) -> Compiled | None:
        return None if pattern is None else self.heard(at, pattern)

    def heard(self, at: Location, pattern: Pattern, known: Collection[str] = HEARD) -> Compiled:
        if isinstance(pattern, str):
            made = self.template(at, pattern, known)
            return Compiled(where=[self._whole(at, made)]) if self.json else Compiled(like=made)
        if not self.json:
            raise self.file.error(at, "expected a template of the whole message, because the format is text")
        if not pattern:
            raise self.file.error(at, "expected at least one value: an empty pattern matches every message")
        return Compiled(where=[self._condition((*at, each), each, value, known) for each, value in pattern.items()])

    def _whole(self, at: Location, template: Template) -> Condition:
        """The condition that a message is this JSON."""
        if "any" in values(template):
            raise self.file.error(at, "no {any} in a whole message; expected values at JSON pointers instead")
        try:
            made = JsonTemplate(template)
        except ValueError:
            what = "expected values at JSON pointers, such as {/type: joined}, or the JSON of a whole message"
            raise self.file.error(at, what) from None
        return Condition(at="", json_is=made.whole, json_sorted=made.template(made.at(""), in_order=True))

    def _condition(self, at: Location, pointer: str, value: Scalar, known: Collection[str]) -> Condition:
        if not isinstance(value, str):
            made = literal(dumps(value))
        else:
            content = self.template(at, value, known)
            anything = content == [Part(value="any")]
            if not anything and "any" in values(content):
                raise self.file.error(at, "{any} stands for a whole value; it cannot be part of one")
            made = content if anything else json_string(content)
        return Condition(at=pointer, json_is=made, json_sorted=made)

    def receipt(self, sent: Template, told: Collection[str]) -> Receipt:
        """How a receipt is recognised; `told` are the values in its message or request."""
        spec = self.spec.message
        if spec.received is None:
            heard = Compiled()
        else:
            known = self.receipt_of_json if self.json else self.receipt_of_text
            heard = self.heard(("message", "received"), spec.received, known)
        return self._json_receipt(heard, sent, told) if self.json else self._text_receipt(heard)

    def _text_receipt(self, heard: Compiled) -> Receipt:
        spec = self.spec.message
        for name, given in (("id", spec.id), ("time", spec.time), ("same", spec.same)):
            if given:
                raise self.file.error(("message", name), "the format is text: `received` contains it instead")
        return Receipt(like=heard.like)

    def _json_receipt(self, heard: Compiled, sent: Template, told: Collection[str]) -> Receipt:
        spec = self.spec.message
        for name, given in (("id", spec.id), ("time", spec.time)):
            if given is not None and name not in told:
                raise self.file.error(("message", name), f"clients send no {{{name}}}")
        return Receipt(
            where=heard.where,
            id=self._place("id", spec.id) if spec.id is not None else None,
            time=self._place("time", spec.time) if spec.time is not None else None,
            same=list(self._same(sent)) if spec.same else [],
        )

    def _place(self, name: str, place: Place) -> Condition:
        if not isinstance(place, Within):
            return Condition(at=str(place), like=[Part(value=name)])
        at = ("message", name, "like")
        like = self.template(at, place.like, DELIVERED)
        if values(like).count(name) != 1:
            raise self.file.error(at, f"expected one {{{name}}} in it")
        return Condition(at=place.at, like=like)

    def _same(self, sent: Template) -> Iterator[Condition]:
        if not sent:
            raise self.file.error(("message", "same"), "there is no `send` to compare with")
        said, same = self.as_json(("message", "send"), sent), self.spec.message.same
        pairs: Mapping[str, str] = same if isinstance(same, dict) else {each: each for each in same}
        for place, (received, origin) in enumerate(pairs.items()):
            at = ("message", "same", received if isinstance(same, dict) else place)
            try:
                value: Any = said.at(origin)
            except LookupError:
                raise self.file.error(at, f"`send` has no value at {origin}") from None
            yield Condition(at=received, json_is=said.template(value), json_sorted=said.template(value, in_order=True))


class _Groups(_Reading):
    """Members of groups, over WebSocket."""

    receipt_of_text, receipt_of_json = DELIVERED, RECEIVED

    def __init__(self, file: YamlFile, spec: ProtocolFile, text: int | None, socket: WebSocket) -> None:
        super().__init__(file, spec, text, socket, "websocket")
        self._socket = socket

    def declaration(self) -> Declaration:
        spec, alive = self.spec, self.spec.keep_alive
        for name, given in (("separator", self._socket.separator), ("terminator", self._socket.terminator)):
            if given and spec.format == "msgpack":
                raise self.file.error(("websocket", name), "a MessagePack frame is always one message")
        return Declaration(
            **self.common(SENT),
            subprotocol=self._socket.subprotocol or "",
            separator=self._socket.separator or self._socket.terminator or "",
            open=list(self._opening()),
            join=self._step(("join",), spec.join.send, spec.join.acknowledged) if spec.join else None,
            message=self._message(),
            leave=self._send(("leave",), spec.leave),
            keep_alive=KeepAlive(
                every_seconds=alive.every_seconds or 0,
                send=self._send(("keep_alive", "send"), alive.send),
                received=self.pattern(("keep_alive", "received"), alive.received),
                answer=self._send(("keep_alive", "answer"), alive.answer),
            )
            if alive
            else None,
        )

    def _send(self, at: Location, text: str | None) -> Template:
        """A message to send, with its terminator."""
        return [] if text is None else self._ended(self.said(at, text, SENT))

    def _ended(self, message: Template) -> Template:
        return joined([*message, *literal(self._socket.terminator or "")])

    def _opening(self) -> Iterator[Step]:
        opening = self.spec.open
        if isinstance(opening, list):
            for place, step in enumerate(opening):
                yield self._step(("open", place), step.send, step.acknowledged)
        elif opening:
            yield self._step(("open",), opening.send, opening.acknowledged)

    def _step(self, at: Location, send: str | None, acknowledged: Pattern | None) -> Step:
        return Step(
            send=self._send((*at, "send"), send), acknowledged=self.pattern((*at, "acknowledged"), acknowledged)
        )

    def _message(self) -> Message:
        spec = self.spec.message
        if spec.send is None:
            raise self.file.error(("message",), "send: missing; expected the message that clients send to their group")
        sent = self.said(("message", "send"), spec.send, MESSAGE)
        if "id" not in values(sent):
            raise self.file.error(("message", "send"), "no {id}, so messages could not be told apart")
        if spec.received is None:
            raise self.file.error(("message",), "received: missing; expected a pattern that matches a message")
        if self.json and spec.id is None:
            raise self.file.error(
                ("message",), "id: missing; expected the JSON pointer of the {id} in the received message"
            )
        receipt = self.receipt(sent, values(sent))
        if not self.json and values(receipt.like).count("id") != 1:
            raise self.file.error(("message", "received"), "expected one {id} in it")
        return Message(send=self._ended(sent), received=receipt, others=spec.receivers == "others")


class _Requests(_Reading):
    """Requests over HTTP, whose answers are streams or one receipt each."""

    receipt_of_text = receipt_of_json = ANSWERED

    def __init__(
        self, file: YamlFile, spec: ProtocolFile, text: int | None, transport: EventStreams | Requests
    ) -> None:
        super().__init__(file, spec, text, transport, "sse" if isinstance(transport, EventStreams) else "http")
        self._asked = transport

    def declaration(self) -> Declaration:
        self._require_no_group()
        common, sent = self.common(REQUESTED), self._sent()
        headers = [part for header in common["headers"] for part in header.value]
        told = values([*sent, *common["path"], *common["query"], *headers])
        return Declaration(
            **common,
            message=Message(send=sent, received=self.receipt(sent, told)),
            request=Request(method=self._asked.method, status=self._status(), stream=self._stream()),
        )

    def _require_no_group(self) -> None:
        spec = self.spec
        for key, given in (
            (("open",), spec.open),
            (("join",), spec.join),
            (("leave",), spec.leave),
            (("keep_alive",), spec.keep_alive),
            (("message", "receivers"), spec.message.receivers == "others"),
        ):
            if given:
                raise self.file.error(key, f"applies only to groups over websocket; found {self.at}")
        if spec.format == "msgpack":
            raise self.file.error(("format",), f"MessagePack works over websocket only; found {self.at}")
        if spec.ignore and isinstance(self._asked, Requests):
            raise self.file.error(("ignore",), "a request has one answer, which is a receipt or an error")

    def _sent(self) -> Template:
        send = self.spec.message.send
        if send is None:
            return []
        if self._asked.method == "GET":
            raise self.file.error(("message", "send"), "a GET has no body; expected another `method`")
        return self.said(("message", "send"), send, MESSAGE)

    def _status(self) -> int:
        return self._asked.status if isinstance(self._asked, Requests) else 200

    def _stream(self) -> Stream | None:
        asked = self._asked
        if isinstance(asked, Requests):
            return None
        if self.spec.message.received is None:
            raise self.file.error(("message",), "received: missing; expected a pattern that matches a token")
        if asked.number and not self.json and asked.number != "event-id":
            raise self.file.error((self.at, "number"), "the format is text: expected event-id")
        return Stream(receipts=asked.tokens, number=asked.number or "", end=asked.end or "")
