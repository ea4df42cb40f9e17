"""Requests that a server must refuse, and how."""

from __future__ import annotations

from pushbench.conformance.connection import Closed, Connection
from pushbench.conformance.http1 import Answer, in_chunks
from pushbench.conformance.posts.bad_posts import bad_posts
from pushbench.conformance.posts.clients import JSON_TYPE, Clients, created, refused
from pushbench.conformance.rule import Mismatch, escaped, rule

BODY_MOST = 65_536
"""Bytes of the largest body that a server accepts, the same for every server."""
METHODS = {
    "/post": ("POST", ("GET", "PUT", "DELETE", "PATCH")),
    "/post/1": ("GET", ("POST", "PUT", "DELETE", "PATCH")),
    "/metricz": ("GET", ("POST", "DELETE")),
    "/healthz": ("GET", ("POST", "DELETE")),
}
"""The allowed method of each path, and some methods that are not allowed."""
UNKNOWN = ("/", "/posts", "/post/", "/post/1/", "/post/1/title", "/error", "/metrics", "/actuator", "/index.html")


@rule("A body that is no JSON object, or has no good title or content, is 400 with JSON.")
async def bad_post_is_400(clients: Clients) -> None:
    connection = await clients.connect()
    faults = []
    for case, body in bad_posts().items():
        try:
            refused(await connection.ask("POST", "/post", body, JSON_TYPE), 400, case)
        except Mismatch as fault:
            faults.append(str(fault))
            connection = await clients.connect()
    if faults:
        raise Mismatch("400 for every bad post", f"{len(faults)} other answers: " + "; ".join(faults[:8]))
    await clients.create(connection, clients.post())


@rule("What is refused leaves no row in the table.")
async def refused_post_leaves_no_row(clients: Clients) -> None:
    connection = await clients.connect()
    before = await clients.count()
    for case in ("a content of 10001 characters", "no title", "trailing text", "two objects"):
        await connection.ask("POST", "/post", bad_posts()[case], JSON_TYPE)
    await connection.ask("POST", "/post", clients.post().encode(), ("Content-Type", "text/plain"))
    await connection.ask("PUT", "/post/1", clients.post().encode(), JSON_TYPE)
    if (after := await clients.count()) != before:
        raise Mismatch(f"{before} rows, as before", after)


@rule("A body that is not said to be application/json is 415 with JSON, and so is one that says nothing.")
async def other_content_type_is_415(clients: Clients) -> None:
    connection = await clients.connect()
    body = clients.post().encode()
    for value in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application/xml", "json"):
        answer = await connection.ask("POST", "/post", body, ("Content-Type", value))
        refused(answer, 415, f"Content-Type: {value}")
    refused(await connection.ask("POST", "/post", body), 415, "a body without Content-Type")
    await clients.create(connection, clients.post())


@rule("A body of 65,536 bytes is accepted; a larger one is 413 with JSON, whether its length is said before or not.")
async def larger_body_is_413(clients: Clients) -> None:
    connection = await clients.connect()
    post = clients.post()
    empty = len(post.encode(pad=""))
    largest, larger = (post.encode(pad="x" * (size - empty)) for size in (BODY_MOST, BODY_MOST + 1))
    await clients.has(connection, created(await connection.ask("POST", "/post", largest, JSON_TYPE)), post)
    refused(await connection.ask("POST", "/post", larger, JSON_TYPE), 413, "a body of 65,537 bytes")
    refused(await _in_chunks(await clients.connect(), larger), 413, "a body of 65,537 bytes in chunks")
    await _is_never_taken(await clients.connect(), post.encode(pad="x" * (1 << 20)))
    await clients.create(await clients.connect(), clients.post())


async def _in_chunks(connection: Connection, body: bytes) -> Answer:
    connection.write(connection.head_of("POST", "/post", JSON_TYPE, ("Transfer-Encoding", "chunked")) + in_chunks(body))
    return await connection.answer("POST /post")


async def _is_never_taken(connection: Connection, body: bytes) -> None:
    """A server may close before it has read so much, and its answer may then be lost in a reset."""
    try:
        answer = await connection.ask("POST", "/post", body, JSON_TYPE)
    except Closed:
        return
    if answer.status != 413:
        raise Mismatch("status 413 for a body of 1 MiB", answer)


@rule("A method that a path does not have is 405 with JSON, and Allow names the one that it has.")
async def wrong_method_is_405(clients: Clients) -> None:
    connection = await clients.connect()
    for path, (allowed, others) in METHODS.items():
        for method in others:
            body = None if method == "GET" else clients.post().encode()
            answer = await connection.ask(method, path, body, *(() if body is None else (JSON_TYPE,)))
            refused(answer, 405, f"{method} {path}")
            named = answer.head.values("allow")
            if allowed not in named or method in named:
                raise Mismatch(f"Allow: {allowed} for {method} {path}", escaped(", ".join(sorted(named)) or "none"))


@rule("Nothing else is served: every other path is 404 with JSON.")
async def other_paths_are_404(clients: Clients) -> None:
    connection = await clients.connect()
    for path in UNKNOWN:
        refused(await connection.ask("GET", path), 404, f"GET {path}")
