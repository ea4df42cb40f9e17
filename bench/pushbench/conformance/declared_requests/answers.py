"""The answers to requests. All of these rules judge the same requests: three from each of 16 concurrent clients."""

from __future__ import annotations

from itertools import pairwise

from pushbench.catalog.declaration import Receipt
from pushbench.catalog.templates import values
from pushbench.conformance.declared_requests.clients import Clients
from pushbench.conformance.rule import Mismatch, NotAsked, rule

LIMIT_SECONDS = 100
"""An answer may take 30 s, as in a load."""


@rule("Each request gets all that its answer owes, once, and the answer ends.", limit_seconds=LIMIT_SECONDS)
async def every_request_is_answered(clients: Clients) -> None:
    for answer in await clients.traffic():
        clients.whole(answer)


@rule("No request gets the answer to another one.", limit_seconds=LIMIT_SECONDS)
async def answers_are_not_mixed(clients: Clients) -> None:
    receipt = clients.declaration.message.received
    if not (receipt.id or tells_its_request(receipt)):
        raise NotAsked("the protocol declares no `message.id`, and no {id} or {client} in `message.received`")
    for answer in await clients.traffic():
        if "its id" in answer.altered:
            raise Mismatch(f"only what belongs to {answer.name}", "another id")
        if answer.rest and not receipt.id:
            raise Mismatch(f"only what belongs to {answer.name}", answer.rest[0])


@rule("The tokens of a stream come in their order.", limit_seconds=LIMIT_SECONDS)
async def tokens_come_in_order(clients: Clients) -> None:
    request = clients.declaration.request
    if not (request and request.stream):
        raise NotAsked("an answer has one receipt")
    clients.require(request.stream.number, "sse.number")
    for answer in await clients.traffic():
        told = [number for number in answer.numbers if number is not None]
        for before, number in pairwise(told):
            if number < before:
                raise Mismatch(f"the tokens of {answer.name} in order", f"token {number} after token {before}")


@rule("What an answer repeats of its request is as it was sent.", limit_seconds=LIMIT_SECONDS)
async def content_is_unchanged(clients: Clients) -> None:
    receipt = clients.declaration.message.received
    clients.require(receipt.same or receipt.time, "message.same")
    for answer in await clients.traffic():
        if altered := next((each for each in answer.altered if each != "its id"), None):
            raise Mismatch(f"{answer.name} as it was sent", f"another {altered}")


@rule("Nothing else comes: no error, and nothing that is not declared.", limit_seconds=LIMIT_SECONDS)
async def nothing_else_comes(clients: Clients) -> None:
    for answer in await clients.traffic():
        if answer.rest:
            raise Mismatch(f"only what is declared for {answer.name}", answer.rest[0])


def tells_its_request(receipt: Receipt) -> bool:
    """Whether the pattern of a receipt contains a value of its own request."""
    templates = [receipt.like, *(condition.json_is for condition in receipt.where)]
    return any({"id", "client", "time"} & set(values(template)) for template in templates)
