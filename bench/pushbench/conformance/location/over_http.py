"""Members who put their positions by requests. With the rules about requests, for all transports that have them."""

from __future__ import annotations

from abc import abstractmethod

from pushbench.conformance.connection import Connection
from pushbench.conformance.http1 import Answer, in_chunks
from pushbench.conformance.location.clients import JSON, Clients
from pushbench.conformance.location.member import Member, body_of
from pushbench.conformance.rule import Mismatch, escaped, rule

MOST_BODY = 65_536
"""Bytes of the largest body that a server accepts, the same for every server."""
KEPT = 120
"""Requests on one connection. By default, some servers end a connection after 100."""
PUT_SECONDS = 5.0
"""Like a join, a put may be one of hundreds on a server that has just started."""
NO_IDS = ("a%20b", "a.b", "%C3%A9", "x" * 65, "a%00")
NO_PATHS = ("/", "/groups", "/groups/g", "/groups/g/positions/u/x", "/groups/g/nothing", "/error", "/actuator")
METHODS = {
    "/healthz": ("GET", ("POST", "PUT", "DELETE")),
    "/metricz": ("GET", ("POST", "PUT", "DELETE")),
    "/groups/g/positions/u": ("PUT", ("POST", "DELETE", "PATCH", "GET")),
}


class HTTPMember(Member):
    """Puts its positions over one connection, and waits for news over another."""

    puts: Connection
    asks: Connection

    async def join(self, within: float) -> None:
        self.puts, self.asks = await self.clients.connect(), await self.clients.connect()
        await self.join_group(within)

    @abstractmethod
    async def join_group(self, within: float) -> None:
        """Request the first news, and set `first`."""

    async def put(self, body: str) -> None:
        require(204, await self._put(body), f"the position {escaped(body)}")

    async def is_refused(self, body: str, what: str) -> None:
        require(400, await self._put(body), what)

    async def _put(self, body: str) -> Answer:
        path = f"/groups/{self.group}/positions/{self.user}"
        return await self.puts.ask("PUT", path, body.encode(), JSON, within=PUT_SECONDS)

    def reset(self) -> None:
        self.puts.reset()
        self.asks.reset()


def require(status: int, answer: Answer, what: str) -> None:
    if answer.status != status:
        raise Mismatch(f"status {status} for {what}", answer)


async def a_body(clients: Clients) -> str:
    return body_of((await clients.member(clients.group())).next_position())


@rule("A group or user that is no id answers 400.")
async def bad_ids_are_refused(clients: Clients) -> None:
    body = await a_body(clients)
    for bad in NO_IDS:
        require(400, await clients.put(bad, "user", body), f"the group {bad}")
        require(400, await clients.put("group", bad, body), f"the user {bad}")
    long = "x" * 64
    require(204, await clients.put(long, long, body), "ids of 64 characters")


@rule("A group has 64 users at most: the position of a 65th answers 409, that of one of them 204.")
async def sixty_fifth_user_is_refused(clients: Clients) -> None:
    group, body, connection = clients.group(), await a_body(clients), await clients.connect()

    async def put(number: int) -> Answer:
        return await connection.ask("PUT", f"/groups/{group}/positions/u-{number}", body.encode(), JSON)

    for number in range(64):
        require(204, await put(number), f"user {number + 1} of a group")
    require(409, await put(64), "user 65 of a group")
    require(204, await put(0), "another position of the first user")


@rule("Nothing is served but the suite's paths, /metricz and /healthz: other paths answer 404.")
async def nothing_else_is_served(clients: Clients) -> None:
    for path in NO_PATHS:
        require(404, await clients.ask("GET", path), path)


@rule("A method that a path does not have answers 405, with an Allow field that names those it has.")
async def wrong_method_is_refused(clients: Clients) -> None:
    for path, (right, wrong) in METHODS.items():
        for method in wrong:
            answer = await clients.ask(method, path, b"")
            require(405, answer, f"{method} {path}")
            allowed = answer.head.values("allow")
            if right not in allowed or method in allowed:
                raise Mismatch(f"Allow: {right} in the answer to {method} {path}", escaped(", ".join(sorted(allowed))))


@rule("A body of more than 64 KiB answers 413, whether or not its length is declared. One of 64 KiB is read.")
async def large_body_is_refused(clients: Clients) -> None:
    body = await a_body(clients)
    require(204, await clients.put("group", "user", body.ljust(MOST_BODY)), "a body of 65,536 bytes")
    require(413, await clients.put("group", "user", body.ljust(MOST_BODY + 1)), "a body of 65,537 bytes")
    connection = await clients.connect()
    head = connection.head_of("PUT", "/groups/group/positions/user", JSON, ("Transfer-Encoding", "chunked"))
    connection.write(head + in_chunks(body.ljust(MOST_BODY + 1).encode()))
    require(413, await connection.answer("65,537 bytes in chunks"), "65,537 bytes in chunks")


@rule("A Content-Type other than application/json answers 415; one with a charset is accepted.")
async def other_types_are_refused(clients: Clients) -> None:
    body = await a_body(clients)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/xml"):
        require(415, await clients.put("group", "user", body, ("Content-Type", kind)), f"Content-Type: {kind}")
    declared = ("Content-Type", "application/json; charset=utf-8")
    require(204, await clients.put("group", "user", body, declared), "a position with a charset")


@rule('Each refusal is JSON, {"error": "..."}, with Content-Type application/json.')
async def refusals_are_json(clients: Clients) -> None:
    body = await a_body(clients)
    for what, answer in {
        "no JSON": await clients.put("group", "user", "{"),
        "a bad id": await clients.put("a.b", "user", body),
        "an unknown path": await clients.ask("GET", "/nothing-here"),
        "a wrong method": await clients.ask("POST", "/groups/g/positions/u", b""),
        "a large body": await clients.put("group", "user", body.ljust(MOST_BODY + 1)),
        "another type": await clients.put("group", "user", body, ("Content-Type", "text/plain")),
    }.items():
        match answer.json():
            case {"error": str(reason)} if reason:
                continue
        raise Mismatch(f'{{"error": "..."}} in the answer to {what}', escaped(answer.body))


@rule("A connection is kept: it serves 120 positions one after another.")
async def connection_is_kept(clients: Clients) -> None:
    body, connection = (await a_body(clients)).encode(), await clients.connect()
    for number in range(1, KEPT + 1):
        # Always over this connection; `ask` may open another one.
        connection.write(connection.request("PUT", "/groups/kept/positions/user", body, JSON))
        require(204, await connection.answer(f"request {number} of a connection"), f"request {number} of a connection")
