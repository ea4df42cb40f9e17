"""The comment of a stranger, as `pushbench ci command` reads it."""

from __future__ import annotations

from pushbench.ci.commanding import Answer, Command, Known, Pull, decide, parse, refused
from tests.fuzz.target import Target

HEAD = "a" * 40
FORK = Pull(7, True, HEAD, own=False)
SEEDS = [
    b"/pushbench",
    b"/pushbench servers=node-ws,tier:tuned profile=full rounds=3\nThank you!",
    b"/pushbench accept head=" + HEAD.encode(),
    b"/pushbench head=" + HEAD.encode(),
    b"/pushbench help",
]


def read(content: bytes) -> bool:
    """Whether a run would start although the comment does not name the exact commit."""
    command = parse(content.decode(errors="surrogateescape"))
    decided = decide(command, FORK, Known([], ["full"])) if isinstance(command, Command) else command
    if isinstance(decided, Answer):
        refused(1, decided).encode(errors="replace")
        return False
    return bool(decided) and f"head={HEAD}".encode() not in content


TARGET = Target("a comment", SEEDS, read)
