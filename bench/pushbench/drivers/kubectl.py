"""Access to a Kubernetes cluster through its command line: the only module that runs `kubectl`."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pushbench.foundation.errors import UserError
from pushbench.machine import processes
from pushbench.machine.commands import CommandFailed, answer
from pushbench.machine.ownership import OWNER, owner_marker
from pushbench.machine.processes import Program

NOT_FOUND = "(NotFound)"
PATIENCE_SECONDS = 60.0  # while a control plane restarts, or until a lost node counts as gone
COMMAND_SECONDS = 60.0  # for an API server that answers
DIGEST = "digest:"
"""the prefix of a context in a record"""


class KubectlFailed(Exception):
    """kubectl failed; the message is kubectl's own (one line)."""


@dataclass(frozen=True)
class Kubectl:
    """kubectl with a context, and optionally with a namespace."""

    program: str
    options: Sequence[str] = ()

    @classmethod
    def find(cls, context: str | None) -> Kubectl:
        """kubectl with the context, which may be in the form that records keep. Raises UserError if there is none."""
        program = shutil.which("kubectl")
        if program is None:
            raise UserError("--driver kubernetes needs kubectl, which is not on the PATH")
        plain = cls(program)
        if context and context.startswith(DIGEST):
            context = plain._named(context)
        return cls(program, ["--context", context]) if context else plain

    def _named(self, digest: str) -> str:
        try:
            names = self.run("config", "get-contexts", "--output=name").splitlines()
        except KubectlFailed as error:
            raise UserError(f"the contexts of kubectl cannot be read: {error}") from None
        if found := [name for name in names if digest_of(name) == digest]:
            return found[0]
        raise UserError(
            f"--context: kubectl has no context with the {digest.replace(':', ' ')}",
            hint="name one; `kubectl config get-contexts` lists them",
        )

    def within(self, namespace: str) -> Kubectl:
        return Kubectl(self.program, [*self.options, "--namespace", namespace])

    def run(self, *arguments: str, given: object = None, seconds: float = COMMAND_SECONDS) -> str:
        """Run kubectl, with `given` as JSON on its input, and return its output. Raises KubectlFailed."""
        command = [self.program, *self.options, *arguments]
        content = None if given is None else json.dumps(given).encode()
        try:
            done = answer(command, seconds, named=f"kubectl {' '.join(arguments[:2])}", given=content)
        except CommandFailed as error:
            raise KubectlFailed(str(error)) from None
        return done.stdout.decode(errors="replace")

    def patiently(self, *arguments: str) -> str:
        """As `run`, repeated while the cluster does not answer. Raises KubectlFailed after a time limit."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self.run(*arguments)
            except KubectlFailed as error:
                if time.monotonic() > deadline or NOT_FOUND in str(error):
                    raise
            time.sleep(1.0)

    def get(self, *arguments: str) -> Any:
        return json.loads(self.run("get", "--output", "json", *arguments))

    def apply(self, objects: Sequence[Mapping[str, object]]) -> None:
        self.run("apply", "--filename", "-", given={"apiVersion": "v1", "kind": "List", "items": list(objects)})

    def start(self, *arguments: str, log: Path) -> Program:
        """Start kubectl in the background, with its output in `log`. Raises KubectlFailed."""
        try:
            return processes.start(
                [self.program, *self.options, *arguments],
                folder=log.parent,
                environment={**os.environ, OWNER: owner_marker()},
                cpus=os.sched_getaffinity(0),
                log=log,
            )
        except OSError as error:
            raise KubectlFailed(f"{self.program}: {error.strerror}") from None


def digest_of(context: str) -> str:
    """The form of a context that records keep: its name may contain an account number. Eight digits tell the contexts
    of one machine apart, and are shared by hundreds of accounts with twelve digits.
    """
    return context if context.startswith(DIGEST) else DIGEST + sha256(context.encode()).hexdigest()[:8]
