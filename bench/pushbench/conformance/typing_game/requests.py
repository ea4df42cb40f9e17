"""A server's handling of requests, except for matchmaking."""

from __future__ import annotations

import json

from pushbench.conformance.http1 import in_chunks
from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.typing_game.clients import JSON, MATCHMAKE, Clients
from pushbench.conformance.typing_game.over_http import require

MOST_BODY = 65_536
"""Bytes of the largest body that a server accepts, the same for every server."""
KEPT = 120
"""Requests on one connection. By default, some servers end a connection after 100."""
NO_PATHS = ("/", "/api", "/api/pvp", f"{MATCHMAKE}/", f"{MATCHMAKE}/x", "/metrics", "/socket.io.js", "/index.html")
METHODS = {
    "/healthz": ("GET", ("POST", "PUT", "DELETE")),
    "/metricz": ("GET", ("POST", "PUT", "DELETE")),
    MATCHMAKE: ("POST", ("GET", "PUT", "DELETE", "PATCH")),
}


def good_body(clients: Clients) -> str:
    return json.dumps({"userId": clients.user(), "characters": clients.length()})


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
    body = good_body(clients)
    require(200, await clients.post(body.ljust(MOST_BODY)), "a body of 65,536 bytes")
    require(413, await clients.post(body.ljust(MOST_BODY + 1)), "a body of 65,537 bytes")
    connection = await clients.connect()
    head = connection.head_of("POST", MATCHMAKE, JSON, ("Transfer-Encoding", "chunked"))
    connection.write(head + in_chunks(body.ljust(MOST_BODY + 1).encode()))
    require(413, await connection.answer("65,537 bytes in chunks"), "65,537 bytes in chunks")


@rule("A Content-Type other than application/json answers 415; one with a charset is accepted.")
async def other_types_are_refused(clients: Clients) -> None:
    body = good_body(clients)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx"):
        require(415, await clients.post(body, ("Content-Type", kind)), f"Content-Type: {kind}")
    declared = ("Content-Type", "application/json; charset=utf-8")
    require(200, await clients.post(body, declared), "a request with a charset")


@rule('Each refusal is JSON, {"error": "..."}, with Content-Type application/json.')
async def refusals_are_json(clients: Clients) -> None:
    for what, answer in {
        "no JSON": await clients.post("{"),
        "an unknown path": await clients.ask("GET", "/nothing-here"),
        "a wrong method": await clients.ask("GET", MATCHMAKE),
        "a large body": await clients.post(good_body(clients).ljust(MOST_BODY + 1)),
        "another type": await clients.post(good_body(clients), ("Content-Type", "text/plain")),
    }.items():
        match answer.json():
            case {"error": str(reason)} if reason:
                continue
        raise Mismatch(f'{{"error": "..."}} in the answer to {what}', escaped(answer.body))


@rule("A connection is kept: it serves 120 requests one after another, and those that come at once in their order.")
async def connection_is_kept(clients: Clients) -> None:
    body, connection = good_body(clients).encode(), await clients.connect()
    for number in range(1, KEPT + 1):
        # Always over this connection; `ask` may open another one.
        connection.write(connection.request("POST", MATCHMAKE, body, JSON))
        require(200, await connection.answer(f"request {number} of a connection"), f"request {number} of a connection")
    connection.write(
        connection.request("POST", MATCHMAKE, b"{", JSON)
        + connection.request("GET", "/nothing-here")
        + connection.request("POST", MATCHMAKE, body, JSON)
    )
    for status in (400, 404, 200):
        require(status, await connection.answer(), "its place among three requests at once")
