"""What a backing service is: how it is started, addressed, and asked if it is ready.

Each service is a module of its own, such as `redis`; `services` knows them all and runs them as processes.
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
    """A program that comes with the service and asks it. The question is its last argument, the answer its output."""

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
    """Which product a service is, where the product moves numbers: runs with different ones are never compared."""

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
    """A service that runs."""

    name: str

    @property
    def url(self) -> str:
        """As this machine reaches it."""
        ...

    @property
    def tree(self) -> Accounted: ...

    def ask(self, question: str) -> str:
        """What the service says to its own client program, past the server under test. Raises ServerFailed."""
        ...

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        """Kill it; when the block is left, start it anew at the same address and wait until it is ready."""
        ...
