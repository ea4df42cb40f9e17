"""Members who poll for news. With the rules about answers, held or not."""

from __future__ import annotations

import asyncio
import time

from pushbench.conformance.http1 import Answer
from pushbench.conformance.location.clients import JSON, Clients
from pushbench.conformance.location.member import PROMPT, body_of
from pushbench.conformance.location.news import News, by_user, news_of
from pushbench.conformance.location.over_http import HTTPMember, require
from pushbench.conformance.rule import Mismatch, rule

NO_VERSIONS = ("-1", "1.5", "abc", "5x", "", "99999999999999999999", "9007199254740992")
PAUSE = 0.02


class Poller(HTTPMember):
    """Polls for news over a connection of its own."""

    tells_of_all = False

    async def join_group(self, within: float) -> None:
        self.first = self.news_in(await self.asks.ask("GET", self.path(), within=within))
        self.version = self.first.version

    def path(self, **query: object) -> str:
        asked = "".join(f"&{name}={value}" for name, value in query.items())
        return f"/groups/{self.group}/positions?user={self.user}{asked}"

    def news_in(self, answer: Answer) -> News:
        require(200, answer, "a poll")
        if "no-store" not in answer.head.values("cache-control"):
            raise Mismatch("Cache-Control: no-store", ", ".join(sorted(answer.head.values("cache-control"))) or "none")
        answer.json()
        return news_of(answer.body)

    async def poll(self, **query: object) -> News:
        """The answer to one poll, from the last version that the member has."""
        news = self.news_in(await self.asks.ask("GET", self.path(**{"since": self.version, **query})))
        self.version = news.version
        return news

    async def next_news(self, within: float) -> News | None:
        deadline = time.monotonic() + within
        while not (news := await self.poll()).positions:
            if time.monotonic() > deadline:
                return None
            await asyncio.sleep(PAUSE)
        return news

    async def is_ended(self, within: float) -> None:
        await self.asks.is_ended("SIGTERM", within)


async def poller(clients: Clients, group: str) -> Poller:
    member = await clients.member(group)
    assert isinstance(member, Poller)
    return member


@rule("A poll tells of the newest position of each other user alone, and of none twice.")
async def poll_tells_of_the_newest(clients: Clients) -> None:
    group = clients.group()
    reader, one, other = await poller(clients, group), await poller(clients, group), await poller(clients, group)
    await one.share()
    newest = [await one.share(), await other.share()]
    seen = (await reader.poll()).positions
    if by_user(seen) != by_user(newest):
        raise Mismatch(f"the newest positions {newest}", seen)
    later = await other.share()
    if (seen := (await reader.poll()).positions) != [later]:
        raise Mismatch(f"nothing but {later}", seen)


@rule("The version counts the positions of a group; that of an answer is the newest, and no since asks for all.")
async def version_counts_the_positions(clients: Clients) -> None:
    group = clients.group()
    reader, other = await poller(clients, group), await poller(clients, group)
    if reader.first != News(0, []):
        raise Mismatch("version 0 of a new group", reader.first)
    await reader.share()
    position = await other.share()
    seen = (reader.news_in(await clients.ask("GET", reader.path())), await reader.poll())
    if seen != (News(2, [position]),) * 2:
        raise Mismatch(f"version 2 and {position}, without since and after version 0", seen)


@rule("A since above the version of the group is answered at once, as if it were not there.")
async def since_of_another_life_is_forgiven(clients: Clients) -> None:
    group = clients.group()
    reader, other = await poller(clients, group), await poller(clients, group)
    position = await other.share()
    reader.version = 2**53 - 1
    if (seen := await reader.poll()) != News(1, [position]):
        raise Mismatch(f"version 1 and {position} after a since of another life", seen)


@rule("A since that is no integer from 0 to 2^53 - 1 answers 400, and so does a poll without a user.")
async def bad_polls_are_refused(clients: Clients) -> None:
    reader = await poller(clients, clients.group())
    for bad in NO_VERSIONS:
        require(400, await clients.ask("GET", reader.path(since=bad)), f"since={bad}")
    for path in ("/groups/g/positions", "/groups/g/positions?user=", "/groups/g/positions?user=a.b"):
        require(400, await clients.ask("GET", path), path)


@rule("Requests that arrive at once are answered in their order.")
async def answers_keep_their_order(clients: Clients) -> None:
    group = clients.group()
    reader, other = await poller(clients, group), await poller(clients, group)
    position = await other.share()
    body, path = body_of(reader.next_position()).encode(), f"/groups/{group}/positions/{reader.user}"
    put = reader.asks.request("PUT", path, body, JSON)
    reader.asks.write(reader.asks.request("GET", reader.path(since=0)) + put + put)
    news = reader.news_in(await reader.asks.answer("a poll"))
    if news.positions != [position]:
        raise Mismatch(f"news of {position} first", news)
    for number in (1, 2):
        require(204, await reader.asks.answer("a position", PROMPT), f"position {number} after a poll")
