"""The container engine through its command line: the only module that runs `docker`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pushbench.machine.commands import CommandFailed, CommandTimedOut, answer

ANSWER_SECONDS = 10.0  # a running engine answers within one
MODEL = "model"
"""the name of the project in models; it is not used elsewhere"""
COMMAND_SECONDS = 120.0  # to start a container on a busy machine
TRANSFER_SECONDS = 600.0  # to pull or load an image: 1 GB at 2 MB/s


class EngineFailed(Exception):
    """The engine failed; the message is the engine's own (one line)."""


class EngineTimedOut(EngineFailed):
    """The engine did not answer in time."""


@dataclass(frozen=True)
class State:
    """The state of a container that was started."""

    pid: int
    """of its first process, in this machine's numbering; 0 once it has ended"""
    running: bool
    exit_code: int
    out_of_memory: bool
    address: str
    """in its network; empty once the container has ended"""


@dataclass(frozen=True)
class Engine:
    """A container engine that answers."""

    program: str
    version: str

    @classmethod
    def find(cls) -> Engine | None:
        """The engine of this machine; None if there is no `docker`, or if it does not answer."""
        program = shutil.which("docker")
        if program is None:
            return None
        try:
            version = _run([program, "version", "--format", "{{.Server.Version}}"], ANSWER_SECONDS).strip()
        except EngineFailed:
            return None
        return cls(program, version) if version else None

    def run(self, *arguments: str, seconds: float = COMMAND_SECONDS) -> str:
        """Run `docker` and return its output. Raises EngineFailed, and EngineTimedOut after the given seconds."""
        return _run([self.program, *arguments], seconds)

    def compose(self, files: Sequence[str], project: str, *arguments: str) -> str:
        """Run `docker compose` without the variables of this process's environment that a file could read. Raises
        EngineFailed.
        """
        named = [argument for file in files for argument in ("--file", file)]
        needed = [name for name in os.environ if name in ("PATH", "HOME") or name.startswith("DOCKER_")]
        own = {name: os.environ[name] for name in needed}
        command = [self.program, "compose", "--project-name", project, "--progress", "quiet", *named, *arguments]
        return _run(command, COMMAND_SECONDS, own)

    def compose_model(self, file: Path, folder: Path) -> dict[str, Any]:
        """The model that `docker compose` resolves from a file whose paths are relative to `folder`. It reads no `.env`
        and no credentials. Raises EngineFailed.
        """
        own = {name: os.environ[name] for name in ("PATH", "HOME", "DOCKER_CONFIG") if name in os.environ}
        places = ("--project-name", MODEL, "--env-file", os.devnull, "--project-directory", str(folder))
        command = [self.program, "compose", *places, "--file", str(file), "config", "--format", "json"]
        found: dict[str, Any] = json.loads(_run(command, COMMAND_SECONDS, own))
        return found

    def image(self, reference: str) -> str | None:
        """The id of a local image, `sha256:...`; None if no image has that name."""
        try:
            return self.run("image", "inspect", "--format", "{{.Id}}", reference).strip() or None
        except EngineFailed:
            return None

    def tags(self) -> dict[str, str]:
        """The id of each local image by its names; an image without a name is listed by its id."""
        listed = self.run("image", "ls", "--no-trunc", "--format", "{{.Repository}}:{{.Tag}} {{.ID}}").splitlines()
        pairs = [line.split(" ", 1) for line in listed if line]
        return {identity if "<none>" in name else name: identity for name, identity in pairs}

    def state(self, container: str) -> State:
        """The state of a container. Raises EngineFailed if there is no such container."""
        [found] = self._inspect(container)
        state, networks = found["State"], found["NetworkSettings"]["Networks"]
        return State(
            pid=state["Pid"],
            running=state["Running"],
            exit_code=state["ExitCode"],
            out_of_memory=state["OOMKilled"],
            address=next((network["IPAddress"] for network in networks.values() if network["IPAddress"]), ""),
        )

    def labelled(self, label: str) -> dict[str, str]:
        """The containers with a label, running or not: the label's value by the container's id."""
        found = self.run("ps", "--all", "--no-trunc", "--filter", f"label={label}", "--format", "{{.ID}}").split()
        return {each["Id"]: each["Config"]["Labels"][label] for each in self._inspect(*found)} if found else {}

    def logs(self, container: str, *options: str) -> bytes:
        """The kept part of a container's standard output and error. Raises EngineFailed."""
        done = _done([self.program, "container", "logs", *options, container], COMMAND_SECONDS)
        return done.stdout + done.stderr

    def _inspect(self, *containers: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.run("container", "inspect", *containers))
        return found


def _run(command: Sequence[str], seconds: float, environment: Mapping[str, str] | None = None) -> str:
    return _done(command, seconds, environment).stdout.decode()


def _done(
    command: Sequence[str], seconds: float, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    try:
        return answer(command, seconds, named=" ".join(command[1:3]), environment=environment)
    except CommandTimedOut as error:
        raise EngineTimedOut(str(error)) from None
    except CommandFailed as error:
        raise EngineFailed(str(error)) from None
