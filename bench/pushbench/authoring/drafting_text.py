"""The `message` of a protocol of plain text, from two conversations. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from pushbench.authoring.describing import quoted
from pushbench.authoring.overheard import Conversation
from pushbench.foundation.errors import UserError


def text_lines(first: Conversation, second: Conversation) -> Iterator[str]:
    """The lines of the message. Raises UserError if no message of one client reaches the other."""
    talks = (first, second)
    texts = [[each.text or "" for each in talk.sent()] for talk in talks]
    got = [[each.text or "" for each in talk.received()] for talk in talks]
    around = [
        (sent, heard)
        for number in (0, 1)
        for sent in texts[number]
        for heard in got[1 - number]
        if sent and sent in heard
    ]
    if not around:
        raise UserError(
            "no message of one client reached the other", hint="put both into one room, and let each of them send"
        )
    template, why = _template(texts[0], texts[1])
    sent, heard = around[0]
    before, _, after = heard.partition(sent)
    received = f"{'{any}' if before else ''}{template}{'{any}' if after else ''}"
    yield "message:"
    yield f"  send: {quoted(template)} # {why}"
    yield f"  received: {quoted(received)}{' # decide: what is around it' if before or after else ''}"
    if not any(one and one in each for number in (0, 1) for one in texts[number] for each in got[number]):
        yield "  receivers: others # no client got its own message"


def _template(mine: list[str], theirs: list[str]) -> tuple[str, str]:
    """A template for both clients' messages, word by word up to the text, and the reasons."""
    rows = [text.split(" ") for text in mine]
    others = [text.split(" ") for text in theirs]
    least = min(len(row) for row in [*rows, *others])
    made: list[str] = []
    reasons: list[str] = []
    for place in range(least):
        here, there = {row[place] for row in rows}, {row[place] for row in others}
        if len(here | there) == 1:
            made.append(rows[0][place])
        elif len(here) == len(there) == 1:
            made.append("user-{client}")
            reasons.append("what each client begins with is the client")
        elif "{id}" not in made and all(each.isdecimal() for each in here | there):
            made.append("{id}")
            reasons.append("a number that differs is the id")
        else:
            break
    if "{id}" not in made:
        made.append("{id}")
        reasons.append("nothing was an id, so one is added")
    length = max(20, max(map(len, mine)) - len(" ".join(rows[0][: len(made)])))
    return " ".join([*made, f"{{text:{length}}}"]), "; ".join(reasons)
