"""This machine's limits for a generator: open files, local ports, and its own addresses."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence

from pushbench.foundation.errors import UserError
from pushbench.generator.needs import Limits
from pushbench.machine.ports import outgoing_ports
from pushbench.machine.processes import most_open_files


def read_limits() -> Limits:
    return Limits(open_files=most_open_files(), ports=len(outgoing_ports()))


def require_own(addresses: Sequence[str]) -> None:
    """Require that this machine has the addresses. Raises UserError if it lacks one."""
    for address in addresses:
        with socket.socket() as probe:
            try:
                probe.bind((address, 0))
            except OSError as error:
                why = "this machine does not have it" if error.errno == errno.EADDRNOTAVAIL else error.strerror
                raise UserError(f"--source-addresses: {address} cannot be used: {why}", hint="see `ip addr`") from None
