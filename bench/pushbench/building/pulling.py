"""Pulls of images with retries, and errors that distinguish a missing image, missing permission and a bad network."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Literal

from pushbench.building.engine import TRANSFER_SECONDS, Engine, EngineFailed, EngineTimedOut

Note = Callable[[str], None]
Kind = Literal["absent", "denied", "timeout", "other"]

WAITS = (5.0, 15.0, 45.0)
"""seconds before each further attempt"""
ENOUGH = 5.0
"""minimum seconds for an attempt"""

ABSENT = re.compile(r"manifest unknown|name unknown|not found|repository does not exist|no such manifest", re.I)
DENIED = re.compile(r"unauthorized|denied|forbidden|authentication required|no basic auth|\b40[13]\b", re.I)
PASSING = re.compile(
    r"toomanyrequests|too many requests|\b(?:429|50[0234])\b|timeout|timed out|deadline exceeded|broken pipe|\beof\b"
    r"|connection re(?:set|fused)|no such host|temporary failure|tls handshake|network is unreachable|try again",
    re.I,
)

ADVICE: dict[Kind, str] = {
    "absent": "the registry does not have it",
    "denied": "the registry denies this machine access to it",
    "timeout": "the registry did not deliver it in time",
    "other": "it could not be pulled",
}


class PullFailed(Exception):
    """An image that could not be pulled: `kind` is the reason, the text is the engine's last message."""

    def __init__(self, kind: Kind, said: str) -> None:
        super().__init__(f"{ADVICE[kind]} ({said})")
        self.kind = kind


def pull(
    engine: Engine,
    reference: str,
    note: Note,
    *,
    waits: Sequence[float] = WAITS,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Pull an image within ten minutes; retry temporary errors after each of `waits`. Raises PullFailed."""
    deadline = clock() + TRANSFER_SECONDS
    left = iter(waits)
    while True:
        try:
            engine.run("pull", "--quiet", reference, seconds=max(ENOUGH, deadline - clock()))
        except EngineFailed as error:
            said = str(error)
            kind = kind_of(error)
            wait = next(left, None)
            if not passes(error) or wait is None or clock() + wait + ENOUGH > deadline:
                raise PullFailed(kind, said) from None
            note(f"{reference}: {said}; retrying in {wait:g} s")
            sleep(wait)
        else:
            return


def kind_of(error: EngineFailed) -> Kind:
    """The reason of a failed pull, from the engine's message.

    Docker Hub answers `pull access denied ... repository does not exist or may require 'docker login'` for both, and
    ghcr.io answers `denied` for a missing package. So every denial is `denied`, whatever else the message says.
    """
    said = str(error)
    if isinstance(error, EngineTimedOut):
        return "timeout"
    if PASSING.search(said) and not DENIED.search(said):
        return "timeout" if re.search(r"timeout|timed out|deadline", said, re.I) else "other"
    if DENIED.search(said):
        return "denied"
    return "absent" if ABSENT.search(said) else "other"


def passes(error: EngineFailed) -> bool:
    """Whether another attempt may succeed."""
    said = str(error)
    return not isinstance(error, EngineTimedOut) and bool(PASSING.search(said)) and not DENIED.search(said)
