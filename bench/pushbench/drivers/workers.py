"""Killing one worker of a server that has several processes."""

from __future__ import annotations

import os
import signal

from pushbench.machine.procfs import socket_inodes, stats
from pushbench.machine.resources import Accounted


class NotKilled(Exception):
    """Nothing was killed, so there is no recovery to measure."""


def kill_worker(tree: Accounted, root: int) -> None:
    """SIGKILL the process of the tree with the most open sockets, other than its first process. The first one
    supervises, and others, such as uvicorn's resource tracker, serve no client. Raises NotKilled.
    """
    sockets = {stat.pid: len(socket_inodes(stat.pid)) for stat in tree.members(list(stats())) if stat.pid != root}
    chosen = max(sockets, key=lambda pid: sockets[pid], default=None)
    if chosen is None or not sockets[chosen]:
        raise NotKilled("no worker was killed: none with an open socket was found")
    try:
        os.kill(chosen, signal.SIGKILL)
    except OSError as error:
        raise NotKilled(f"no worker was killed: {error.strerror}") from None
