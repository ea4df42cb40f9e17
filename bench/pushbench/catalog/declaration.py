"""A declared protocol as the generator takes it: every template split into its parts, nothing left to parse.

`k6/internal/declared/declaration.go` has the same shapes and says what they mean.
"""

from __future__ import annotations

from typing import Literal

from pushbench.foundation.model import Document


class Part(Document):
    """A literal, a value by its name, a secret by its name, or a column of the client's row."""

    literal: str = ""
    value: str = ""
    secret: str = ""
    row: str = ""


Template = list[Part]


class Header(Document):
    name: str
    value: Template


class Condition(Document):
    """A condition on the value at a JSON pointer; the empty pointer is that of the whole message."""

    at: str
    json_is: Template = []
    """the JSON that it has to be"""
    json_sorted: Template = []
    """the same, with the members of objects in the order of their names"""
    like: Template = []
    """the content of a string or a number"""


class Pattern(Document):
    """What recognises a message: the whole text, or values in its JSON."""

    like: Template = []
    where: list[Condition] = []


class Step(Document):
    send: Template = []
    acknowledged: Pattern | None = None


class Receipt(Pattern):
    id: Condition | None = None
    time: Condition | None = None
    same: list[Condition] = []


class Message(Document):
    send: Template
    received: Receipt
    others: bool = False


class Stream(Document):
    """A stream of server-sent events, and how many receipts it owes."""

    receipts: int
    number: str = ""
    """where the number of a receipt is: `event-id`, or a JSON pointer; empty where nothing numbers them"""
    end: str = ""


class Request(Document):
    """A request over HTTP, whose body is what a message sends."""

    method: str
    status: int
    stream: Stream | None = None
    """None where the body of the answer is one receipt"""


class KeepAlive(Document):
    every_seconds: float = 0
    send: Template = []
    received: Pattern | None = None
    answer: Template = []


class Failure(Pattern):
    reason: str = ""


class Secret(Document):
    """The variable of the environment that has a secret, or the one that names a file with it."""

    env: str = ""
    file_env: str = ""


class Declaration(Document):
    format: Literal["json", "text", "msgpack"]
    path: Template
    query: Template = []
    subprotocol: str = ""
    headers: list[Header] = []
    separator: str = ""
    """between the messages of one frame, and perhaps behind the last one"""
    open: list[Step] = []
    join: Step | None = None
    message: Message
    request: Request | None = None
    """None where clients are members of groups"""
    leave: Template = []
    keep_alive: KeepAlive | None = None
    error: Failure | None = None
    ignore: list[Pattern] = []
    secrets: dict[str, Secret] = {}
    rows: dict[str, list[str]] = {}
    """the values of each column; each client has a row"""
