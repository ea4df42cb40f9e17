"""A `protocol.yml`: the keys, as people write them. `protocols` reads it and reports its mistakes."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Discriminator, Field, PositiveFloat, StringConstraints, Tag, model_validator

from pushbench.foundation.model import Document

Pointer = Annotated[str, StringConstraints(pattern=r"^/", max_length=200)]
Token = Annotated[str, StringConstraints(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", max_length=100)]
"""RFC 9110, section 5.6.2"""
SecretName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=50)]
Variable = Annotated[str, StringConstraints(pattern=r"^PUSHBENCH_SECRET_[A-Z0-9_]+$", max_length=100)]
"""A protocol.yml of a pull request can send these variables to its server, and no other variable of the machine."""
Table = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*\.csv$", max_length=100)]
"""A name without a folder, so that a pull request cannot send other files of the machine to its server."""
Mark = Annotated[str, StringConstraints(min_length=1, max_length=8)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=40_000)]
Scalar = str | int | float | bool | None
Pattern = Annotated[
    dict[Pointer, Scalar] | Text,
    Field(
        description="for JSON, values at JSON pointers, such as {/type: joined}, or the JSON of a whole message, such "
        "as '{}'; for text, a template of a whole message"
    ),
]
Send = Annotated[Text, Field(description="template of a message, such as {group} {client}")]

_TEXT_OF = "template of a message, with {group}, {client}, {id}, {time}, {text:200}, {row:name}, {secret:name}"


class WebSocket(Document):
    """Where clients connect."""

    path: str = Field(
        description="path and query, as a template such as /chat/{group}?token={secret:token}", pattern="^/"
    )
    subprotocol: Token | None = Field(default=None, description="subprotocol that clients offer; none when left out")
    headers: dict[Token, str] = Field(
        default={}, description="headers of the opening handshake; the values are templates"
    )
    separator: Mark | None = Field(
        default=None,
        description="text between the messages of a frame; without separator and terminator, each frame is one message",
    )
    terminator: Mark | None = Field(
        default=None, description="text that ends each message; a frame may hold several messages"
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.separator is not None and self.terminator is not None:
            raise ValueError("expected separator or terminator, not both")
        return self


Headers = Annotated[dict[Token, str], Field(description="headers of each request; the values are templates")]
RequestPath = Annotated[
    str, Field(pattern="^/", description="a template, such as /orders?client={client}; it may contain {id} and {time}")
]


class EventStreams(Document):
    """Requests whose answers are streams of server-sent events."""

    path: RequestPath
    method: Literal["GET", "POST"] = "POST"
    headers: Headers = {}
    tokens: int = Field(
        ge=1,
        le=100_000,
        description="number of events in each stream that match `message.received`; the server has to send exactly "
        "that many",
    )
    number: Literal["event-id"] | Pointer | None = Field(
        default=None,
        description="where the number of a token is, counted from 0: `event-id`, or a JSON pointer; when left out, "
        "tokens are numbered in the order of arrival",
    )
    end: Text | None = Field(default=None, description="the data of the event that ends a stream, such as [DONE]")


class Requests(Document):
    """Requests that have one answer each."""

    path: RequestPath
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: Headers = {}
    status: int = Field(
        default=200, ge=200, le=599, description="expected status of a response; any other status is an error"
    )


class Opening(Document):
    """What comes before a client may join: something to send, something to wait for, or both."""

    send: Send | None = None
    acknowledged: Pattern | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.send is None and self.acknowledged is None:
            raise ValueError("expected send, acknowledged, or both")
        return self


Openings = Annotated[
    Annotated[Opening, Tag("step")] | Annotated[list[Opening], Tag("steps")],
    Discriminator(lambda value: "steps" if isinstance(value, list) else "step"),
]


class Joining(Document):
    """What makes a client a member of its group."""

    send: Send
    acknowledged: Pattern | None = Field(
        default=None,
        description="message that acknowledges a join; when left out, a client is a member once it has sent its join",
    )


class Within(Document):
    """A value with more around it."""

    at: Pointer
    like: Text = Field(description="a template of the whole value, such as '{id} {any}'")


Place = Annotated[Pointer | Within, Field(description="a JSON pointer, or {at: pointer, like: template}")]


class MessageEntry(Document):
    """What clients send, to their group or as the body of a request, and how a receipt is recognised."""

    send: Text | None = Field(default=None, description=f"{_TEXT_OF}; a message to a group needs {{id}}")
    received: Pattern | None = Field(
        default=None,
        description="how a receipt is recognised; optional only for `http`, where the status may say enough",
    )
    id: Place | None = Field(
        default=None,
        description="where the {id} is in a received message; for text, `received` contains the {id} instead",
    )
    time: Place | None = Field(
        default=None, description="where the {time} is in a received message; a receipt with another time is corrupt"
    )
    same: list[Pointer] | dict[Pointer, Pointer] = Field(
        default=[],
        description="values that have to arrive unchanged: JSON pointers, or {pointer in the received message: "
        "pointer in the sent message}",
    )
    receivers: Literal["everybody", "others"] = Field(
        default="everybody",
        description="members that receive a message: `everybody` includes its sender, `others` does not",
    )


class KeepAliveEntry(Document):
    """What keeps a connection alive, beside the pings of WebSocket, which are always answered."""

    send: Send | None = Field(default=None, description="message that each member sends every `every_seconds`")
    every_seconds: PositiveFloat | None = None
    received: Pattern | None = Field(
        default=None, description="message of the server that clients reply to with `answer`"
    )
    answer: Send | None = None

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        if (self.send is None) != (self.every_seconds is None) or (self.received is None) != (self.answer is None):
            raise ValueError("expected send with every_seconds, received with answer, or all four")
        if self.send is None and self.received is None:
            raise ValueError("expected send with every_seconds, received with answer, or all four")
        return self


class ErrorEntry(Document):
    """What an error of the server looks like."""

    received: Pattern
    reason: Pointer | None = Field(
        default=None, description="JSON pointer of the error's text; the whole message when left out"
    )


class SecretEntry(Document):
    """Where a secret comes from. The variable has it, or names a file that has it."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["env"]}, {"required": ["file_env"]}]})

    env: Variable | None = Field(default=None, description="environment variable that holds the secret")
    file_env: Variable | None = Field(
        default=None, description="environment variable that names a file with the secret"
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.env is None) == (self.file_env is None):
            raise ValueError("expected either env or file_env")
        return self


