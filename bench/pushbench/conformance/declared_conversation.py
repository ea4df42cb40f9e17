"""The rule that the generator and the readers of its report understand the server."""

from __future__ import annotations

import asyncio
from typing import Protocol

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.target import Declared, Target
from pushbench.foundation.errors import UserError


class Declaring(Protocol):
    """The clients of any server that declares its protocol."""

    declared: Declared
    target: Target


@rule(
    "A conversation of two clients goes as the protocol is declared, which `pushbench protocol check` shows.",
    limit_seconds=70,
    decides=True,
)
async def conversation_is_understood(clients: Declaring) -> None:
    declared = clients.declared
    expected = f"a conversation as {declared.protocol.file.path.name} declares it"
    try:
        talked = await asyncio.to_thread(declared.converse, clients.target.url)
    except UserError as error:
        raise Mismatch(expected, error) from None
    if talked.fault:
        raise Mismatch(expected, declared.protocol.error(talked.fault.at, talked.fault.what))
