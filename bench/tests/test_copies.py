"""Code that several servers have in common is copied, so that each can be read on its own; the copies stay equal.

The copies of each file listed below must be equal. When you change one of them, change them all. When a server has a
reason to differ, remove it from the list and state the reason in that file.
"""

from __future__ import annotations

from collections import defaultdict
from hashlib import sha256
from pathlib import Path

import pytest

from pushbench.building.sources import source_files
from pushbench.catalog.servers import of_suite, read_catalog

SERVERS = Path(__file__).parents[2] / "servers"
JAVA = "src/main/java/pushbench/whiteboard"
JAVA_SSE = "src/main/java/pushbench/tokenstream"
NODE = ("node-cluster-redis", "node-uws", "node-ws")
PYTHON = ("fastapi", "fastapi-workers-redis", "quart")
SPRING = ("spring-stomp", "spring-websocket")
SPRING_RELAY = (*SPRING, "spring-stomp-rabbitmq")
SPRING_STOMP = ("spring-stomp", "spring-stomp-rabbitmq")
POSTS = "src/main/java/pushbench/posts"
SPRING_POSTS = ("spring-servlet-jpa", "spring-webflux-r2dbc")
SPRING_SSE = ("spring-mvc-sse", "spring-webflux-sse")
SPRING_ALL = (*SPRING_RELAY, *SPRING_SSE, *SPRING_POSTS, "spring-location")

COPIES = {
    "text.txt": ("go-sse", "node-sse", "starlette-sse"),
    "src/server.js": ("node-location", "node-sse", "node-ws", "socketio"),
    "src/message.js": ("bun", *NODE),
    "src/uwebsockets.js": ("node-uws", "socketio-game"),
    "test/message.test.js": NODE,
    "app/messages.py": PYTHON,
    "tests/test_messages.py": PYTHON,
    f"{JAVA}/Application.java": SPRING_RELAY,
    f"{JAVA}/BadMessageException.java": SPRING_RELAY,
    f"{JAVA}/HealthController.java": SPRING,
    f"{JAVA}/NoCompressionFilter.java": SPRING_RELAY,
    f"{JAVA}/BoardMessage.java": SPRING_STOMP,
    f"{JAVA}/ClientHandler.java": SPRING_STOMP,
    f"{JAVA}/ErrorMessage.java": SPRING_STOMP,
    f"{JAVA}/GoingAway.java": SPRING_STOMP,
    f"{JAVA}/QueueingSession.java": SPRING_STOMP,
    "src/test/java/pushbench/whiteboard/BoardMessageTest.java": SPRING_STOMP,
    "src/test/java/pushbench/whiteboard/ClientHandlerTest.java": SPRING_STOMP,
    "src/test/java/pushbench/whiteboard/QueueingSessionTest.java": SPRING_STOMP,
    f"{POSTS}/ErrorMessage.java": SPRING_POSTS,
    f"{POSTS}/JsonConfiguration.java": SPRING_POSTS,
    f"{POSTS}/NewPost.java": SPRING_POSTS,
    f"{POSTS}/Text.java": SPRING_POSTS,
    "src/test/java/pushbench/posts/TextTest.java": SPRING_POSTS,
    "src/main/resources/text.txt": SPRING_SSE,
    f"{JAVA_SSE}/Application.java": SPRING_SSE,
    f"{JAVA_SSE}/BadRequestException.java": SPRING_SSE,
    f"{JAVA_SSE}/StreamRequest.java": SPRING_SSE,
    f"{JAVA_SSE}/Text.java": SPRING_SSE,
    "src/test/java/pushbench/tokenstream/StreamRequestTest.java": SPRING_SSE,
    "Dockerfile of Go": ("go", "go-location", "go-posts"),
    "go.sum": ("go", "go-location"),
    "Dockerfile of Node.js": ("node-cluster-redis", "node-location", "node-ws", "socketio"),
    "Dockerfile of Python": PYTHON,
    "Dockerfile of Spring": ("spring-mvc-sse", *SPRING_RELAY, *SPRING_POSTS, "spring-location"),
    "class-archive.sh": SPRING_ALL,
    ".mvn/jvm.config": SPRING_ALL,
}
"""the servers of each file; ` of ...` distinguishes files of one name"""


def copies() -> dict[str, set[str]]:
    """The paths `server/file` of each content that several files have."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in source_files(SERVERS):
        content = (SERVERS / path).read_bytes()
        if content and not path.name.startswith("."):
            found[sha256(content).hexdigest()].add(path.as_posix())
    return {digest: paths for digest, paths in found.items() if len(paths) > 1}


@pytest.mark.parametrize(("name", "servers"), COPIES.items(), ids=COPIES)
def test_copies_are_equal(name: str, servers: tuple[str, ...]) -> None:
    file = name.partition(" of ")[0]
    first, *others = servers
    text = (SERVERS / first / file).read_text()
    for other in others:
        assert (SERVERS / other / file).read_text() == text, f"servers/{other}/{file} is not that of servers/{first}"


def test_every_server_streams_the_same_text() -> None:
    """The path of the file, which Spring servers have in another folder."""
    streaming = {server.folder.name for server in of_suite(read_catalog(SERVERS), "token-stream")}
    paths = [path for path in source_files(SERVERS) if path.name == "text.txt" and path.parts[0] in streaming]
    texts = {(SERVERS / path).read_bytes() for path in paths}
    assert len(texts) == 1


def test_every_copy_is_listed() -> None:
    listed = {f"{server}/{name.partition(' of ')[0]}" for name, servers in COPIES.items() for server in servers}
    unlisted = [sorted(paths) for paths in copies().values() if not paths <= listed]
    assert unlisted == [], "list these in COPIES, or let one of them say what differs"
