"""The generator's needs of its own machine for the largest stage: open files and local ports. Pure.

The needs are known before a trial, so a run that would end in `generator_shortage` does not start. `limits` reads what
this machine has.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from pushbench.foundation.errors import UserError

OWN_FILES = 100
"""of a generator, besides one a connection: about 20 of k6, and three for each event loop; there is one for two CPUs"""
PORTS_USED = 0.45
"""of the range, for connections from one address. connect(2) tries all ports of one parity before it takes one of the
other (`__inet_hash_connect` in Linux's net/ipv4/inet_hashtables.c), so it is slow beyond half of them. The rest is for
ports in TIME_WAIT"""
FIRST_SOURCE = ipaddress.IPv4Address("127.0.0.2")
"""127.0.0.1 is the source address of services and other programs"""


SPIN_US = 200
"""how long an event loop spins before something is due: waking up takes a virtual machine's CPU 50 to 150 us. Measured
with 300 messages/s: lateness p50 42 us instead of 72, p99 117 instead of 210, for at most 0.06 cores"""


@dataclass(frozen=True)
class Limits:
    """The limits of this machine."""

    open_files: int
    """of one process"""
    ports: int
    """local ports for connections from one address to one server"""

    @property
    def connections_of_process(self) -> int:
        return self.open_files - OWN_FILES

    @property
    def connections_of_address(self) -> int:
        return int(self.ports * PORTS_USED)


@dataclass(frozen=True)
class Means:
    """The means by which the generator plays its clients."""

    generators: int = 1
    sources: Sequence[str] = ()
    """addresses to connect from; none: the kernel's choice"""
    doubt: str | None = None
    """why a server may not hold the clients; it has no effect"""


def generators_for(connections: int, limits: Limits, wanted: int | None) -> int:
    """The number of generators: `wanted`, or the least for the file limit. Raises UserError if `wanted` is too few."""
    what = f"one generator may open {limits.open_files:,} files, and the largest stage has {connections:,} connections"
    if limits.connections_of_process < 1:
        raise UserError(f"the load cannot be played: {what}", hint="raise `ulimit -n`")
    needed = ceil(connections / limits.connections_of_process)
    if wanted is not None and wanted < needed:
        raise UserError(
            f"--generators {wanted} is too few: {what}", hint=f"give --generators {needed}, or raise `ulimit -n`"
        )
    return wanted or needed


def sources_for(connections: int, limits: Limits, wanted: Sequence[str] | None, *, loopback: bool) -> list[str]:
    """The source addresses: those `wanted`, or as many as the ports require; none if the kernel's choice is enough.
    `loopback` says whether the server is there. Raises UserError if they are too few or cannot reach it.
    """
    wanted = wanted or []
    room = limits.connections_of_address
    what = f"one address has ports for {room:,} connections, and the largest stage has {connections:,}"
    ways = "widen net.ipv4.ip_local_port_range"
    if room < 1:
        raise UserError("no client can connect: there are no local ports", hint=ways)
    needed = ceil(connections / room)
    if unreachable := [each for each in wanted if ipaddress.IPv4Address(each).is_loopback and not loopback]:
        raise UserError(f"--source-addresses: {unreachable[0]} is a loopback address, which reaches no container")
    if wanted and len(wanted) < needed:
        raise UserError(
            f"--source-addresses has too few: {what}", hint=f"name {needed} of this machine's addresses, or {ways}"
        )
    if wanted or needed == 1:
        return list(wanted)
    if not loopback:
        raise UserError(
            f"one source address is too few: {what}",
            hint=f"name {needed} of this machine's addresses with --source-addresses, or {ways}",
        )
    return [str(FIRST_SOURCE + index) for index in range(needed)]


def spin_us(cpus: int, generators: int, trials: int, *, services: bool) -> int:
    """How long event loops may spin: 0 if one would take a CPU from another loop or from a service.

    `cpus` belong to the generator only, and each of the `generators` has one loop for two CPUs; `trials` run at a time.
    """
    loops = generators * trials * max(1, cpus // 2)
    return SPIN_US if cpus >= loops + services else 0


def server_doubt(connections: int, limits: Limits) -> str | None:
    """A sentence if a server may have too few files. What it does without them is its own result."""
    if limits.open_files >= connections:
        return None
    return (
        f"a process may open {limits.open_files:,} files (`ulimit -n`), fewer than the {connections:,} connections of "
        "the largest stage: a server of one process cannot hold them all"
    )


def parse_addresses(text: str) -> list[str] | None:
    """Parse `10.0.0.5,10.0.0.6`; None for `auto`. Raises UserError for an invalid or repeated IPv4 address."""
    if text == "auto":
        return None
    found = [each.strip() for each in text.split(",")]
    for index, each in enumerate(found):
        try:
            ipaddress.IPv4Address(each)
        except ValueError:
            hint = "such as 127.0.0.2,127.0.0.3, or auto"
            raise UserError(f"--source-addresses: expected IPv4 addresses, found {each!r}", hint=hint) from None
        if each in found[:index]:
            raise UserError(f"--source-addresses: {each} appears twice")
    return found
