"""Fetches the newest Actions runner and offers it to the loop, which takes it between two jobs.

    runner_renewal.py SETTINGS STATE OFFER    looks if the last look is a day old; writes OFFER/offer and the archive

GitHub gives a runner no jobs when it is 30 days older than the next release, and a just-in-time runner never updates
itself. Releases are public, so this has no token: a program that fetches and unpacks untrusted data should have no
secrets. It only offers; root compares once more (runner_unpack.py). A failure here leaves the machine as it is.

Releases: https://docs.github.com/rest/releases/releases. Their assets carry a SHA-256 that GitHub itself computes at
the upload: https://github.blog/changelog/2025-06-03-releases-now-expose-digests-for-release-assets/. Standard library
only.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import platform
import re
import sys
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from runner_api import Github, GithubFailed, NoSuchAnswer
from runner_policy import BadSettings, Settings, read_settings
from runner_unpack import CHUNK, MOST_ARCHIVE_BYTES, BadArchive, Version, check, installed, parse_version, shown

RELEASES = "/repos/actions/runner/releases?per_page=30"
# https://docs.github.com/en/actions/reference/runners/self-hosted-runners#runner-software-updates-on-self-hosted-runners
GRACE = timedelta(days=30)
LOOK_SECONDS = 20 * 3600.0  # the timer fires every six hours, to make up for a failed look
PATIENCE_SECONDS = 120.0
DOWNLOAD_SECONDS = 1200.0
TIMEOUT_SECONDS = 60.0
ARCHITECTURES = {"x86_64": "x64", "aarch64": "arm64"}
# The host of a release's files: https://docs.github.com/en/actions/reference/runners/self-hosted-runners#accessible-domains-by-function
FILES = ".githubusercontent.com"


class NotRenewed(Exception):
    """Why there is no newer runner, in a few words."""


@dataclass(frozen=True)
class Release:
    """A release that is neither a draft nor a trial."""

    version: Version
    published: datetime
    assets: dict[str, tuple[int, str]]
    """size and SHA-256 by name; without files for which GitHub reports no digest"""


def read_releases(document: Any) -> list[Release]:
    """Returns the releases, newest first, without malformed entries. Raises NotRenewed if none is left."""
    found = [release for each in document if (release := _release(each))] if isinstance(document, list) else []
    if not found:
        raise NotRenewed("GitHub lists no release of the Actions runner that this version can read")
    return sorted(found, key=lambda release: release.version, reverse=True)


def _release(document: Any) -> Release | None:
    try:
        version = parse_version(str(document["tag_name"]).removeprefix("v"))
        published = datetime.fromisoformat(document["published_at"].replace("Z", "+00:00")).astimezone(UTC)
        if version is None or document["draft"] is not False or document["prerelease"] is not False:
            return None
        assets = {}
        for asset in document["assets"]:
            digest = re.fullmatch(r"sha256:([0-9a-f]{64})", str(asset["digest"]))
            if digest and asset["state"] == "uploaded":
                assets[str(asset["name"])] = (int(asset["size"]), digest[1])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    return Release(version, published, assets)


def ends(releases: list[Release], current: Version) -> datetime | None:
    """When GitHub stops giving jobs to the current version; None while it is the newest."""
    newer = [release.published for release in releases if release.version > current]
    return min(newer) + GRACE if newer else None


def left(end: datetime | None, looked: datetime | None, now: datetime) -> str:
    """How long the current version still works, as far as that is known."""
    if end is not None:
        days = (end - now).days
        return f"GitHub refuses it in {days} days" if days >= 0 else f"GitHub refuses it since {end:%Y-%m-%d}"
    if looked is not None:
        return f"it was the newest on {looked:%Y-%m-%d}, and GitHub refuses it 30 days after the next release"
    return "GitHub refuses it 30 days after the next release, and no look has succeeded yet"


@dataclass
class Known:
    """The result of the last look, kept in case a later look fails."""

    looked: datetime
    version: Version
    end: datetime | None

    def write(self, path: Path) -> None:
        end = self.end.isoformat() if self.end else None
        text = json.dumps({"looked": self.looked.isoformat(), "version": shown(self.version), "end": end})
        new = path.with_suffix(".new")
        new.write_text(text + "\n")
        new.replace(path)

    @classmethod
    def read(cls, path: Path, version: Version) -> Known | None:
        """Returns what was found about this version."""
        try:
            document = json.loads(path.read_text())
            end = datetime.fromisoformat(document["end"]) if document["end"] else None
            looked = datetime.fromisoformat(document["looked"])
            return cls(looked, version, end) if document["version"] == shown(version) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None


def renew(settings: Settings, current: Version, offer: Path) -> str:
    """Offers the newest release if it is newer; returns a line about it. Raises NotRenewed."""
    github = Github(settings.api, "", PATIENCE_SECONDS)
    try:
        releases = read_releases(github.call("GET", RELEASES))
    except (NoSuchAnswer, GithubFailed) as error:
        raise NotRenewed(str(error)) from None
    known = Known(datetime.now(UTC), current, ends(releases, current))
    newest = releases[0]
    if newest.version <= current:
        known.write(offer / "known.json")
        return f"Actions runner {shown(current)} is the newest"
    machine = ARCHITECTURES.get(platform.machine(), platform.machine())
    name = f"actions-runner-linux-{machine}-{shown(newest.version)}.tar.gz"
    Known(known.looked - timedelta(days=1), current, known.end).write(offer / "known.json")  # the rest may fail
    if name not in newest.assets:
        raise NotRenewed(f"release {shown(newest.version)} tells no SHA-256 of {name}")
    size, digest = newest.assets[name]
    address = f"{settings.server}/actions/runner/releases/download/v{shown(newest.version)}/{name}"
    fetch(address, settings.server, offer / "runner.tar.gz", size, digest)
    new = offer / "offer.new"
    new.write_text(f"{shown(newest.version)} {digest}\n")
    new.replace(offer / "offer")
    known.write(offer / "known.json")
    return f"Actions runner {shown(newest.version)} is here; it takes the place of {shown(current)} before the next job"


def may_lead(server: str, address: str) -> bool:
    """Whether a download may continue at this address: at GitHub itself, or at its hosts for files."""
    there, home = urllib.parse.urlsplit(address), urllib.parse.urlsplit(server)
    if (there.scheme, there.netloc) == (home.scheme, home.netloc):
        return True
    return there.scheme == "https" and there.netloc == there.hostname and there.netloc.endswith(FILES)


class _Redirects(urllib.request.HTTPRedirectHandler):
    max_redirections = 3

    def __init__(self, server: str) -> None:
        self._server = server

    def redirect_request(  # noqa: PLR0917 - the base class's signature
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        if not may_lead(self._server, newurl):
            raise NotRenewed(
                f"the download leads to {urllib.parse.urlsplit(newurl).netloc[:100]!r}, which is not GitHub"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetch(address: str, server: str, target: Path, size: int, digest: str) -> None:
    """Downloads, compares and inspects the archive. Leaves nothing behind if it raises NotRenewed."""
    if not 0 < size <= MOST_ARCHIVE_BYTES:
        raise NotRenewed(f"the archive has {size} bytes, more than {MOST_ARCHIVE_BYTES} or none")
    part = target.with_suffix(".part")
    try:
        found = _download(address, server, part, size)
        if found != digest:
            raise NotRenewed(f"the archive has the SHA-256 {found}, and GitHub's list says {digest}")
        with tarfile.open(part, "r:gz") as tar:
            check(tar)
        part.replace(target)
    except (OSError, http.client.HTTPException) as error:
        code = f" {error.code}" if isinstance(error, urllib.error.HTTPError) else ""
        raise NotRenewed(f"the download failed ({type(error).__name__}{code})") from None
    except (BadArchive, tarfile.TarError, EOFError, zlib.error, ValueError, OverflowError) as error:
        raise NotRenewed(str(error)) from None
    finally:
        part.unlink(missing_ok=True)


def _download(address: str, server: str, part: Path, size: int) -> str:
    """Returns the SHA-256 of the download. Raises NotRenewed if its length differs or it takes too long."""
    opener = urllib.request.build_opener(_Redirects(server))
    headers = {"User-Agent": "pushbench-runner"}
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - from the settings
    deadline, found, got = time.monotonic() + DOWNLOAD_SECONDS, hashlib.sha256(), 0
    with opener.open(request, timeout=TIMEOUT_SECONDS) as answer, part.open("wb") as file:
        while chunk := answer.read(CHUNK):
            got += len(chunk)
            if got > size or time.monotonic() > deadline:
                break
            found.update(chunk)
            file.write(chunk)
    if got != size:
        raise NotRenewed(f"the archive has {got} bytes or more and not {size}, or came too slowly")
    return found.hexdigest()


def main(settings_file: Path, state: Path, offer: Path) -> int:
    try:
        settings, current = read_settings(settings_file), installed(state)
    except (BadSettings, BadArchive) as error:
        print(error, file=sys.stderr)
        return 1
    known = Known.read(offer / "known.json", current)
    if known and timedelta(0) <= datetime.now(UTC) - known.looked < timedelta(seconds=LOOK_SECONDS):
        return 0
    try:
        print(renew(settings, current, offer))
    except (NotRenewed, OSError) as error:  # a full disk, for one
        known = Known.read(offer / "known.json", current)
        good_for = left(known.end if known else None, known.looked if known else None, datetime.now(UTC))
        print(
            f"the Actions runner was not renewed: {error}; this machine goes on with {shown(current)}: {good_for}",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
