"""A declared protocol in the form that the generator reads: every template is split into its parts, so that nothing is
left to parse.

`k6/internal/declared/declaration.go` has the same shapes and explains them.
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
    """A condition on the value at a JSON pointer; the empty pointer stands for the whole message."""

    at: str
    json_is: Template = []
    """the required JSON"""
    json_sorted: Template = []
    """the same, with the members of objects sorted by name"""
    like: Template = []
    """the content of a string or a number"""


class Pattern(Document):
    """How a message is recognised: by its whole text, or by values in its JSON."""

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
    """where the number of a receipt is: `event-id`, or a JSON pointer; empty if receipts are not numbered"""
    end: str = ""


class Request(Document):
    """A request over HTTP, with the content of a message as its body."""

    method: str
    status: int
    stream: Stream | None = None
    """None if the body of the answer is one receipt"""


class KeepAlive(Document):
    every_seconds: float = 0
    send: Template = []
    received: Pattern | None = None
    answer: Template = []


class Failure(Pattern):
    reason: str = ""


class Secret(Document):
    """The environment variable that has a secret, or the one that names a file with it."""

    env: str = ""
    file_env: str = ""


class Declaration(Document):
    format: Literal["json", "text", "msgpack"]
    path: Template
    query: Template = []
    subprotocol: str = ""
    headers: list[Header] = []
    separator: str = ""
    """separates the messages of one frame, and may also follow the last one"""
    open: list[Step] = []
    join: Step | None = None
    message: Message
    request: Request | None = None
    """None if clients are members of groups"""
    leave: Template = []
    keep_alive: KeepAlive | None = None
    error: Failure | None = None
    ignore: list[Pattern] = []
    secrets: dict[str, Secret] = {}
    rows: dict[str, list[str]] = {}
    """the values of each column; each client has a row"""
