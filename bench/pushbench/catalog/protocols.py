"""Declared protocols: a `protocol.yml` read and checked, as the generator takes it.

Whatever is wrong with the file is found here, with its line, before anything is started.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pushbench.catalog.declaration import (
    Condition,
    Declaration,
    Failure,
    Header,
    KeepAlive,
    Message,
    Part,
    Receipt,
    Secret,
    Step,
    Template,
)
from pushbench.catalog.declaration import Pattern as Compiled
from pushbench.catalog.protocol_file import Pattern, Place, ProtocolFile, Scalar, Within
from pushbench.catalog.rows import read_rows
from pushbench.catalog.servers import Server
from pushbench.catalog.templates import JsonTemplate, dumps, joined, json_string, literal, parse, values
from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import Location, YamlFile, read_yaml

SENT = ("group", "client", "row", "secret")
MESSAGE = ("group", "client", "id", "time", "text", "row", "secret")
HEARD = ("group", "client", "text", "row", "any")
RECEIVED = ("group", "client", "text", "any")
"""of a message of another client, whose row is not known yet"""
DELIVERED = ("group", "client", "id", "time", "text", "any")

_PATH = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@/-]*")
_QUERY = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@/?%-]*")
_OWN_HEADERS = ("connection", "content-length", "host", "transfer-encoding", "upgrade")


@dataclass(frozen=True)
class DeclaredProtocol:
    """The protocol of a file, and the file for errors that a conversation shows."""

    file: YamlFile
    declaration: Declaration

    @property
    def variables(self) -> list[str]:
        """The variables of the environment that the generator needs."""
        return sorted({secret.env or secret.file_env for secret in self.declaration.secrets.values()})

    def environment(self) -> dict[str, str]:
        """These variables and their values. Raises UserError where a secret cannot be had."""
        self.secrets()
        return {name: os.environ[name] for name in self.variables}

    def secrets(self) -> dict[str, str]:
        """The secrets by their names. Raises UserError where one cannot be had."""
        found = {}
        for name, secret in self.declaration.secrets.items():
            try:
                found[name] = _read(secret)
            except ValueError as problem:
                raise self.file.error(("secrets", name), str(problem)) from None
        return found

    def redact(self, text: str) -> str:
        """A text that people may read: without secrets, in the forms that they have in messages and addresses."""
        for name, secret in self.secrets().items():
            for form in (secret, dumps(secret)[1:-1], json.dumps(secret)[1:-1], quote(secret, safe="")):
                text = text.replace(form, f"{{secret:{name}}}")
        return text

    def error(self, at: str, what: str) -> UserError:
        """The error for a mistake at a dotted key, such as message.id."""
        return self.file.error(tuple(int(part) if part.isdecimal() else part for part in at.split(".") if part), what)


def read_protocol(path: Path, *, text: int | None = None) -> DeclaredProtocol:
    """Read a declared protocol. Raises UserError, with file and line, for whatever cannot work.

    With `text`, what a message says has so many characters, in place of the file's number.
    """
    return protocol_in(read_yaml(path), text=text)


def protocol_in(file: YamlFile, *, text: int | None = None) -> DeclaredProtocol:
    """As `read_protocol`, of a file that was read."""
    return DeclaredProtocol(file, _Reading(file, file.validate(ProtocolFile), text).declaration())


def declared_by(server: Server) -> DeclaredProtocol | None:
    """The protocol that a server declares; None for a protocol of its suite."""
    return read_protocol(server.protocol_file) if server.protocol_file else None


def _read(secret: Secret) -> str:
    """A secret. The ValueError says why it cannot be used; never what it is."""
    variable = secret.env or secret.file_env
    value = os.environ.get(variable, "")
    if not value:
        raise ValueError(f"the variable {variable} is not set")
    if secret.file_env:
        try:
            value = Path(value).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise ValueError(f"the file that {variable} names cannot be read") from None
        if not value:
            raise ValueError(f"the file that {variable} names is empty")
    if not value.isprintable():
        raise ValueError(f"what {variable} has is not one line of text")
    return value


class _Reading:
    """One file on its way to a declaration."""

    def __init__(self, file: YamlFile, spec: ProtocolFile, text: int | None) -> None:
        self._file, self._spec, self._text = file, spec, text
        self._secrets = list(spec.secrets)
        self._json = spec.format == "json"
        self._rows = read_rows(file.path.parent / spec.rows) if spec.rows else {}

    def declaration(self) -> Declaration:
        spec = self._spec
        path, _, query = spec.websocket.path.partition("?")
        alive, error = spec.keep_alive, spec.error
        return Declaration(
            format=spec.format,
            path=self._address(path, _PATH),
            query=self._address(query, _QUERY),
            subprotocol=spec.websocket.subprotocol or "",
            headers=list(self._headers()),
            separator=spec.websocket.separator or spec.websocket.terminator or "",
            open=list(self._opening()),
            join=self._step(("join",), spec.join.send, spec.join.acknowledged) if spec.join else None,
            message=self._message(),
            leave=self._send(("leave",), spec.leave),
            keep_alive=KeepAlive(
                every_seconds=alive.every_seconds or 0,
                send=self._send(("keep_alive", "send"), alive.send),
                received=self._pattern(("keep_alive", "received"), alive.received),
                answer=self._send(("keep_alive", "answer"), alive.answer),
            )
            if alive
            else None,
            error=Failure(**dict(self._heard(("error", "received"), error.received)), reason=error.reason or "")
            if error
            else None,
            ignore=[self._heard(("ignore", place), each) for place, each in enumerate(spec.ignore)],
            secrets={name: Secret(env=it.env or "", file_env=it.file_env or "") for name, it in spec.secrets.items()},
            rows=self._rows,
        )

    def _template(self, at: Location, text: str, known: Collection[str]) -> Template:
        try:
            return parse(text, known, self._secrets, self._rows, self._text)
        except ValueError as error:
            raise self._file.error(at, str(error)) from None

    def _address(self, text: str, allowed: re.Pattern[str]) -> Template:
        at = ("websocket", "path")
        made = self._template(at, text, SENT)
        for part in made:
            if not allowed.fullmatch(part.literal):
                raise self._file.error(at, f"characters that an address cannot have: {part.literal!r}")
        return made

    def _headers(self) -> Iterator[Header]:
        for name, text in self._spec.websocket.headers.items():
            at = ("websocket", "headers", name)
            if name.lower() in _OWN_HEADERS or name.lower().startswith("sec-websocket-"):
                raise self._file.error(at, "belongs to the opening handshake itself")
            if not text.isprintable():
                raise self._file.error(at, "not one line of text")
            yield Header(name=name, value=self._template(at, text, SENT))

    def _send(self, at: Location, text: str | None) -> Template:
        """A message that is sent, with what ends it."""
        return [] if text is None else self._ended(self._said(at, text, SENT))

    def _said(self, at: Location, text: str, known: Collection[str]) -> Template:
        """What a message says: of JSON without its blanks."""
        made = self._template(at, text, known)
        return self._as_json(at, made).whole if self._json else made

    def _ended(self, message: Template) -> Template:
        return joined([*message, *literal(self._spec.websocket.terminator or "")])

    def _as_json(self, at: Location, template: Template) -> JsonTemplate:
        try:
            return JsonTemplate(template)
        except ValueError as error:
            raise self._file.error(at, str(error)) from None

    def _opening(self) -> Iterator[Step]:
        opening = self._spec.open
        if isinstance(opening, list):
            for place, step in enumerate(opening):
                yield self._step(("open", place), step.send, step.acknowledged)
        elif opening:
            yield self._step(("open",), opening.send, opening.acknowledged)

    def _step(self, at: Location, send: str | None, acknowledged: Pattern | None) -> Step:
        return Step(
            send=self._send((*at, "send"), send), acknowledged=self._pattern((*at, "acknowledged"), acknowledged)
        )

    def _pattern(self, at: Location, pattern: Pattern | None) -> Compiled | None:
        return None if pattern is None else self._heard(at, pattern)

    def _heard(self, at: Location, pattern: Pattern, known: Collection[str] = HEARD) -> Compiled:
        if isinstance(pattern, str):
            made = self._template(at, pattern, known)
            return Compiled(where=[self._whole(at, made)]) if self._json else Compiled(like=made)
        if not self._json:
            raise self._file.error(at, "expected a template of the whole message, for the format is text")
        if not pattern:
            raise self._file.error(at, "expected at least one value, or every message would be one")
        return Compiled(where=[self._condition((*at, each), each, value, known) for each, value in pattern.items()])

    def _whole(self, at: Location, template: Template) -> Condition:
        """The condition that a message is this JSON."""
        if "any" in values(template):
            raise self._file.error(at, "no {any} in a whole message; expected values at JSON pointers in its place")
        try:
            made = JsonTemplate(template)
        except ValueError:
            what = "expected values at JSON pointers, such as {/type: joined}, or the JSON of a whole message"
            raise self._file.error(at, what) from None
        return Condition(at="", json_is=made.whole, json_sorted=made.template(made.at(""), in_order=True))

    def _condition(self, at: Location, pointer: str, value: Scalar, known: Collection[str]) -> Condition:
        if not isinstance(value, str):
            made = literal(dumps(value))
        else:
            content = self._template(at, value, known)
            anything = content == [Part(value="any")]
            if not anything and "any" in values(content):
                raise self._file.error(at, "{any} stands alone for any value; it is no part of one")
            made = content if anything else json_string(content)
        return Condition(at=pointer, json_is=made, json_sorted=made)

    def _message(self) -> Message:
        spec = self._spec.message
        sent = self._said(("message", "send"), spec.send, MESSAGE)
        if "id" not in values(sent):
            raise self._file.error(("message", "send"), "no {id}, so nobody could tell one message from another")
        heard = self._heard(("message", "received"), spec.received, RECEIVED if self._json else DELIVERED)
        receipt = self._json_receipt(heard, sent) if self._json else self._text_receipt(heard)
        return Message(send=self._ended(sent), received=receipt, others=spec.receivers == "others")

    def _text_receipt(self, heard: Compiled) -> Receipt:
        spec = self._spec.message
        for name, given in (("id", spec.id), ("time", spec.time), ("same", spec.same)):
            if given:
                raise self._file.error(("message", name), "the format is text: `received` has a place for it")
        if values(heard.like).count("id") != 1:
            raise self._file.error(("message", "received"), "expected one {id} in it")
        return Receipt(like=heard.like)

    def _json_receipt(self, heard: Compiled, sent: Template) -> Receipt:
        spec = self._spec.message
        if spec.id is None:
            raise self._file.error(
                ("message",), "id: missing; expected the JSON pointer of the {id} in what is received"
            )
        if spec.time is not None and "time" not in values(sent):
            raise self._file.error(("message", "time"), "what is sent has no {time}")
        return Receipt(
            where=heard.where,
            id=self._place("id", spec.id),
            time=self._place("time", spec.time) if spec.time is not None else None,
            same=list(self._same(self._as_json(("message", "send"), sent))),
        )

    def _place(self, name: str, place: Place) -> Condition:
        if not isinstance(place, Within):
            return Condition(at=str(place), like=[Part(value=name)])
        at = ("message", name, "like")
        like = self._template(at, place.like, DELIVERED)
        if values(like).count(name) != 1:
            raise self._file.error(at, f"expected one {{{name}}} in it")
        return Condition(at=place.at, like=like)

    def _same(self, sent: JsonTemplate) -> Iterator[Condition]:
        same = self._spec.message.same
        pairs: Mapping[str, str] = same if isinstance(same, dict) else {each: each for each in same}
        for place, (received, origin) in enumerate(pairs.items()):
            at = ("message", "same", received if isinstance(same, dict) else place)
            try:
                value: Any = sent.at(origin)
            except LookupError:
                raise self._file.error(at, f"the pointer {origin} finds nothing in what is sent") from None
            yield Condition(at=received, json_is=sent.template(value), json_sorted=sent.template(value, in_order=True))
