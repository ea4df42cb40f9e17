"""Reading the state of processes while they keep running."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

from pushbench.machine.procfs import open_sockets, socket_inodes, stats


def test_a_file_that_is_closed_meanwhile_hides_no_socket() -> None:
    """A listing of this process's files has itself at the lowest free number, closed when its entries are read."""
    lowest = os.open(os.devnull, os.O_RDONLY)
    with socket.socket() as open_socket:
        os.close(lowest)
        assert open_socket.fileno() > lowest
        inode = Path(f"/proc/self/fd/{open_socket.fileno()}").stat().st_ino
        assert inode in socket_inodes(os.getpid())


def test_a_socket_that_two_processes_hold_counts_once() -> None:
    [own] = [stat for stat in stats() if stat.pid == os.getpid()]
    before = open_sockets([own])
    with socket.socket() as held:
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[held.fileno()])
        try:
            both = [stat for stat in stats() if stat.pid in (own.pid, child.pid)]
            assert len(both) == 2
            assert open_sockets(both) == before + 1
        finally:
            child.communicate()
