"""What is read of processes while they go on."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from pushbench.machine.procfs import socket_inodes


def test_a_file_that_is_closed_meanwhile_hides_no_socket() -> None:
    """The listing of this process has itself, in the lowest free place, and is closed when its entries are read."""
    lowest = os.open(os.devnull, os.O_RDONLY)
    with socket.socket() as open_socket:
        os.close(lowest)
        assert open_socket.fileno() > lowest
        inode = Path(f"/proc/self/fd/{open_socket.fileno()}").stat().st_ino
        assert inode in socket_inodes(os.getpid())
