"""The files that a server leaves in place of a profile are checked and bounded before they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pushbench.profiling import profile as profile_
from pushbench.profiling.profile import DEEPEST, Profile, Unprofiled, frame, read_bounded


def test_a_pipe_a_link_and_a_missing_file_are_no_profile(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/hostname")
    for name, told in (("pipe", "not a regular file"), ("link", "not a regular file"), ("none", "wrote no file")):
        with pytest.raises(Unprofiled, match=told):
            read_bounded(tmp_path / name)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(profile_.MOST_BYTES + 1)
    with pytest.raises(Unprofiled, match="more than 256 MiB"):
        read_bounded(tmp_path / "large")


def test_stacks_are_bounded_in_depth_and_number(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Profile()
    found.add([frame(f"f{depth}") for depth in range(1000)], 1.0)
    [stack] = found.stacks
    assert (len(stack), stack[-1].function) == (DEEPEST, "f999")
    monkeypatch.setattr(profile_, "MOST_STACKS", 2)
    found.add([frame("b")], 1.0)
    found.add([frame("b")], 1.0)
    with pytest.raises(Unprofiled, match="different stacks"):
        found.add([frame("c")], 1.0)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0, 0.0])
def test_a_sample_without_a_duration_is_none(seconds: float) -> None:
    found = Profile()
    found.add([frame("a")], seconds)
    assert found.count == 0
