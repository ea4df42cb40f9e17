"""A server begins to end with its first client; several replicas with the last, since each gets its own SIGTERM."""

from __future__ import annotations

import asyncio

import pytest

from pushbench.conformance.waiting import begins_to_end


async def _seen(replicas: int, *, first: bool = False, last: bool = False, ended: bool = False) -> bool:
    """Whether the end of a server is noticed after it has closed its first or last client, or has ended."""
    moments = [asyncio.Event() for _ in range(3)]
    first_client, last_client, ending = (asyncio.create_task(moment.wait()) for moment in moments)
    seen = asyncio.create_task(begins_to_end([first_client, last_client], ending, replicas))
    for moment, now in zip(moments, (first, last, ended), strict=True):
        if now:
            moment.set()
    for _ in range(5):
        await asyncio.sleep(0)
    found = seen.done()
    for task in (seen, first_client, last_client, ending):
        task.cancel()
    return found


@pytest.mark.parametrize(("replicas", "expected"), [(1, True), (2, False)])
async def test_the_first_client_tells_the_end_of_one_server_only(replicas: int, expected: bool) -> None:
    assert await _seen(replicas, first=True) is expected


@pytest.mark.parametrize("replicas", [1, 2])
async def test_all_clients_tell_the_end_of_every_server(replicas: int) -> None:
    assert not await _seen(replicas)
    assert await _seen(replicas, first=True, last=True)


async def test_a_server_that_is_gone_has_ended() -> None:
    assert await _seen(1, ended=True)
