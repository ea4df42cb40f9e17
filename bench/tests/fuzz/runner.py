"""GitHub's releases as the benchmark machine reads them: the list, an archive of the Actions runner, and an offer."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import tarfile
import tempfile
from pathlib import Path

from runner_renewal import NotRenewed, read_releases
from runner_unpack import NEEDED, BadArchive, read_offer, unpack
from tests.fuzz.target import Target

DIGEST = "0" * 64


def _archive() -> bytes:
    """An uncompressed archive, so that a mutation hits the paths and not the checksum of the compression."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in NEEDED:
            member = tarfile.TarInfo(f"./{name}")
            member.size, member.mode = 4, 0o755
            tar.addfile(member, io.BytesIO(b"file"))
        for kind, name, target in (
            (tarfile.SYMTYPE, "./bin/npm", "../lib/npm.js"),
            (tarfile.LNKTYPE, "./bin/same", "./run.sh"),
            (tarfile.DIRTYPE, "./" + "deep/" * 30, ""),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            tar.addfile(member)
    return file.getvalue()


def _releases() -> bytes:
    asset = {"name": "actions-runner-linux-x64-2.339.0.tar.gz", "state": "uploaded", "size": 5}
    release = {"tag_name": "v2.339.0", "draft": False, "prerelease": False, "published_at": "2026-11-01T00:00:00Z"}
    return json.dumps([{**release, "assets": [{**asset, "digest": f"sha256:{DIGEST}"}]}]).encode()


def unpacks(data: bytes) -> bool:
    """Whether anything was written outside the folder, or a link in it leads outside."""
    with tempfile.TemporaryDirectory() as name:
        base = Path(name).resolve()
        (base / "archive").write_bytes(gzip.compress(data, 1))
        with contextlib.suppress(BadArchive, OSError):
            unpack(base / "archive", base / "folder")
        beside = {path.name for path in base.iterdir()} - {"archive", "folder"}
        links = [path for path in base.rglob("*") if path.is_symlink()]
        return bool(beside) or any(not path.resolve().is_relative_to(base / "folder") for path in links)


def lists(data: bytes) -> bool:
    """Whether a release with an invalid checksum was read."""
    try:
        releases = read_releases(json.loads(data))
    except (NotRenewed, ValueError, RecursionError):
        return False
    return any(len(digest) != 64 for release in releases for _, digest in release.assets.values())


def offers(data: bytes) -> bool:
    """Whether an offer that is not in the only valid form was read."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        try:
            version, digest = read_offer(Path(file.name))
        except BadArchive:
            return False
    return f"{'.'.join(map(str, version))} {digest}\n".encode() != data


TARGETS = (
    Target("archive of the Actions runner", (_archive(),), unpacks),
    Target("releases of the Actions runner", (_releases(),), lists),
    Target("offer of an Actions runner", (f"2.339.0 {DIGEST}\n".encode(),), offers),
)
