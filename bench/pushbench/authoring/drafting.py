"""A draft of protocol.yml from what clients and a server said. Pure.

Each guess has a comment, and what nobody can guess has one that begins with `decide:`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from pushbench.authoring.addressing import NAME_OF_SECRET, SECRET_VALUE
from pushbench.authoring.drafting_groups import group_lines
from pushbench.authoring.drafting_requests import request_lines
from pushbench.authoring.leaves import SECRET, leaves
from pushbench.authoring.overheard import Conversation
from pushbench.foundation.errors import UserError


def draft(talks: Sequence[Conversation]) -> str:
    """The text of a protocol.yml, from conversations over one transport. Raises UserError where they say too little."""
    if any(each.text is None for talk in talks for each in talk.said):
        raise UserError("binary content: a draft is made of text and JSON", hint="declare it in protocol.yml by hand")
    heard = [_masked(talk, set(_secrets(talks))) for talk in talks]
    lines = list(request_lines(heard) if heard and heard[0].over != "websocket" else group_lines(heard))
    if any(SECRET_VALUE in line for line in lines):
        variable = f"PUSHBENCH_SECRET_{NAME_OF_SECRET.upper()}"
        lines.append(f"secrets: {{{NAME_OF_SECRET}: {{env: {variable}}}}} # set it for every command")
    head = "# A draft by `pushbench learn`. Read each comment; docs/own-server.md explains the keys."
    return "\n".join([head, *lines, ""])


def _masked(talk: Conversation, secrets: Collection[str]) -> Conversation:
    """The same without secrets that the server repeats, perhaps under another name."""
    said = list(talk.said)
    for secret in secrets:
        said = [each if each.sent else replace(each, text=(each.text or "").replace(secret, "{any}")) for each in said]
    return replace(talk, said=said)


def _secrets(talks: Sequence[Conversation]) -> Iterator[str]:
    for talk in talks:
        for each in talk.sent():
            yield from (
                value
                for at, value in (leaves(each.text) or {}).items()
                if SECRET.search(at) and isinstance(value, str) and value
            )
        yield from (value for name, value in parse_qsl(urlsplit(talk.path).query) if SECRET.search(name))
