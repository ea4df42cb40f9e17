"""What a server refuses: values out of range, other paths and methods, and large bodies."""

from __future__ import annotations

from pushbench.conformance.http1 import Answer, in_chunks
from pushbench.conformance.rule import Mismatch, escaped, rule
from pushbench.conformance.token_stream.clients import Clients
from pushbench.conformance.token_stream.text import LAST

MOST_BODY = 65_536
"""Bytes of the largest body that a server accepts, the same for every server."""
NO_PACES = ("0", "-1", "1001", "99999999999999999999", "1.5", "1e2", "0x10", "abc", "5x", "", "%00", "%D9%A3")
NO_IDS = (str(LAST + 1), "-1", "99999999999999999999", "1.5", "1e1", "0x1", "abc", "5x", "")
NO_PATHS = ("/", "/stream/", "/stream/1", "/streams", "/error", "/actuator", "/index.html", "/text.txt")
NO_METHODS = ("POST", "PUT", "DELETE", "PATCH")
PATHS = ("/stream", "/metricz", "/healthz")


@rule("A pace that is no integer from 1 to 1000 answers 400.")
async def bad_pace_is_refused(clients: Clients) -> None:
    for pace in NO_PACES:
        require(400, await clients.ask("GET", clients.target_of(pace)), f"?pace={pace}")


@rule("A Last-Event-ID that is no number of a character answers 400.")
async def bad_last_event_id_is_refused(clients: Clients) -> None:
    for last in NO_IDS:
        answer = await clients.ask("GET", clients.path, None, ("Last-Event-ID", last))
        require(400, answer, f"Last-Event-ID: {last}")


@rule("Nothing is served but /stream, /metricz and /healthz: other paths answer 404.")
async def nothing_else_is_served(clients: Clients) -> None:
    for path in NO_PATHS:
        require(404, await clients.ask("GET", path), path)


@rule("A method that a path does not have answers 405, with an Allow field that names GET.")
async def wrong_method_is_refused(clients: Clients) -> None:
    for path in PATHS:
        for method in NO_METHODS:
            answer = await clients.ask(method, path, b"")
            require(405, answer, f"{method} {path}")
            allowed = answer.head.values("allow")
            if "GET" not in allowed or method in allowed:
                seen = escaped(", ".join(sorted(allowed)) or "none")
                raise Mismatch(f"Allow: GET in the answer to {method} {path}", seen)


@rule("A body of more than 64 KiB answers 413, whether or not its length is declared.")
async def large_body_is_refused(clients: Clients) -> None:
    body = bytes(MOST_BODY + 1)
    require(413, await clients.ask("GET", clients.path, body), "a body of 65,537 bytes")
    require(413, await in_pieces(clients, body), "65,537 bytes in chunks")


@rule("A body of 64 KiB is accepted, though nothing reads it.")
async def body_of_64_kib_is_accepted(clients: Clients) -> None:
    body = bytes(MOST_BODY)
    require(200, await clients.ask("GET", clients.path, body), "a body of 65,536 bytes")
    require(200, await in_pieces(clients, body), "65,536 bytes in chunks")


@rule('Each refusal is JSON, {"error": "..."}, with Content-Type application/json.')
async def refusals_are_json(clients: Clients) -> None:
    body = bytes(MOST_BODY + 1)
    for what, answer in {
        "?pace=0": await clients.ask("GET", clients.target_of(0)),
        "a bad Last-Event-ID": await clients.ask("GET", clients.path, None, ("Last-Event-ID", "x")),
        "an unknown path": await clients.ask("GET", "/nothing-here"),
        "a wrong method": await clients.ask("POST", clients.path, b""),
        "a large body": await clients.ask("GET", clients.path, body),
        # As EventSource does, which accepts nothing else.
        "?pace=0 from an EventSource": await clients.ask(
            "GET", clients.target_of(0), None, ("Accept", "text/event-stream")
        ),
    }.items():
        if answer.head.media_type != "application/json":
            kind = escaped(answer.head.media_type or "none")
            raise Mismatch(f"Content-Type: application/json in the answer to {what}", kind)
        match answer.json():
            case {"error": str(reason)} if reason:
                continue
        raise Mismatch(f'{{"error": "..."}} in the answer to {what}', escaped(answer.body))


def require(status: int, answer: Answer, what: str) -> None:
    if answer.status != status:
        raise Mismatch(f"status {status} for {what}", answer.status)


async def in_pieces(clients: Clients, body: bytes) -> Answer:
    """The answer to a request with a chunked body, which does not announce its length."""
    connection = await clients.connect()
    connection.write(connection.head_of("GET", clients.path, ("Transfer-Encoding", "chunked")) + in_chunks(body))
    return await connection.answer(f"GET {clients.path}")
