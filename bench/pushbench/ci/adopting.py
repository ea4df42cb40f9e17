"""A server of another repository, copied into this checkout as commits, so that everything works as for our own."""

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
from pushbench.ci.plan import Plan
from pushbench.ci.steps import Settings, Step
from pushbench.foundation.errors import UserError
from pushbench.foundation.git import Answer, git
from pushbench.foundation.project import Project
from pushbench.foundation.trees import resolve

LARGEST_SERVER = 64 << 20
"""bytes of sources"""
_AUTHOR = ("-c", "user.name=pushbench", "-c", "user.email=pushbench@localhost", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class Adoption:
    repository: Path
    """a checkout of it"""
    folder: str
    """of the server in it"""
    profile: str
    base: str = ""
    """a commit to compare with"""


def adopt(project: Project, wanted: Adoption, settings: Settings, token: str = "") -> Plan:
    """Commit the server's folder below servers/, as it was at the base first. Raises UserError.

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
    base = None
    if wanted.base:
        fetch(wanted.repository, [] if has(wanted.repository, wanted.base) else [wanted.base], token)
        parted = git(wanted.repository, "merge-base", resolve(wanted.repository, wanted.base), head).text
        if parted and _extract(wanted.repository, parted, folder, target):
            base = _commit(project.root, target, f"{folder.name} at {parted[:12]}")
    if not _extract(wanted.repository, head, folder, target):
        raise UserError(f"there is no {folder}/server.yml at {head[:12]}", where=str(wanted.repository))
    subject = git(wanted.repository, "log", "-1", "--format=%s").text
    _commit(project.root, target, f"{folder.name} at {head[:12]}: {subject}")
    step = _step(target, wanted.profile, base, settings)
    return Plan(
        event="workflow_call",
        sha=head,
        base=base,
        pull_request=None,
        untrusted=False,
        driver=settings.driver,
        steps=[step],
        images=step.servers,
        notes=[],
    )


def _step(target: Path, profile: str, base: str | None, settings: Settings) -> Step:
    servers = read_servers(target)
    if remote := [server.id for server in servers if server.spec.url]:
        raise UserError(f"{remote[0]} runs elsewhere; the benchmark machine measures only servers that it starts")
    ids, suite = [server.id for server in servers], servers[0].spec.suite
    load = ["--suite", suite, "--servers", ",".join(ids)]
    if base:
        arguments = ["compare", "--base", base, "--profile", settings.compare_profile, *load]
        why = "compared with where the pull request parted"
        return Step(kind="compare", arguments=[*arguments, "--max-time", settings.max_time], servers=ids, why=why)
    return Step(kind="run", arguments=["run", "--profile", profile, *load], servers=ids, why="by the limits")


def _extract(repository: Path, sha: str, folder: PurePosixPath, target: Path) -> bool:
    """Write the folder as it was at a commit; False where it has no server.yml."""
    if not git(repository, "cat-file", "-e", f"{sha}:{folder}/server.yml").ok:
        return False
    command = ["git", "archive", "--format=tar", f"{sha}:{folder}"]
    with subprocess.Popen(command, cwd=repository, stdout=subprocess.PIPE) as process:
        assert process.stdout
        content = process.stdout.read(LARGEST_SERVER + 1)
        if len(content) > LARGEST_SERVER:
            process.kill()
            raise UserError(f"{folder} has more than {LARGEST_SERVER:,} bytes of sources", where=str(repository))
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            archive.extractall(target, filter="data")  # no link and no path that leads out of it
    except tarfile.TarError as error:
        raise UserError(f"{folder} has a file that cannot be taken over: {error}", where=str(repository)) from None
    return True


def _commit(root: Path, target: Path, subject: str) -> str:
    _require(git(root, "add", "--force", "--all", "--", str(target)))
    _require(git(root, *_AUTHOR, "commit", "--quiet", "--no-verify", "--allow-empty", "-m", subject))
    return _require(git(root, "rev-parse", "HEAD")).text


def _require(answer: Answer) -> Answer:
    if not answer.ok:
        raise UserError(f"git failed: {answer.error or answer.code}")
    return answer
