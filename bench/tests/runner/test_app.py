"""A GitHub App in place of a token: the machine's signatures are checked as GitHub checks them."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import runner_api
import runner_app
import runner_github
from tests.runner.runner_double import GENERATE, RUNNERS, Api, Fixed, ask, serving

APP = "123456"
INSTALLATION = "GET /repos/me/pushbench/installation"
TOKENS = "POST /app/installations/99/access_tokens"
TOKEN = "ghs_" + "t" * 400  # newer installation tokens are several hundred characters long
SHA256_PREFIX = bytes.fromhex("3031300d060960864801650304020105000420")  # RFC 8017, 9.2

pytestmark = pytest.mark.skipif(not Path(runner_app.OPENSSL).exists(), reason="needs openssl")


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private key in the format that GitHub issues (PKCS#1)."""
    path = tmp_path_factory.mktemp("app") / "key.pem"
    command = ["openssl", "genrsa", "-traditional", "-out", str(path), "2048"]
    subprocess.run(command, check=True, capture_output=True)
    return path


@pytest.fixture
def api(key: Path) -> Iterator[Api]:
    modulus = subprocess.run(
        ["openssl", "rsa", "-in", str(key), "-noout", "-modulus"], check=True, capture_output=True, text=True
    ).stdout
    accepted = Statements(int(modulus.partition("=")[2], 16))
    with serving() as server:
        server.answers[INSTALLATION] = [accepted.then(lambda _: (200, {"id": 99, "app_id": int(APP)}))]
        server.answers[TOKENS] = [accepted.then(token)]
        yield server


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_api, "PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(runner_app, "PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(runner_github, "PATIENCE_SECONDS", 0.5)


def token(body: Any) -> Fixed:
    """As https://docs.github.com/rest/apps/apps#create-an-installation-access-token-for-an-app: for what was named."""
    if body != {"repositories": ["pushbench"], "permissions": {"administration": "write", "actions": "read"}}:
        return 422, {"message": "The permissions requested are not granted to this installation."}
    return 201, {"token": TOKEN, "expires_at": "2026-11-22T01:00:00Z", "permissions": body["permissions"]}


class Statements:
    """Accepts a JSON Web Token like GitHub: RS256 with this key, `iat` not ahead, `exp` at most ten minutes ahead."""

    def __init__(self, modulus: int) -> None:
        self._modulus = modulus

    def then(self, answer: Callable[[Any], Fixed]) -> Callable[[Any, Mapping[str, str]], Fixed]:
        def decide(body: Any, headers: Mapping[str, str]) -> Fixed:
            wrong = self.wrong(headers.get("Authorization", "").removeprefix("Bearer "))
            return (401, {"message": wrong}) if wrong else answer(body)

        return decide

    def wrong(self, text: str) -> str | None:
        head, claims, signature = (decode(part) for part in text.split("."))
        signed = pow(int.from_bytes(signature), 65537, self._modulus).to_bytes(256)
        digest = SHA256_PREFIX + hashlib.sha256(text.rpartition(".")[0].encode()).digest()
        if json.loads(head) != {"alg": "RS256", "typ": "JWT"} or signed != b"\0\1" + b"\xff" * 202 + b"\0" + digest:
            return "A JSON web token could not be decoded"
        said, now = json.loads(claims), time.time()
        if said["iss"] != APP:
            return "Integration not found"
        if not isinstance(said["iat"], int) or said["iat"] > now:
            return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        if not now < said["exp"] <= now + 600:
            return "'Expiration time' claim ('exp') is too far in the future"
        return None


def decode(part: str) -> bytes:
    assert "=" not in part
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


@pytest.mark.slow
def test_a_machine_is_registered_with_a_token_of_the_app(api: Api, tmp_path: Path, key: Path) -> None:
    done = ask(api, "register", tmp_path, key.read_text().strip(), app_id=APP)
    assert done.returncode == 0, done.stderr
    assert api.asked[:2] == [INSTALLATION, TOKENS]
    assert {authorization for _, _, authorization in api.requests[2:]} == {f"Bearer {TOKEN}"}
    assert api.asked[-1] == GENERATE
    assert TOKEN not in done.stdout + done.stderr


@pytest.mark.parametrize("skew", [-3600, -700, 90, 3600])
def test_a_clock_that_is_wrong_is_named(
    api: Api, tmp_path: Path, key: Path, skew: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time() + skew
    monkeypatch.setattr(runner_app, "time", type("clock", (), {"time": staticmethod(lambda: now)}))
    done = ask(api, "register", tmp_path, key.read_text().strip(), app_id=APP)
    accepted = -480 < skew <= 60
    assert (done.returncode == 0) == accepted
    assert accepted or "is this machine's clock right?" in done.stderr
    assert accepted or f"GitHub does not accept the App {APP} (GET /repos/me/pushbench/installation: HTTP 401)" in (
        done.stderr
    )


def test_another_app_or_key_is_named(api: Api, tmp_path: Path, key: Path) -> None:
    done = ask(api, "register", tmp_path, key.read_text().strip(), app_id="654321")
    assert done.returncode == 1
    assert "are --app-id and --app-key-file of one App" in done.stderr
    done = ask(api, "register", tmp_path, "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----")
    assert done.returncode == 1
    assert done.stderr == ("the App's private key does not sign; download a new one and give it with --app-key-file\n")
    assert RUNNERS not in api.asked


@pytest.mark.parametrize(
    ("request_", "status", "said"),
    [
        (INSTALLATION, 404, f"the App {APP} is not installed on me/pushbench"),
        (TOKENS, 403, f"the App {APP} may not do that"),
        (TOKENS, 422, "give it the permissions Administration: write and Actions: read"),
    ],
)
def test_what_the_app_lacks_is_named(
    api: Api, tmp_path: Path, key: Path, request_: str, status: int, said: str
) -> None:
    api.answers[request_] = [(status, {"message": "no"})]
    done = ask(api, "register", tmp_path, key.read_text().strip(), app_id=APP)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert said in done.stderr


def test_the_key_is_in_no_argument(api: Api, tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = tmp_path / "openssl"
    watched.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/arguments\nexec {shutil.which("openssl")} "$@"\n')
    watched.chmod(0o755)
    monkeypatch.setattr(runner_app, "OPENSSL", str(watched))
    assert ask(api, "register", tmp_path, key.read_text().strip(), app_id=APP).returncode == 0
    assert (tmp_path / "arguments").read_text() == f"dgst -sha256 -sign {tmp_path}/credential\n"
