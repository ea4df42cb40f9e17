"""Unpacks an archive of the Actions runner, whole or not at all, and replaces the previous one with it.

    runner_unpack.py unpack ARCHIVE FOLDER    FOLDER must not exist yet
    runner_unpack.py take OFFER STATE         OFFER/offer and OFFER/runner.tar.gz become STATE/dist, if they agree

Runs as root, without a network. A program with fewer rights (runner_renewal.py) fetched its input, so it trusts
none of it: it copies the archive, compares the copy's SHA-256 with the offer's, and checks every path before it writes
the first. Standard library only.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import sys
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

NEEDED = ("run.sh", "bin/Runner.Listener", "bin/Runner.Worker")
# A release has some 200 MB, 700 MB unpacked, in 10,000 files.
MOST_ARCHIVE_BYTES = 1024**3
MOST_UNPACKED_BYTES = 4 * 1024**3
MOST_MEMBERS = 200_000
CHUNK = 1024**2

Version = tuple[int, ...]


class BadArchive(Exception):
    """One sentence: what is wrong with an archive or an offer."""


def parse_version(text: str) -> Version | None:
    """The numbers of `2.338.0`; None for anything else."""
    found = re.fullmatch(r"([0-9]{1,6})\.([0-9]{1,6})\.([0-9]{1,6})", text)
    return tuple(map(int, found.groups())) if found else None


def shown(version: Version) -> str:
    return ".".join(map(str, version))


def installed(state: Path) -> Version:
    """Returns the version in STATE/version. Raises BadArchive if there is none."""
    try:
        version = parse_version(((state / "version").read_text().split() or [""])[0])
    except (OSError, UnicodeDecodeError):
        version = None
    if version is None:
        raise BadArchive(f"{state / 'version'} names no Actions runner; run provision.sh again")
    return version


def unpack(archive: Path, folder: Path) -> None:
    """Unpacks the archive. Raises BadArchive before it writes if a path leads out, OSError if writing fails."""
    try:
        with tarfile.open(archive, "r:gz") as tar:
            members = check(tar)
            _folder(folder)
            for path, member in members:
                _write(tar, member, folder, folder / path)
    except (tarfile.TarError, EOFError, zlib.error, UnicodeError, ValueError, OverflowError) as error:
        raise BadArchive(f"the archive cannot be read ({type(error).__name__}: {error})") from None


def check(tar: tarfile.TarFile) -> list[tuple[PurePosixPath, tarfile.TarInfo]]:
    """Returns the members in their order. Raises BadArchive for one that a release of the runner never has."""
    members: list[tuple[PurePosixPath, tarfile.TarInfo]] = []
    kinds: dict[PurePosixPath, bytes] = {}
    size = 0
    for member in tar:
        path = _inside(member.name)
        size += member.size
        if len(members) >= MOST_MEMBERS or size > MOST_UNPACKED_BYTES:
            raise BadArchive(f"the archive unpacks to more than {MOST_MEMBERS} files or {MOST_UNPACKED_BYTES} bytes")
        _check_member(path, member, kinds)
        if path.parts:
            kinds[path] = member.type
            members.append((path, member))
    for name in NEEDED:
        if kinds.get(PurePosixPath(name)) not in tarfile.REGULAR_TYPES:
            raise BadArchive(f"the archive holds no {name}")
    return members


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise BadArchive(f"the archive holds {name[:100]!r}, which leads out")
    return path


def _check_member(path: PurePosixPath, member: tarfile.TarInfo, kinds: dict[PurePosixPath, bytes]) -> None:
    shown_path = repr(member.name[:100])
    if any(kinds.get(parent, tarfile.DIRTYPE) != tarfile.DIRTYPE for parent in path.parents):
        raise BadArchive(f"the archive holds {shown_path} below something that is no folder")
    if path in kinds and not (member.isdir() and kinds[path] == tarfile.DIRTYPE):
        raise BadArchive(f"the archive holds {shown_path} twice")
    if member.issym():
        # Only leading dots: if `folder` is a link, `folder/..` is somewhere else.
        parts = PurePosixPath(member.linkname).parts
        ups = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
        if not parts or parts[0] == "/" or ".." in parts[ups:] or ups >= len(path.parts):
            raise BadArchive(f"the archive holds the link {shown_path}, which leads out")
    elif member.islnk():
        if kinds.get(_inside(member.linkname)) not in tarfile.REGULAR_TYPES:
            raise BadArchive(f"the archive holds the link {shown_path} to nothing before it")
    elif not member.isdir() and member.type not in tarfile.REGULAR_TYPES:
        raise BadArchive(f"the archive holds {shown_path}, which is no file, folder or link")


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, target: Path) -> None:
    for parent in reversed([each for each in target.parents if not each.is_dir()]):
        _folder(parent)
    if member.isdir():
        _folder(target)
    elif member.issym():
        target.symlink_to(member.linkname)
    elif member.islnk():
        target.hardlink_to(folder / PurePosixPath(member.linkname))
    else:
        source = tar.extractfile(member)
        if source is None:
            raise BadArchive(f"the archive's {member.name[:100]!r} cannot be read")
        mode = 0o755 if member.mode & 0o100 else 0o644
        with source, os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            shutil.copyfileobj(source, file, CHUNK)
            os.fchmod(file.fileno(), mode)  # whatever the umask


def _folder(path: Path) -> None:
    path.mkdir(exist_ok=True)
    path.chmod(0o755)


def take(offer: Path, state: Path) -> str:
    """Puts the offered runner in place; returns a line about it. The offer is removed in any case.

    Raises BadArchive if the offer is refused; the present runner then stays.
    """
    try:
        if not (state / "dist").is_dir() and (state / "dist.old").is_dir():
            (state / "dist.old").rename(state / "dist")  # the machine stopped in the middle of a swap
        current = installed(state)
        version, digest = read_offer(offer / "offer")
        if version <= current:
            raise BadArchive(f"Actions runner {shown(version)} is offered, and {shown(current)} is here")
        copied = verified_copy(offer / "runner.tar.gz", state / "runner.tar.gz", digest)
        shutil.rmtree(state / "dist.new", ignore_errors=True)
        unpack(copied, state / "dist.new")
        swap(state)
        _write_version(state, f"{shown(version)} {digest}")
        return f"Actions runner {shown(version)} takes the place of {shown(current)}"
    finally:
        for left in (offer / "offer", offer / "runner.tar.gz", state / "runner.tar.gz"):
            left.unlink(missing_ok=True)
        for folder in ("dist.new", "dist.old"):
            shutil.rmtree(state / folder, ignore_errors=True)


def read_offer(path: Path) -> tuple[Version, str]:
    """Returns version and SHA-256 of an offer. Raises BadArchive unless it is one line with both."""
    with _open(path) as file:
        text = file.read(200)
    found = re.fullmatch(rb"([0-9.]{5,20}) ([0-9a-f]{64})\n", text)
    version = parse_version(found[1].decode()) if found else None
    if found is None or version is None:
        raise BadArchive("the offer of a newer Actions runner is not one")
    return version, found[2].decode()


def verified_copy(source: Path, target: Path, digest: str) -> Path:
    """Returns a copy that its writer cannot reach. Raises BadArchive if its SHA-256 differs."""
    found = hashlib.sha256()
    target.unlink(missing_ok=True)
    with _open(source) as file, os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
        left = MOST_ARCHIVE_BYTES
        while left > 0 and (chunk := file.read(min(CHUNK, left))):
            found.update(chunk)
            copy.write(chunk)
            left -= len(chunk)
    if found.hexdigest() != digest:
        raise BadArchive(f"the archive has the SHA-256 {found.hexdigest()} and not the offered {digest}")
    return target


def swap(state: Path) -> None:
    """Renames dist.new to dist. Until the offer is gone, the next start continues with it, from dist.old if needed."""
    shutil.rmtree(state / "dist.old", ignore_errors=True)
    if (state / "dist").is_dir():
        (state / "dist").rename(state / "dist.old")
    (state / "dist.new").rename(state / "dist")


def _write_version(state: Path, text: str) -> None:
    new = state / "version.new"
    new.write_text(f"{text}\n")
    new.chmod(0o644)
    new.replace(state / "version")


def _open(path: Path) -> IO[bytes]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise BadArchive(f"{path} cannot be read ({error.strerror})") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadArchive(f"{path} is not a file")
    return os.fdopen(descriptor, "rb")


def main(verb: str, first: Path, second: Path) -> int:
    try:
        if verb == "take":
            print(take(first, second))
        else:
            unpack(first, second)
    except (BadArchive, OSError) as error:
        print(f"the Actions runner was not unpacked: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(Path, sys.argv[2:])))
