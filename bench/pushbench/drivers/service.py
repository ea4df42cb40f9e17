"""Backing services: how each is started, addressed, and checked for readiness.

Each service has its own module, such as `redis`; `services` lists them all and runs them as processes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pushbench.building.toolchains import Toolchain
from pushbench.machine.resources import Accounted


@dataclass(frozen=True)
class Client:
    """A client program of the service. The question is its last argument, the answer its output."""

    program: str
    """on this machine"""
    image_program: str
    """in the service's image"""
    arguments: Sequence[str]
    """with {port}"""
    image_setup: tuple[Sequence[str], str] = ((), "")
    """Arguments, and the question that they ask first of a fresh container, so that `arguments` will do afterwards."""


@dataclass(frozen=True)
class Product:
    """The product behind a service, if it affects the numbers: runs with different products are never compared."""

    image_program: str
    """in the service's image"""
    name: Callable[[str], str]
    """product and version by what the program prints for --version"""


@dataclass(frozen=True)
class Service:
    """A service that Pushbench can start."""

    name: str
    variable: str
    """of the server's environment, with the service's URL"""
    url: str
    """with {host} and {port}"""
    port: int
    """in a container"""
    program: str
    """for the process driver"""
    versions: str
    arguments: Callable[[int, Path], Sequence[str]]
    """of the program, for a port and the data folder"""
    ready: Callable[[str, int], bool]
    wrapper: Sequence[str] = ()
    """A command that starts the program, which follows it."""
    environment: Callable[[Path], Mapping[str, str]] = lambda _: {}
    """of the program, beside what every program has, for a data folder"""
    fill: Callable[[Toolchain, Path, Path], None] | None = None
    """Makes a data folder, for the process driver; None: it keeps nothing. Takes the program, a folder for what is made
    once, and the folder to make. Raises ServerFailed."""
    client: Client | None = None
    content: str | None = None
    """`.sql`: a fresh one is told what `k6/scenarios/<suite>.sql` says, where the suite has that file"""
    product: Product | None = None
    image_user: str | None = None
    """Who it runs as in a container, by the name that its image has for them, with a /run of their own. None: as
    `compose/bench.yml` says."""


class Running(Protocol):
    """A running service."""

    name: str

    @property
    def url(self) -> str:
        """The URL of the service from this machine."""
        ...

    @property
    def tree(self) -> Accounted: ...

    def ask(self, question: str) -> str:
        """Ask the service through its own client program, bypassing the server under test. Raises ServerFailed."""
        ...

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        """Kill it. At the end of the block start it again at the same address and wait until it is ready."""
        ...
