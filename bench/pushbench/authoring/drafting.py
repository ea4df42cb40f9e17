"""A draft of protocol.yml from conversations between clients and a server. Pure.

Each guess has a comment; an undecidable point has a comment that begins with `decide:`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pushbench.authoring.drafting_groups import group_lines
from pushbench.authoring.drafting_requests import request_lines
from pushbench.authoring.overheard import Conversation
from pushbench.authoring.unpacking import LARGEST
from pushbench.authoring.withholding import Secrets
from pushbench.foundation.errors import UserError


def draft(talks: Sequence[Conversation]) -> str:
    """The text of a protocol.yml, from conversations over one transport. Raises UserError if they are insufficient."""
    if any(each.text is None for talk in talks for each in talk.said):
        what = f"content that is binary or above {LARGEST >> 20} MiB: a draft needs text or JSON"
        raise UserError(what, hint="declare it in protocol.yml by hand")
    secrets = Secrets(talks)
    heard = [_masked(talk, secrets) for talk in talks]
    write = request_lines if heard and heard[0].over != "websocket" else group_lines
    lines = list(write(heard, secrets))
    head = "# A draft by `pushbench learn`. Read each comment; docs/own-server.md explains the keys."
    return "\n".join([head, *lines, *secrets.lines(lines), ""])


def _masked(talk: Conversation, secrets: Secrets) -> Conversation:
    """The conversation without secrets in forms, and without secrets that the server repeats under any name."""
    said = [replace(each, text=secrets.in_form(each.text or "")) if each.sent else each for each in talk.said]
    for secret in secrets.values:
        said = [each if each.sent else replace(each, text=(each.text or "").replace(secret, "{any}")) for each in said]
    return replace(talk, said=said)
