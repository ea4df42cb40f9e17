"""A server from another repository, copied into this checkout as commits, so that it is handled like our own."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pushbench.catalog.servers import read_servers
from pushbench.ci.fetching import fetch, has
from pushbench.ci.plan import OF_ANOTHER, Plan
from pushbench.ci.steps import Settings, Step
from pushbench.foundation.errors import UserError
from pushbench.foundation.git import Answer, git
from pushbench.foundation.project import Project
from pushbench.foundation.trees import content_at, resolve
from pushbench.foundation.yamlfile import MOST_BYTES, parse_yaml

_SOURCE = re.compile(r"^source:.*\n?", re.MULTILINE)
LARGEST_SERVER = 64 << 20
"""bytes of sources"""
_AUTHOR = ("-c", "user.name=pushbench", "-c", "user.email=pushbench@localhost", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class Adoption:
    repository: Path
    """a checkout of that repository"""
    folder: str
    """the server's folder in it"""
    profile: str
    base: str = ""
    """a commit to compare with"""


def adopt(project: Project, wanted: Adoption, settings: Settings, token: str = "") -> Plan:
    """Commit the server's folder below servers/, first as it was at the base. Raises UserError.

    `token` is the job's, for the history of a private repository.
    """
    folder = PurePosixPath(wanted.folder)
    if folder.is_absolute() or ".." in folder.parts or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", folder.name):
        raise UserError(
            f"{wanted.folder!r} cannot be a server's folder",
            hint="a path inside the repository that ends with the server's id, such as bench/my-server",
        )
    target = project.servers / folder.name
    if target.exists():
        raise UserError(f"Pushbench has a server {folder.name} of its own", hint="give the folder another name")
    head = resolve(wanted.repository, "HEAD")
    server = _Server(wanted.repository, folder, *_described(wanted.repository, head, folder))
    base = None
    if wanted.base:
        fetch(wanted.repository, [] if has(wanted.repository, wanted.base) else [wanted.base], token)
        parted = git(wanted.repository, "merge-base", resolve(wanted.repository, wanted.base), head).text
        if parted and server.extract(parted, target):
            base = _commit(project.root, target, f"{folder.name} at {parted[:12]}")
    if not server.extract(head, target):
        raise UserError(f"there is no {folder}/server.yml at {head[:12]}", where=str(wanted.repository))
    subject = git(wanted.repository, "log", "-1", "--format=%s").text
    _commit(project.root, target, f"{folder.name} at {head[:12]}: {subject}")
    step = _step(target, wanted.profile, base, settings)
    return Plan(
        event=OF_ANOTHER,
        sha=head,
        base=base,
        pull_request=None,
        untrusted=False,
        driver=settings.driver,
        steps=[step],
        images=step.servers,
        notes=[],
        promises=dict.fromkeys(step.servers, f"{folder}/thresholds.yml"),
    )


def _step(target: Path, profile: str, base: str | None, settings: Settings) -> Step:
    servers = read_servers(target)
    if remote := [server.id for server in servers if server.spec.url]:
        raise UserError(f"{remote[0]} runs elsewhere; the benchmark machine measures only servers that it starts")
    ids, suite = [server.id for server in servers], servers[0].spec.suite
    load = ["--suite", suite, "--servers", ",".join(ids)]
    if base:
        arguments = ["compare", "--base", base, "--profile", settings.compare_profile, *load]
        why = "compared with the merge base of the pull request"
        return Step(kind="compare", arguments=[*arguments, "--max-time", settings.max_time], servers=ids, why=why)
    return Step(kind="run", arguments=["run", "--profile", profile, *load], servers=ids, why="by the limits")


@dataclass(frozen=True)
class _Server:
    """A server's folder in a repository, and its sources, which may be above it."""

    repository: Path
    folder: PurePosixPath
    described: str = ""
    """the commit whose description applies, if the description is beside the sources"""
    sources: PurePosixPath | None = None

    def extract(self, sha: str, target: Path) -> bool:
        """Write the server as it was at a commit; False if it did not exist."""
        shutil.rmtree(target, ignore_errors=True)
        if self.sources is None:
            known = git(self.repository, "cat-file", "-e", f"{sha}:{self.folder}/server.yml").ok
            return known and _extract(self.repository, sha, self.folder, target)
        if not _extract(self.repository, sha, self.sources, target):
            return False
        _extract(self.repository, self.described, self.folder, target)
        # Lines that accept a regression take effect only if the base does not have them.
        (target / "thresholds.yml").unlink(missing_ok=True)
        promised = content_at(self.repository, sha, f"{self.folder}/thresholds.yml", MOST_BYTES)
        if promised is not None:
            (target / "thresholds.yml").write_text(promised, encoding="utf-8")
        file = target / "server.yml"
        file.write_text(_SOURCE.sub("", file.read_text(encoding="utf-8")), encoding="utf-8")
        return True


def _described(repository: Path, sha: str, folder: PurePosixPath) -> tuple[str, PurePosixPath | None]:
    """The commit and the sources of a separate description. Raises UserError for sources outside of the repository."""
    text = content_at(repository, sha, f"{folder}/server.yml", MOST_BYTES)
    found = parse_yaml(text, Path(f"{folder}/server.yml")).data if text else None
    source = found.get("source") if isinstance(found, dict) else None
    if source is None:
        return "", None
    above = list(folder.parents)
    steps = str(source).split("/")
    if set(steps) != {".."} or len(steps) > len(above) or not _SOURCE.search(text or ""):
        raise UserError(f"source: {source} is not above {folder} in its repository", where=f"{folder}/server.yml")
    return sha, above[len(steps) - 1]


def _extract(repository: Path, sha: str, folder: PurePosixPath, target: Path) -> bool:
    """Write a folder's files as of a commit over the existing ones; False if the commit has no such folder."""
    tree = f"{sha}:" if folder == PurePosixPath() else f"{sha}:{folder}"
    if git(repository, "cat-file", "-t", tree).text != "tree":
        return False
    command = ["git", "archive", "--format=tar", tree]
    with subprocess.Popen(command, cwd=repository, stdout=subprocess.PIPE) as process:
        assert process.stdout
        content = process.stdout.read(LARGEST_SERVER + 1)
        if len(content) > LARGEST_SERVER:
            process.kill()
            raise UserError(f"{folder} has more than {LARGEST_SERVER:,} bytes of sources", where=str(repository))
    target.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            archive.extractall(target, filter="data")  # rejects links and paths that lead out of it
    except tarfile.TarError as error:
        raise UserError(f"{folder} has a file that cannot be copied: {error}", where=str(repository)) from None
    return True


def _commit(root: Path, target: Path, subject: str) -> str:
    _require(git(root, "add", "--force", "--all", "--", str(target)))
    _require(git(root, *_AUTHOR, "commit", "--quiet", "--no-verify", "--allow-empty", "-m", subject))
    return _require(git(root, "rev-parse", "HEAD")).text


def _require(answer: Answer) -> Answer:
    if not answer.ok:
        raise UserError(f"git failed: {answer.error or answer.code}")
    return answer
