"""A draft of a protocol of requests, from several requests of one kind and their answers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pushbench.authoring.addressing import address, comment, header_lines
from pushbench.authoring.describing import quoted
from pushbench.authoring.drafting_answers import single, streamed
from pushbench.authoring.drafting_bodies import bodies
from pushbench.authoring.overheard import Conversation
from pushbench.authoring.withholding import Secrets
from pushbench.foundation.errors import UserError


def request_lines(talks: Sequence[Conversation], secrets: Secrets) -> Iterator[str]:
    """The lines of a protocol over HTTP. Raises UserError if the conversations are insufficient."""
    if len(talks) < 2:
        raise UserError("only one request was answered", hint="send three of the same kind, with different content")
    over, method = talks[0].over, talks[0].method
    asked = bodies(["".join(each.text or "" for each in talk.sent()) for talk in talks], secrets)
    where = address([talk.path for talk in talks], secrets, differing=_differing)
    ids = asked.ids or next((place for place in where.places if _differing(place) == "{id}"), ())
    answers = (streamed if over == "sse" else single)(talks, asked, ids)
    if not answers.ended and any(talk.cut for talk in talks):
        hint = "a stream has to end by itself: docs/own-server.md says what cannot be declared"
        raise UserError("an answer is incomplete", hint=hint)
    yield f"{over}:"
    yield f"  {where.line}"
    if method != "POST":
        yield f"  method: {method}"
    implied = "application/json" if answers.as_json else "text/plain"
    yield from header_lines(talks, secrets, differing=_differing, implied=implied)
    yield from (f"  {line}" for line in answers.transport)
    if not answers.as_json:
        yield "format: text"
    message = [f"send: {quoted(asked.template)}{comment(asked.guesses)}"] if asked.template else []
    if message or answers.message:
        yield "message:"
        yield from (f"  {line}" for line in (*message, *answers.message))
    yield from answers.rest


def _differing(found: Sequence[str]) -> str:
    """The placeholder for values that differ: an id if all are distinct, otherwise the client."""
    return "{id}" if len(set(found)) == len(found) else "{client}"
