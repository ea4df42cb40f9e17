"""A Kubernetes cluster through its command line: the only module that runs `kubectl`."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pushbench.foundation.errors import UserError
from pushbench.machine import processes
from pushbench.machine.commands import CommandFailed, answer
from pushbench.machine.ownership import OWNER, owner_marker
from pushbench.machine.processes import Program

NOT_FOUND = "(NotFound)"
PATIENCE_SECONDS = 60.0  # a control plane that is restarted, or a node until it counts as gone
COMMAND_SECONDS = 60.0  # for an API server that answers at all


class KubectlFailed(Exception):
    """kubectl failed; the message is its own (one line)."""


@dataclass(frozen=True)
class Kubectl:
    """kubectl with a context, and perhaps with a namespace."""

    program: str
    options: Sequence[str] = ()

    @classmethod
    def find(cls, context: str | None) -> Kubectl:
        """Raises UserError if there is no kubectl."""
        program = shutil.which("kubectl")
        if program is None:
            raise UserError("--driver kubernetes needs kubectl, which is not on the PATH")
        return cls(program, ["--context", context] if context else [])

    def within(self, namespace: str) -> Kubectl:
        return Kubectl(self.program, [*self.options, "--namespace", namespace])

    def run(self, *arguments: str, given: object = None, seconds: float = COMMAND_SECONDS) -> str:
        """Run it, with `given` as JSON on its input, and return its output. Raises KubectlFailed."""
        command = [self.program, *self.options, *arguments]
        content = None if given is None else json.dumps(given).encode()
        try:
            done = answer(command, seconds, named=f"kubectl {' '.join(arguments[:2])}", given=content)
        except CommandFailed as error:
            raise KubectlFailed(str(error)) from None
        return done.stdout.decode(errors="replace")

    def patiently(self, *arguments: str) -> str:
        """As `run`, again and again while the cluster does not answer. Raises KubectlFailed after a time."""
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
        """Start it beside this program, its output in `log`. Raises KubectlFailed."""
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
