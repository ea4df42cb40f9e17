"""The file system of a folder is that of the nearest mount above it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.machine.filesystems import kind

MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:21 / /tmp rw,nosuid shared:3 - tmpfs tmpfs rw
24 23 254:1 / /tmp/on\\040disk rw - xfs /dev/vdb rw
25 22 254:2 / /data rw - xfs /dev/vdc rw
26 25 0:22 / /data rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        ("/home/x", "ext4"),
        ("/tmp/x/y", "tmpfs"),
        ("/tmpfile", "ext4"),
        ("/tmp/on disk/x", "xfs"),
        ("/data/x", "tmpfs"),  # the later mount hides the earlier one
    ],
)
def test_the_nearest_and_latest_mount_counts(folder: str, found: str) -> None:
    assert kind(Path(folder), MOUNTS) == found


def test_this_machine_has_file_systems() -> None:
    assert kind(Path("/proc")) == "proc"
