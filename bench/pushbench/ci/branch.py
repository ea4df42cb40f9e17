"""A branch with data, such as gh-pages. Several writers may add to it at the same time without losses."""

from __future__ import annotations

import base64
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pushbench.foundation.errors import UserError
from pushbench.foundation.git import Answer, git

TRIES = 30
LONGEST_WAIT_SECONDS = 8.0
AUTHOR = ("github-actions[bot]", "41898282+github-actions[bot]@users.noreply.github.com")


@dataclass(frozen=True)
class Branch:
    """`name` in the repository at `url`. git gets the token in its environment, so no list of processes shows it."""

    url: str
    name: str
    token: str = ""

    def __repr__(self) -> str:
        return f"Branch({self.url!r}, {self.name!r})"

    def fetch(self, folder: Path) -> bool:
        """Write its newest files into the empty `folder`; False if the branch does not exist. Raises UserError."""
        _require(git(folder, "init", "--quiet"), "init")
        return self._check_out(folder)

    def fetch_tags(self, folder: Path) -> bool:
        """Fetch the repository's tags into the empty `folder`, with their commits but without files; return whether
        that succeeded.
        """
        listed = self._git(folder, "ls-remote", "--tags", self.url)
        if not listed.ok or not listed.text:
            return listed.ok
        wanted = ["--no-tags", "--depth", "1", "--filter", "tree:0", self.url, "+refs/tags/*:refs/tags/*"]
        return git(folder, "init", "--quiet", "--bare").ok and self._git(folder, "fetch", "--quiet", *wanted).ok

    def append(
        self,
        change: Callable[[Path], object],
        subject: str,
        *,
        sleep: Callable[[float], None] = time.sleep,
        note: Callable[[str], None] = lambda _: None,
    ) -> str:
        """Apply `change` to the newest files of the branch, commit the result and push it; returns the commit's hash.

        The first of several pushes wins, and the others are repeated on top of it, so `change` may be called several
        times. Raises UserError.
        """
        folder = Path(tempfile.mkdtemp(prefix="pushbench-"))
        try:
            _require(git(folder, "init", "--quiet"), "init")
            for attempt in range(1, TRIES + 1):
                if not self._check_out(folder):
                    _require(git(folder, "checkout", "--quiet", "--orphan", f"new-{attempt}"), "checkout")
                    git(folder, "rm", "-rf", "--quiet", ".")
                change(folder)
                _require(git(folder, "add", "--all", "--force"), "add")
                if git(folder, "diff", "--cached", "--quiet").ok:
                    return git(folder, "rev-parse", "HEAD").text
                _require(git(folder, "commit", "--quiet", "--no-verify", "-m", subject, environment=_AUTHOR), "commit")
                pushed = self._git(folder, "push", "--quiet", self.url, f"HEAD:refs/heads/{self.name}")
                if pushed.ok:
                    return git(folder, "rev-parse", "HEAD").text
                if not _overtaken(pushed):
                    raise UserError(f"{self.name} cannot be pushed to: {pushed.error}", where=self.url)
                note(f"{self.name}: another push was first, trying again ({attempt})")
                sleep(secrets.SystemRandom().uniform(0, min(LONGEST_WAIT_SECONDS, 0.2 * 2**attempt)))
            raise UserError(f"{self.name}: other pushes were first {TRIES} times", where=self.url, hint="run it again")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _check_out(self, folder: Path) -> bool:
        listed = _require(self._git(folder, "ls-remote", "--heads", self.url, f"refs/heads/{self.name}"), "ls-remote")
        if not listed.text:
            return False
        fetch = self._git(folder, "fetch", "--quiet", "--depth", "1", self.url, f"refs/heads/{self.name}")
        _require(fetch, "fetch")
        _require(git(folder, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"), "checkout")
        _require(git(folder, "clean", "--quiet", "-ffdx"), "clean")
        return True

    def _git(self, folder: Path, *arguments: str) -> Answer:
        return git(folder, *arguments, environment={"GIT_TERMINAL_PROMPT": "0", **credentials(self.url, self.token)})


_AUTHOR = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in zip(("NAME", "EMAIL"), AUTHOR, strict=True)
}


def credentials(url: str, token: str) -> Mapping[str, str]:
    """Variables with which git sends the token only to `url`; it is in no argument and no file."""
    parts = urlsplit(url)
    if not token or parts.scheme != "https":
        return {}
    header = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{parts.scheme}://{parts.netloc}/.extraheader",
        "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {header}",
    }


def _overtaken(pushed: Answer) -> bool:
    """Whether the push failed because the branch has moved since the fetch, or is moving now."""
    signs = (
        "[rejected]",
        "non-fast-forward",
        "fetch first",
        "cannot lock ref",
        "failed to update ref",
        "reference already",
    )
    return any(sign in pushed.error for sign in signs)


def _require(answer: Answer, what: str) -> Answer:
    if not answer.ok:
        raise UserError(f"git {what} failed: {answer.error or answer.code}")
    return answer