Transport = Literal["websocket", "sse", "http"]
TRANSPORTS: tuple[Transport, ...] = ("websocket", "sse", "http")


class ProtocolFile(Document):
    """A `protocol.yml`: how clients talk to a server."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [name]} for name in TRANSPORTS]})

    websocket: WebSocket | None = None
    sse: EventStreams | None = None
    http: Requests | None = None
    format: Literal["json", "text", "msgpack"] = Field(
        default="json", description="format of the messages; for msgpack, templates and patterns are written as JSON"
    )
    open: Openings | None = Field(default=None, description="what precedes a join: one step, or a list of steps")
    join: Joining | None = Field(
        default=None,
        description="what makes a client a member; when left out, a client is a member once it is connected",
    )
    message: MessageEntry = MessageEntry()
    leave: Send | None = Field(default=None, description="message that a member sends before it closes the connection")
    keep_alive: KeepAliveEntry | None = None
    error: ErrorEntry | None = None
    ignore: list[Pattern] = Field(
        default=[],
        description="other messages of the server; a message that this file does not describe counts as corrupt",
    )
    secrets: dict[SecretName, SecretEntry] = {}
    rows: Table | None = Field(
        default=None,
        description="a CSV file in this folder; its first line names the columns, and each client has one row",
    )

    @model_validator(mode="after")
    def _one_transport(self) -> Self:
        if sum(each is not None for each in (self.websocket, self.sse, self.http)) != 1:
            raise ValueError(f"expected one of {', '.join(TRANSPORTS)}")
        return self
