"""A Kubernetes cluster with the k6 operator, for tests: started by a program, or the current cluster of kubectl."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

TOOL = os.environ.get("CLUSTER", "")
"""`current`, or a program with the verbs `up NODES` (prints KUBECONFIG=FILE), `operator`, `load IMAGE...` and `down`"""
NODES = "3"
SECONDS = 120.0
TOOL_SECONDS = 2400.0
"""enough for a program that first compiles a cluster"""


@dataclass(frozen=True)
class Cluster:
    kubectl: str
    kubeconfig: str
    pull: str
    """imagePullPolicy, which depends on whether images were copied to the nodes or are in a registry"""
    copying: Future[str] | None = None
    """copies further images to the nodes in the background"""

    def run(self, *arguments: str, given: Any = None) -> str:
        """Run kubectl, with `given` as JSON on its input."""
        done = subprocess.run(
            [self.kubectl, *arguments],
            input=None if given is None else json.dumps(given),
            env={**os.environ, "KUBECONFIG": self.kubeconfig} if self.kubeconfig else None,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def await_images(self) -> None:
        """Wait until the nodes have the images that are copied in the background."""
        if self.copying:
            self.copying.result()

    def apply(self, *objects: dict[str, Any]) -> None:
        self.run("apply", "--filename", "-", given={"apiVersion": "v1", "kind": "List", "items": list(objects)})

    def get(self, *arguments: str) -> Any:
        return json.loads(self.run("get", "--output", "json", *arguments))

    @contextmanager
    def namespace(self, name: str) -> Iterator[Callable[..., str]]:
        """Yield kubectl in a new namespace, which is deleted afterwards."""
        self.run("create", "namespace", name)
        try:
            yield lambda *arguments, **given: self.run("--namespace", name, *arguments, **given)
        finally:
            self.run("delete", "namespace", name, "--wait=false")


@contextmanager
def cluster_with(images: Sequence[str], later: Callable[[], Sequence[str]]) -> Iterator[Cluster]:
    """Yield a cluster whose nodes have `images` and get those of `later`. Stop it if it was started here.

    The nodes of the current cluster pull their images from a registry.
    """
    if TOOL == "current":
        yield Cluster("kubectl", "", "IfNotPresent")
        return
    said = _up()
    found = re.search(r"KUBECONFIG=(\S+)(?: (\S+))?", said)
    assert found, f"{TOOL} up does not say KUBECONFIG=FILE: {said}"
    try:
        _tool("operator")
        _tool("load", *images)
        with ThreadPoolExecutor(1) as beside:
            yield Cluster(found[2] or "kubectl", found[1], "Never", beside.submit(lambda: _tool("load", *later())))
    finally:
        if "already up" not in said:
            _tool("down")


def _up() -> str:
    """Start the cluster, with one retry: nodes that share a machine start at the same time."""
    try:
        return _tool("up", NODES)
    except AssertionError:
        _tool("down")
        return _tool("up", NODES)


def await_that(what: str, holds: Callable[[], bool], seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(0.5)


def _tool(*arguments: str) -> str:
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=TOOL_SECONDS, check=False)
    assert done.returncode == 0, f"{TOOL} {' '.join(arguments)}: {done.stderr or done.stdout}"
    return done.stdout
