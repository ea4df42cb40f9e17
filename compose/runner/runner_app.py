"""A GitHub App in place of a personal token: an hour's token for this repository and two permissions only.

The App signs a short statement with its private key (RS256), and GitHub answers with an installation token:
https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
and .../generating-an-installation-access-token-for-a-github-app.

Python's standard library has no RSA. `openssl` signs: Debian and Ubuntu keep it up to date, and ca-certificates needs
it anyway. Its arguments name the key's file and never contain the key. Our own code for the signature would be
cryptography that nobody maintains. A Python package would be one more thing to update on a persistent machine.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import time
from pathlib import Path

from runner_api import Github, GithubFailed, NoSuchAnswer
from runner_policy import Settings

OPENSSL = "/usr/bin/openssl"
PERMISSIONS = {"administration": "write", "actions": "read"}
DRIFT_SECONDS = 60  # GitHub recommends backdating a statement by this, for clocks that differ
LIFE_SECONDS = 480  # GitHub refuses more than 600 from its own time
SIGNING_SECONDS = 10.0
PATIENCE_SECONDS = 45.0  # in addition to the time of the command itself


def is_app_key(text: str) -> bool:
    """Whether the credential is an App's private key; otherwise it is a token."""
    return text.startswith("-----BEGIN ")


def installation_token(settings: Settings, key: Path) -> str:
    """Returns a token of the App's installation on the repository. Raises GithubFailed."""
    github = Github(settings.api, statement(settings.app_id, key, int(time.time())), PATIENCE_SECONDS)
    owner_and_name = settings.repository
    wanted = {"repositories": [owner_and_name.partition("/")[2]], "permissions": PERMISSIONS}
    try:
        number = int(github.call("GET", f"/repos/{owner_and_name}/installation")["id"])
        token = github.call("POST", f"/app/installations/{number}/access_tokens", wanted)["token"]
    except NoSuchAnswer as error:
        raise GithubFailed(_advice(error, settings)) from None
    if not isinstance(token, str) or not re.fullmatch(r"[!-~]{20,4000}", token):
        raise GithubFailed("GitHub's answer holds no installation token; start it again")
    return token


def statement(app_id: str, key: Path, now: int) -> str:
    """Returns the JSON Web Token that authenticates the App. Raises GithubFailed if the key does not sign."""
    claims = {"iat": now - DRIFT_SECONDS, "exp": now + LIFE_SECONDS, "iss": app_id}
    text = f"{_encoded({'alg': 'RS256', 'typ': 'JWT'})}.{_encoded(claims)}"
    try:
        done = subprocess.run(
            [OPENSSL, "dgst", "-sha256", "-sign", str(key)],
            input=text.encode(),
            capture_output=True,
            check=False,
            timeout=SIGNING_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GithubFailed(f"{OPENSSL} could not sign ({type(error).__name__}); run provision.sh again") from None
    if done.returncode != 0:  # the output of openssl may quote the key
        raise GithubFailed("the App's private key does not sign; download a new one and give it with --app-key-file")
    return f"{text}.{_base64(done.stdout)}"


def _encoded(document: dict[str, object]) -> str:
    return _base64(json.dumps(document, separators=(",", ":")).encode())


def _base64(text: bytes) -> str:
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def _advice(error: NoSuchAnswer, settings: Settings) -> str:
    if error.status == 401:
        hint = (
            "are --app-id and --app-key-file of one App, is its key still listed there, is this machine's clock right?"
        )
        return f"GitHub does not accept the App {settings.app_id} ({error}): {hint}"
    if error.status == 404:
        return f"the App {settings.app_id} is not installed on {settings.repository} ({error}): install it there"
    hint = "give it the permissions Administration: write and Actions: read, and accept them where it is installed"
    return f"the App {settings.app_id} may not do that ({error}): {hint}"
