"""A forge in a folder: a bare repository, the artifacts of jobs, and act to run the workflows on this machine.

The doubles in doubles/ replace third-party actions, at the exact commits that the workflows pin.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.workflows.small_suite import shorten_profiles

ROOT = Path(__file__).parents[3]
DOUBLES = Path(__file__).parent / "doubles"
ACT = ["go", "run", "github.com/nektos/act@v0.2.89"]
REPOSITORY = "acme/pushbench"
OWN = {"full_name": REPOSITORY, "default_branch": "main", "fork": False}
"""the repository in every event of GitHub"""
KEPT_SERVERS = ("go", "node-ws")
"""each is built in at most 3 s, and every job builds it anew"""
SHARED = ("venv", "k6", "pages")
"""folders below .cache/pushbench that an earlier measurement leaves; no measured server changes them"""
LONGEST_SECONDS = 900
VARIABLES = {
    "PUSHBENCH_PUSH_PROFILE": "smoke",
    "PUSHBENCH_CHECK_PROFILE": "smoke",
    "PUSHBENCH_MAX_TIME": "3m",
    "PUSHBENCH_DRIVER": "process",
    "PUSHBENCH_CAPACITY_TIME": "0",
}
USES = re.compile(r"uses: ([\w.-]+/([\w.-]+)@[0-9a-f]{40})")


@dataclass(frozen=True)
class Played:
    """The result of a workflow run."""

    passed: bool
    output: str

    def jobs(self) -> set[str]:
        """The names of the jobs that ran a step."""
        return {found[1].strip() for found in re.finditer(r"(?m)^\[[\w-]+/([\w-]+)\s*\] .*Run Main", self.output)}


class Forge:
    def __init__(
        self, folder: Path, kept: Sequence[str] = KEPT_SERVERS, change: Callable[[Path], object] = lambda _: None
    ) -> None:
        """`change` is applied to the checkout, as the last commit of main."""
        self.folder = folder
        self.origin = folder / "origin.git"
        self.work = folder / "work"
        _run(folder, "git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(self.work))
        _git(self.work, "checkout", "--quiet", "-B", "main")
        for server in (self.work / "servers").iterdir():
            if server.name not in kept:
                shutil.rmtree(server)
        shorten_profiles(self.work)
        change(self.work)
        self._commit("Keep few servers and short profiles: tests have little time")
        _run(folder, "git", "clone", "--quiet", "--bare", str(self.work), str(self.origin))
        _git(self.work, "remote", "set-url", "origin", str(self.origin))
        self._share_cache()

    def head(self, ref: str = "main") -> str:
        return _git(self.origin, "rev-parse", ref)

    def files(self, branch: str) -> list[str]:
        return _git(self.origin, "ls-tree", "-r", "--name-only", branch).splitlines()

    def read(self, branch: str, path: str) -> str:
        return _git(self.origin, "show", f"{branch}:{path}")

    def pull_request(self, change: Callable[[Path], object], subject: str) -> dict[str, Any]:
        """The payload of a pull request whose only commit is `change`."""
        _git(self.work, "checkout", "--quiet", "-B", "change", "main")
        change(self.work)
        self._commit(subject)
        _git(self.work, "push", "--quiet", "--force", "origin", "change", "change:refs/pull/7/head")
        repo = {"full_name": REPOSITORY}
        return {
            "action": "synchronize",
            "number": 7,
            "pull_request": {
                "number": 7,
                "title": subject,
                "user": {"login": "octocat"},
                "head": {"ref": "change", "sha": self.head("change"), "repo": repo},
                "base": {"ref": "main", "sha": self.head(), "repo": repo},
                "labels": [],
            },
        }

    def act(
        self,
        event: str,
        payload: Mapping[str, object],
        workflow: str,
        variables: Mapping[str, str] = VARIABLES,
        at: str = "main",
        **environment: str,
    ) -> Played:
        """Run the workflow as it is on the branch `at`. act also uses this branch as the commit of the event."""
        _git(self.work, "checkout", "--quiet", at)
        file = self.folder / "event.json"
        file.write_text(json.dumps({"repository": OWN, **payload}))
        command = [*ACT, event, "--eventpath", str(file), "--workflows", f".github/workflows/{workflow}"]
        command += ["--platform", "ubuntu-24.04=-self-hosted", "--platform", "self-hosted=-self-hosted"]
        command += [
            "--no-cache-server",
            "--action-offline-mode",
            "--no-skip-checkout",
            "--defaultbranch",
            "main",
            "--concurrent-jobs",
            "1",
        ]
        command += [part for name, path in _replaced() for part in ("--local-repository", f"{name}={path}")]
        command += [part for pair in variables.items() for part in ("--var", "=".join(pair))]
        own = {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_TRIGGERING_ACTOR": "octocat"}  # which act does not set
        environment = {"DOUBLES": str(self.folder), **own, **environment}
        command += [part for pair in environment.items() for part in ("--env", "=".join(pair))]
        command += ["--secret", "GITHUB_TOKEN=ghs_double"]
        done = subprocess.run(
            command,
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )
        return Played(done.returncode == 0, done.stdout)

    def has_artifact(self, name: str) -> bool:
        return (self.folder / "artifacts" / f"{name}.zip").exists()

    def artifact(self, name: str) -> bytes:
        return (self.folder / "artifacts" / f"{name}.zip").read_bytes()

    def forget(self) -> None:
        """Remove the artifacts that jobs uploaded."""
        shutil.rmtree(self.folder / "artifacts", ignore_errors=True)

    def _share_cache(self) -> None:
        """Let the forges of a test session, whose folders are siblings, share one copy of this checkout's cache."""
        shared, own = self.folder.parent / "shared-cache", self.folder / "cache" / "pushbench"
        own.mkdir(parents=True)
        for name in SHARED:
            source = ROOT / ".cache" / "pushbench" / name
            if source.exists() and not (shared / name).exists():
                shutil.copytree(source, shared / name, symlinks=True)
            (shared / name).mkdir(parents=True, exist_ok=True)
            (own / name).symlink_to(shared / name)

    def _commit(self, subject: str) -> None:
        _git(self.work, "add", "--all")
        _git(self.work, "commit", "--quiet", "-m", subject)


def _replaced() -> Iterator[tuple[str, Path]]:
    """Each action that the workflows pin, and its double."""
    files = [*(ROOT / ".github" / "workflows").glob("*.yml"), *(ROOT / ".github" / "actions").glob("*/action.yml")]
    for name, action in sorted({found.groups() for file in files for found in USES.finditer(file.read_text())}):
        yield name, DOUBLES / action


def _git(folder: Path, *arguments: str) -> str:
    return _run(folder, "git", "-c", "user.name=test", "-c", "user.email=test@localhost", *arguments)


def _run(folder: Path, *command: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout.strip()
