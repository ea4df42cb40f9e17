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
    """A client program of the service. Its last argument is the query; its output is the answer."""

    program: str
    """on this machine"""
    image_program: str
    """in the service's image"""
    arguments: Sequence[str]
    """with {port}"""
    image_setup: tuple[Sequence[str], str] = ((), "")
    """Arguments, and the query for a first call in a fresh container, which makes later calls with `arguments` work."""


@dataclass(frozen=True)
class Product:
    """The product of a service, if it affects the numbers: runs with different products are never compared."""

    image_program: str
    """in the service's image"""
    name: Callable[[str], str]
    """product and version, from the program's output for --version"""


@dataclass(frozen=True)
class Service:
    """A service that Pushbench can start."""

    name: str
    variable: str
    """the variable of the server's environment that holds the service's URL"""
    url: str
    """with {host} and {port}"""
    port: int
    """in a container"""
    program: str
    """for the process driver"""
    versions: str
    arguments: Callable[[int, Path], Sequence[str]]
    """arguments of the program, from a port and the data folder"""
    ready: Callable[[str, int], bool]
    wrapper: Sequence[str] = ()
    """A command that starts the program, which follows it."""
    environment: Callable[[Path], Mapping[str, str]] = lambda _: {}
    """environment of the program from a data folder, in addition to what every program has"""
    fill: Callable[[Toolchain, Path, Path], None] | None = None
    """Creates a data folder, for the process driver; None: the service keeps no data. Takes the program, a folder for
    what is created once, and the folder to create. Raises ServerFailed."""
    client: Client | None = None
    content: str | None = None
    """`.sql`: a fresh service runs `k6/scenarios/<suite>.sql`, if the suite has that file"""
    product: Product | None = None
    image_user: str | None = None
    """The user of the container, by its name in the image, with a /run of its own. None: the one in
    `compose/bench.yml`."""


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
        """Kill the service. At the end of the block, start it again at the same address and wait until it is ready."""
        ...
