"""The protocol `location-long-poll`: polls that are held until there is news. With the rules that only it has."""

from __future__ import annotations

import asyncio
import time

from pushbench.conformance.location.clients import Clients
from pushbench.conformance.location.member import PROMPT, QUIET
from pushbench.conformance.location.news import News
from pushbench.conformance.location.over_http import require
from pushbench.conformance.location.polls import Poller
from pushbench.conformance.rule import Mismatch, rule

LONGEST = 25
NO_WAITS = ("0", "26", "-1", "1.5", "abc", "")


class ProtocolMember(Poller):
    """A poll stays in progress until it is answered, even if a rule has stopped waiting for it."""

    _held: asyncio.Task[News] | None = None

    def hold(self, wait: int = LONGEST) -> asyncio.Task[News]:
        """Begin a poll."""
        if not self._held:
            asking = self.asks.ask("GET", self.path(since=self.version, wait=wait), within=wait + PROMPT)
            self._held = asyncio.create_task(self._answered(asking))
        return self._held

    async def _answered(self, asking: object) -> News:
        news = self.news_in(await asking)  # type: ignore[misc]
        self.version = news.version
        return news

    async def _take(self, wait: int = LONGEST) -> News:
        """The answer to the held poll, which may have arrived before the rule waits for it."""
        news = await asyncio.shield(self.hold(wait))
        self._held = None
        return news

    async def poll(self, **query: object) -> News:
        return await self._take(int(str(query.get("wait", LONGEST))))

    async def next_news(self, within: float) -> News | None:
        try:
            return await asyncio.wait_for(self._take(), within)
        except TimeoutError:
            return None

    async def is_ended(self, within: float) -> None:
        news = await asyncio.wait_for(self.hold(), within)
        if news.positions:
            raise Mismatch("an empty answer at SIGTERM", news)
        await super().is_ended(within)

    async def close(self) -> None:
        if self._held:
            self._held.cancel()


async def longpoller(clients: Clients, group: str) -> ProtocolMember:
    member = await clients.member(group)
    assert isinstance(member, ProtocolMember)
    return member


@rule("A poll is held until another user shares a position, and then answered at once.")
async def poll_is_held_until_there_is_news(clients: Clients) -> None:
    group = clients.group()
    reader, other = await longpoller(clients, group), await longpoller(clients, group)
    held = reader.hold()
    await asyncio.sleep(QUIET)
    if held.done():
        raise Mismatch("no answer before there is news", await held)
    await reader.receives(await other.share())


@rule("A position of the client itself is no news: its poll is held on.")
async def own_position_ends_no_poll(clients: Clients) -> None:
    group = clients.group()
    reader, other = await longpoller(clients, group), await longpoller(clients, group)
    held = reader.hold()
    await asyncio.sleep(QUIET)  # until it has arrived
    await reader.share()
    await asyncio.sleep(QUIET)
    if held.done():
        raise Mismatch("no answer for a position of the client itself", await held)
    await reader.receives(await other.share())


@rule("A held poll ends when its time is over, with the present version and no positions.")
async def held_poll_ends_with_its_time(clients: Clients) -> None:
    reader = await longpoller(clients, clients.group())
    asked, held = time.monotonic(), reader.hold(wait=1)
    await asyncio.sleep(QUIET)
    await reader.share()
    if (seen := await held) != News(1, []):
        raise Mismatch("version 1 and no positions", seen)
    if not 0.9 < (waited := time.monotonic() - asked) < 1 + PROMPT:
        raise Mismatch("an answer after 1 s", f"one after {waited:.1f} s")


@rule("A poll is answered at once where there is news already, and where since is missing.")
async def poll_with_news_is_not_held(clients: Clients) -> None:
    group = clients.group()
    reader, other = await longpoller(clients, group), await longpoller(clients, group)
    for query in ({"wait": LONGEST}, {"wait": LONGEST, "since": 2**53 - 1}):
        reader.news_in(await clients.ask("GET", reader.path(**query)))  # within PROMPT
    position = await other.share()
    seen = reader.news_in(await clients.ask("GET", reader.path(since=0, wait=LONGEST)))
    if seen != News(1, [position]):
        raise Mismatch(f"version 1 and {position}", seen)


@rule("A wait that is no integer from 1 to 25 answers 400.")
async def bad_wait_is_refused(clients: Clients) -> None:
    reader = await longpoller(clients, clients.group())
    for bad in NO_WAITS:
        require(400, await clients.ask("GET", reader.path(since=0, wait=bad)), f"wait={bad}")
