"""Posts are created, numbered and read."""

from __future__ import annotations

from pushbench.conformance.posts.clients import JSON_TYPE, Clients, Post, created, refused
from pushbench.conformance.rule import Mismatch, rule

TITLE_MOST, CONTENT_MOST = 200, 10_000
"""Characters (code points), the same for every server."""
ROCKET = "\U0001f680"
"""One code point, two units of UTF-16, four bytes of UTF-8."""


@rule("POST /post answers 201 with Location: /post/{no} and no body.")
async def post_is_created(clients: Clients) -> None:
    connection = await clients.connect()
    await clients.create(connection, clients.post())


@rule("GET /post/{no} answers 200 with the number and the texts, character by character, and nothing else.")
async def post_is_read_as_it_was_sent(clients: Clients) -> None:
    connection = await clients.connect()
    for post in (
        clients.post(),
        Post("caf\u00e9 \u041f\u0440\u0438\u0432\u0435\u0442 \u4f60\u597d", f"{ROCKET} e\u0301 \u202e \ufeff \uffff"),
        Post("'; DROP TABLE post; --", '"quoted" \\ %s {} ${x} <b>&amp;</b> /* */'),
        Post(" blanks around ", "\tlines\r\nof\n text\r\x0b\x1f\x7f"),
    ):
        await clients.has(connection, await clients.create(connection, post), post)


@rule("A title of 1 to 200 characters and a content of 1 to 10,000 are stored whole, whatever they take in bytes.")
async def longest_texts_are_stored(clients: Clients) -> None:
    connection = await clients.connect()
    for post in (Post("t", "c"), Post(ROCKET * TITLE_MOST, ROCKET * CONTENT_MOST), Post("t" * TITLE_MOST, "c")):
        await clients.has(connection, await clients.create(connection, post), post)


@rule("The same post sent twice becomes two posts, with numbers that grow.")
async def each_post_has_its_own_number(clients: Clients) -> None:
    connection, other = await clients.connections(2)
    post = clients.post()
    numbers = [await clients.create(each, post) for each in (connection, connection, other, connection)]
    if sorted(set(numbers)) != numbers:
        raise Mismatch("four growing numbers for one post sent four times", numbers)
    for no in numbers:
        await clients.has(connection, no, post)


@rule("Other fields than title and content are ignored, a number of the client's own included.")
async def other_fields_are_ignored(clients: Clients) -> None:
    connection = await clients.connect()
    first = await clients.create(connection, clients.post())
    post = clients.post()
    body = post.encode(no=first, id=first, author={"name": "x", "tags": [1, None, True]}, Title="T")
    no = created(await connection.ask("POST", "/post", body, JSON_TYPE))
    if no == first:
        raise Mismatch("a number of the database's", "the one that the client sent")
    await clients.has(connection, no, post)


@rule("Content-Type may have parameters and any case, and the body blanks around it.")
async def content_type_may_have_parameters(clients: Clients) -> None:
    connection = await clients.connect()
    for value in ("application/json;charset=utf-8", "Application/JSON; charset=UTF-8"):
        post = clients.post()
        answer = await connection.ask("POST", "/post", b" \r\n\t" + post.encode() + b"\n ", ("Content-Type", value))
        await clients.has(connection, created(answer), post)


@rule("GET of a post that is not there, or of what is no number, answers 404 with JSON.")
async def unknown_post_is_404(clients: Clients) -> None:
    connection = await clients.connect()
    for no in ("999999999999", "0", "-1", "x", "1.5", "1e3", "9223372036854775808", "9" * 40, "%00", "1%20OR%201"):
        answer = await connection.ask("GET", f"/post/{no}")
        if "%" in no and answer.status == 400:  # a server may refuse such a path before routing
            connection = await clients.connect()
        else:
            refused(answer, 404, f"GET /post/{no}")
