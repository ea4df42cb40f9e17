"""The protocol `location-stomp`: STOMP 1.2 over WebSocket on /stomp. With the rules that only it has.

A member also gets its own positions and skips them: a simple broker sends to all subscribers.
"""

from __future__ import annotations

import json

from websockets import Subprotocol

from pushbench.conformance.location.clients import Clients
from pushbench.conformance.location.member import PROMPT
from pushbench.conformance.location.news import News, news_of
from pushbench.conformance.location.sockets import SocketMember
from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.stomp import Frame

ERRORS = "/user/queue/errors"


class ProtocolMember(SocketMember):
    subprotocols = (Subprotocol("v12.stomp"),)
    tells_of_before = False

    @property
    def path(self) -> str:
        return "/stomp"

    async def send(self, command: str, body: str = "", **headers: str) -> None:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        await self.socket.send(Frame(command, fields, body).encode())

    async def join(self, within: float) -> None:
        await self.connect()
        await self.send("CONNECT", accept_version="1.2", host="pushbench", heart_beat="0,0")
        answer = await self.message(within)
        if not answer or not answer.startswith("CONNECTED\n"):
            raise Mismatch("a CONNECTED frame", escaped(answer or "nothing"))
        await self.send("SUBSCRIBE", id="errors", destination=ERRORS)
        await self.send("SUBSCRIBE", id="group", destination=f"/topic/group.{self.group}")
        await self.say(json.dumps({"user": self.user}), ".join")
        while (body := await self.body("group", within)) is not None:
            if json.loads(body) == {"joined": self.user}:
                return
        raise Mismatch(f"the join of {self.user} back", "nothing")

    async def say(self, body: str, to: str = "") -> None:
        length = str(len(body.encode()))
        await self.send("SEND", body, destination=f"/app/group.{self.group}{to}", content_length=length)

    async def body(self, subscription: str, within: float, *, past: str = "") -> str | None:
        """The body of the next message of a subscription; None if none arrives in time.

        Messages of the subscription `past` are skipped.
        """
        while (message := await self.message(within)) is not None:
            frame = Frame.decode(message)
            seen = frame.headers.get("subscription") if frame and frame.command == "MESSAGE" else None
            if frame and seen == subscription:
                return frame.body
            if seen is None or seen != past:
                raise Mismatch(f"a MESSAGE of the subscription {subscription}", escaped(message))
        return None

    async def put(self, body: str) -> None:
        """Send a position with its user; a body that is not a JSON object is sent unchanged."""
        try:
            said = json.loads(body)
        except ValueError:
            said = None
        await self.say(json.dumps({"user": self.user, **said}) if isinstance(said, dict) else body)

    async def is_refused(self, body: str, what: str) -> None:
        await self.put(body)
        match json.loads(await self.body("errors", PROMPT, past="group") or "null"):
            case {"error": str(reason)} if reason:
                return
            case other:
                raise Mismatch(f'{{"error": "..."}} for {what}', escaped(str(other)))

    async def next_news(self, within: float) -> News | None:
        while (body := await self.body("group", within)) is not None:
            if '"joined"' in body:
                continue
            news = news_of(body)
            if others := [each for each in news.positions if each["user"] != self.user]:
                return News(news.version, others)
        return None


@rule("A SEND past the application's checks, to a topic or a queue, reaches nobody.")
async def topics_take_no_client_messages(clients: Clients) -> None:
    group = clients.group()
    witness, artist = await clients.member(group), await clients.member(group)
    news = json.dumps({"version": 1, "positions": [witness.next_position()]})
    for destination in (f"/topic/group.{group}", "/queue/errors", ERRORS):
        culprit = await clients.member(group)
        assert isinstance(culprit, ProtocolMember)
        await culprit.send("SEND", news, destination=destination)
        await witness.receives(await artist.share())


@rule("A DISCONNECT that asks for a receipt gets it.")
async def disconnect_is_acknowledged(clients: Clients) -> None:
    leaver = await clients.member(clients.group())
    assert isinstance(leaver, ProtocolMember)
    await leaver.send("DISCONNECT", receipt="bye")
    answer = await leaver.message(PROMPT)
    frame = Frame.decode(answer or "")
    if not frame or not frame.acknowledges("bye"):
        raise Mismatch("the RECEIPT of a DISCONNECT", escaped(answer or "nothing"))
