"""A registry in memory that has only what was pushed to it, on a port of loopback, for a real engine.

It implements the part of https://github.com/opencontainers/distribution-spec/blob/main/spec.md that push and pull
need. As specified, it refuses names with upper case, blobs of another digest, and manifests whose blobs it does not
have. Engines use plain HTTP for 127.0.0.1.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from pushbench.building.engine import Engine
from tests.serving import LOOPBACK, serving

PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
NAME = re.compile(rf"{PART}(?:/{PART})*", re.ASCII)
ROUTE = re.compile(r"/v2/(?P<name>.+)/(?P<kind>manifests|blobs/uploads|blobs)/(?P<rest>[^/]*)")


@dataclass
class Registry:
    blobs: dict[tuple[str, str], bytes] = field(default_factory=dict)
    """by repository and digest"""
    manifests: dict[tuple[str, str], tuple[str, bytes]] = field(default_factory=dict)
    """media type and content, by repository and digest"""
    tags: dict[tuple[str, str], str] = field(default_factory=dict)
    uploads: dict[str, bytearray] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """methods and paths, in the order of the requests"""
    faults: list[int] = field(default_factory=list)
    """statuses of the answers to the next requests for manifests, instead of the correct ones"""
    denied: set[str] = field(default_factory=set)
    """repositories that may not be read"""

    @contextmanager
    def served(self) -> Iterator[str]:
        """Yields the host and port of the registry."""
        handler = type("Handler", (_Handler,), {"registry": self})
        with serving(ThreadingHTTPServer((LOOPBACK, 0), handler)) as host:
            yield host

    def digest_of(self, name: str, tag: str) -> str:
        return self.tags[name, tag]


def forget(engine: Engine, host: str) -> None:
    """Remove the images of a registry from the engine, including those with a digest and no tag."""
    listed = engine.run("image", "ls", "--no-trunc", "--format", "{{.ID}} {{.Repository}}").splitlines()
    for identity in {line.split(" ")[0] for line in listed if line.split(" ")[1].startswith(f"{host}/")}:
        engine.run("image", "rm", "--force", identity)


class _Handler(BaseHTTPRequestHandler):
    registry: Registry
    protocol_version = "HTTP/1.1"

    def _do(self) -> None:
        parts = urlsplit(self.path)
        body = self._body()
        self.registry.asked.append(f"{self.command} {parts.path}")
        if parts.path.rstrip("/") == "/v2":
            return self._answer(200, b"{}")
        found = ROUTE.fullmatch(parts.path)
        if not found:
            return self._refuse(404, "UNSUPPORTED")
        name, kind, rest = found["name"], found["kind"], found["rest"]
        if not NAME.fullmatch(name):
            return self._refuse(400, "NAME_INVALID")
        if name in self.registry.denied:
            return self._refuse(403, "DENIED")
        if kind == "manifests":
            return self._manifest(name, rest, body)
        if kind == "blobs":
            return self._blob(name, rest)
        return self._upload(name, rest, parse_qs(parts.query), body)

    do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = _do  # noqa: N815 - names that http.server asks for

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _manifest(self, name: str, reference: str, body: bytes) -> None:
        registry = self.registry
        if self.command == "PUT":
            digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
            named = json.loads(body)
            wanted = [each["digest"] for each in [named["config"], *named["layers"]] if "config" in named]
            if any((name, each) not in registry.blobs for each in wanted):
                return self._refuse(404, "MANIFEST_BLOB_UNKNOWN")
            registry.manifests[name, digest] = (self.headers["Content-Type"], body)
            if not reference.startswith("sha256:"):
                registry.tags[name, reference] = digest
            return self._answer(201, b"", {"Docker-Content-Digest": digest, "Location": self.path})
        if registry.faults:
            return self._refuse(registry.faults.pop(0), "UNAVAILABLE")
        digest = registry.tags.get((name, reference), reference)
        if (name, digest) not in registry.manifests:
            return self._refuse(404, "MANIFEST_UNKNOWN")
        media, content = registry.manifests[name, digest]
        return self._answer(200, content, {"Content-Type": media, "Docker-Content-Digest": digest})

    def _blob(self, name: str, digest: str) -> None:
        content = self.registry.blobs.get((name, digest))
        if content is None:
            return self._refuse(404, "BLOB_UNKNOWN")
        return self._answer(200, content, {"Docker-Content-Digest": digest})

    def _upload(self, name: str, session: str, query: dict[str, list[str]], body: bytes) -> None:
        uploads = self.registry.uploads
        if self.command == "POST":
            session = uuid.uuid4().hex
            uploads[session] = bytearray()
        if session not in uploads:
            return self._refuse(404, "BLOB_UPLOAD_UNKNOWN")
        uploads[session] += body
        if "digest" in query:
            content, [digest] = bytes(uploads.pop(session)), query["digest"]
            if digest != f"sha256:{hashlib.sha256(content).hexdigest()}":
                return self._refuse(400, "DIGEST_INVALID")
            self.registry.blobs[name, digest] = content
            return self._answer(201, b"", {"Docker-Content-Digest": digest, "Location": f"/v2/{name}/blobs/{digest}"})
        place = {"Location": f"/v2/{name}/blobs/uploads/{session}", "Docker-Upload-UUID": session}
        return self._answer(202, b"", {**place, "Range": f"0-{max(0, len(uploads[session]) - 1)}"})

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, json.dumps({"errors": [{"code": code, "message": code.lower()}]}).encode())

    def _answer(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(key, value)
        self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass
