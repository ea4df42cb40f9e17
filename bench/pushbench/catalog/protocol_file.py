"""A `protocol.yml`: the keys, as people write them. `protocols` reads it and says what is wrong with it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Discriminator, Field, PositiveFloat, StringConstraints, Tag, model_validator

from pushbench.foundation.model import Document

Pointer = Annotated[str, StringConstraints(pattern=r"^/", max_length=200)]
Token = Annotated[str, StringConstraints(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", max_length=100)]
"""RFC 9110, section 5.6.2"""
SecretName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=50)]
Variable = Annotated[str, StringConstraints(pattern=r"^PUSHBENCH_SECRET_[A-Z0-9_]+$", max_length=100)]
"""A protocol.yml of a pull request can have these sent to its server, and no other variable of the machine."""
Table = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*\.csv$", max_length=100)]
"""A name without a folder: a pull request cannot have other files of the machine sent to its server."""
Mark = Annotated[str, StringConstraints(min_length=1, max_length=8)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=40_000)]
Scalar = str | int | float | bool | None
Pattern = Annotated[
    dict[Pointer, Scalar] | Text,
    Field(
        description="of JSON: values at JSON pointers, such as {/type: joined}, or the JSON of a whole message, such "
        "as '{}'; of text: a template of a whole message"
    ),
]
Send = Annotated[Text, Field(description="a template, such as {group} {client}")]

_TEXT_OF = "a template of messages: {group}, {client}, {id}, {time}, {text:200}, {row:name}, {secret:name}"


class WebSocket(Document):
    """Where clients connect."""

    path: str = Field(description="a template, such as /chat/{group}?token={secret:token}", pattern="^/")
    subprotocol: Token | None = Field(default=None, description="what clients offer")
    headers: dict[Token, str] = Field(default={}, description="of the opening handshake; values are templates")
    separator: Mark | None = Field(
        default=None, description="what stands between the messages of one frame; when left out, a frame is a message"
    )
    terminator: Mark | None = Field(default=None, description="what ends each message; a frame may have several")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.separator is not None and self.terminator is not None:
            raise ValueError("expected separator or terminator, not both")
        return self


Headers = Annotated[dict[Token, str], Field(description="of each request; values are templates")]
RequestPath = Annotated[
    str, Field(pattern="^/", description="a template, such as /orders?client={client}, which may have {id} and {time}")
]


class EventStreams(Document):
    """Requests whose answers are streams of server-sent events."""

    path: RequestPath
    method: Literal["GET", "POST"] = "POST"
    headers: Headers = {}
    tokens: int = Field(
        ge=1, le=100_000, description="how many events `message.received` fits in each stream: what an answer owes"
    )
    number: Literal["event-id"] | Pointer | None = Field(
        default=None,
        description="where the number of a token is, from 0: `event-id`, or a JSON pointer; when left out, tokens "
        "count in the order in which they come",
    )
    end: Text | None = Field(default=None, description="the data of the event that ends a stream, such as [DONE]")


class Requests(Document):
    """Requests that have one answer each."""

    path: RequestPath
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: Headers = {}
    status: int = Field(default=200, ge=200, le=599, description="of an answer; another one is an error")


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
        default=None, description="when left out, a client counts as a member as soon as it has asked"
    )


class Within(Document):
    """A value with more around it."""

    at: Pointer
    like: Text = Field(description="a template of the whole value, such as '{id} {any}'")


Place = Annotated[Pointer | Within, Field(description="a JSON pointer, or {at: pointer, like: template}")]


class MessageEntry(Document):
    """What clients send, to their group or as the body of a request, and how a receipt is recognised."""

    send: Text | None = Field(default=None, description=f"{_TEXT_OF}; for a group it needs an {{id}}")
    received: Pattern | None = Field(default=None, description="only `http` can do without: the status says enough")
    id: Place | None = Field(
        default=None, description="where the {id} is in what is received; of text, `received` says it"
    )
    time: Place | None = Field(default=None, description="where the {time} is; a receipt of another time is corrupt")
    same: list[Pointer] | dict[Pointer, Pointer] = Field(
        default=[],
        description="what comes as it was sent: pointers, or {pointer in what is received: pointer in what was sent}",
    )
    receivers: Literal["everybody", "others"] = Field(
        default="everybody", description="of a message: whether its sender gets it, too"
    )


class KeepAliveEntry(Document):
    """What keeps a connection alive, beside the pings of WebSocket, which are always answered."""

    send: Send | None = Field(default=None, description="what each member sends every so often")
    every_seconds: PositiveFloat | None = None
    received: Pattern | None = Field(default=None, description="what the server sends, and clients answer")
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
    reason: Pointer | None = Field(default=None, description="where its text is; without it, the whole message")


class SecretEntry(Document):
    """Where a secret comes from. The variable has it, or names a file that has it."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["env"]}, {"required": ["file_env"]}]})

    env: Variable | None = Field(default=None, description="the variable of the environment with the secret")
    file_env: Variable | None = Field(default=None, description="the variable that names the file with the secret")

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
        default="json", description="what the messages are; templates and patterns of msgpack are written as JSON"
    )
    open: Openings | None = Field(default=None, description="one step, or a list of steps")
    join: Joining | None = Field(default=None, description="when left out, who is connected is a member")
    message: MessageEntry = MessageEntry()
    leave: Send | None = Field(default=None, description="sent before a member closes the connection")
    keep_alive: KeepAliveEntry | None = None
    error: ErrorEntry | None = None
    ignore: list[Pattern] = Field(default=[], description="what else the server sends; the rest counts as corrupt")
    secrets: dict[SecretName, SecretEntry] = {}
    rows: Table | None = Field(
        default=None, description="a CSV file in this folder, whose first line names the columns; each client has a row"
    )

    @model_validator(mode="after")
    def _one_transport(self) -> Self:
        if sum(each is not None for each in (self.websocket, self.sse, self.http)) != 1:
            raise ValueError(f"expected one of {', '.join(TRANSPORTS)}")
        return self
