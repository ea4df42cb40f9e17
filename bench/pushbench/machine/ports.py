"""TCP ports for programs that are about to start: free, and reserved until the programs listen."""

from __future__ import annotations

import random
import socket
from collections import deque

from pushbench.foundation.errors import UserError
from pushbench.machine.procfs import read

PORT_RANGE = "/proc/sys/net/ipv4/ip_local_port_range"
LINUX_PORTS = (32768, 60999)  # https://docs.kernel.org/networking/ip-sysctl.html, ip_local_port_range
CHOSEN_FROM, CLEAR = 10_000, 2_768
"""How many ports below the outgoing ones to choose from, and how many to leave out in between. With Linux's defaults
these are 20000 to 29999, clear of Kubernetes' node ports, 30000 to 32767
(https://kubernetes.io/docs/reference/networking/ports-and-protocols/)."""
FEWEST = 1_000
UNPRIVILEGED = 1_024
KEPT = 32
"""Ports that this process keeps: more than the programs that it ever starts at the same time."""

_kept = deque[socket.socket](maxlen=KEPT)


def outgoing_ports() -> range:
    """The ports that Linux gives to outgoing connections."""
    first, last = map(int, (read(PORT_RANGE) or "").split() or LINUX_PORTS)
    return range(first, last + 1)


def free_port() -> int:
    """A free port, which no other process here chooses before KEPT further ones were chosen.

    Any outgoing connection may take a port of the outgoing range at any time, so the port is outside that range if the
    machine has others. Raises UserError if no port is free.
    """
    candidates = list(_candidates(outgoing_ports()))
    random.shuffle(candidates)
    for port in candidates:
        if _is_free(port) and _keep(port):
            return port
    raise UserError(f"no free port in {min(candidates)} to {max(candidates)}", hint="see `ss --tcp --listening`")


def require_free(port: int) -> None:
    """Raises UserError if a program listens on `port`."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections of an earlier trial do not count
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - servers listen on all addresses
        except OSError as error:
            raise UserError(
                f"port {port} cannot be used: {error.strerror}", hint="choose another with --port, or leave it out"
            ) from None


def _candidates(outgoing: range) -> range:
    below = range(max(UNPRIVILEGED, outgoing.start - CLEAR - CHOSEN_FROM), max(UNPRIVILEGED, outgoing.start - CLEAR))
    above = range(outgoing.stop, 1 << 16)
    return next((ports for ports in (below, above) if len(ports) >= FEWEST), outgoing)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - as above
        except OSError:
            return False
    return True


def _keep(port: int) -> bool:
    """Whether no other process of this network namespace keeps the port. If so, this process keeps it from now on.

    The name of an abstract Unix socket belongs to one process at a time, and is released with it (unix(7)).
    """
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0pushbench-port-{port}")
    except OSError:
        name.close()
        return False
    if len(_kept) == KEPT:
        _kept[0].close()
    _kept.append(name)
    return True
