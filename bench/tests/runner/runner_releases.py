"""Releases of the Actions runner on GitHub, and the check for a newer one."""

from __future__ import annotations

import contextlib
import hashlib
import io
import platform
import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import runner_renewal
from tests.runner.runner_double import Answer, Api, Done, write_settings

LIST = "GET /repos/actions/runner/releases"
ARCH = runner_renewal.ARCHITECTURES.get(platform.machine(), platform.machine())
NOW = datetime.now(UTC)
FILES = {"run.sh": b"#!/bin/sh\n", "bin/Runner.Listener": b"listener", "bin/Runner.Worker": b"worker"}


def entry(name: str, **change: Any) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.mode = 0o755
    for key, value in change.items():
        setattr(member, key, value)
    return member


def archive(*more: tarfile.TarInfo, without: str = "") -> bytes:
    """A release as GitHub packs it: paths that begin with `./`, and links such as those of npm."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        tar.addfile(entry("./", type=tarfile.DIRTYPE))
        for name, text in FILES.items():
            if name != without:
                tar.addfile(entry(f"./{name}", size=len(text)), io.BytesIO(text))
        tar.addfile(entry("./bin/npm", type=tarfile.SYMTYPE, linkname="../lib/npm-cli.js"))
        for member in more:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    return file.getvalue()


def name_of(version: str) -> str:
    return f"actions-runner-linux-{ARCH}-{version}.tar.gz"


def release(version: str, content: bytes, days: float, **change: Any) -> dict[str, Any]:
    """A release as https://docs.github.com/rest/releases/releases lists it."""
    asset = {
        "name": name_of(version),
        "state": "uploaded",
        "size": len(content),
        "digest": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "browser_download_url": "https://evil.example/never-used",
    }
    published = (NOW - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
    asset |= {key.removeprefix("asset_"): value for key, value in change.items() if key.startswith("asset_")}
    own = {key: value for key, value in change.items() if not key.startswith("asset_")}
    of_release = {"tag_name": f"v{version}", "draft": False, "prerelease": False, "published_at": published}
    return {**of_release, "assets": [asset], **own}


def offered(api: Api, version: str, content: bytes, *answers: Answer, **change: Any) -> None:
    """Offer a newest release, whose address redirects to its file in GitHub's file storage."""
    api.answers[LIST] = [(200, [release("2.338.0", b"-", 40), release(version, content, 10, **change)])]
    address = f"/actions/runner/releases/download/v{version}/{name_of(version)}"
    redirect: Answer = (302, None, {"Location": f"{api.address}/files/1?signature=2"})
    api.answers[f"GET {address}"] = [redirect]
    api.answers["GET /files/1"] = list(answers or [(200, content)])


def renew(api: Api, folder: Path, current: str = "2.338.0") -> Done:
    for name in ("state", "offer"):
        (folder / name).mkdir(exist_ok=True)
    if not (folder / "state" / "version").exists():
        (folder / "state" / "version").write_text(f"{current} {'0' * 64}\n")
    settings = write_settings(api, folder, server=api.address)
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = runner_renewal.main(settings, folder / "state", folder / "offer")
    return Done(code, out.getvalue(), error.getvalue())
